import Foundation
import Strata
import StrataAsyncHTTP
import StrataStackMob
import StrataStore

// What a synchronization costs each side: PROBE_COUNT new objects of an offline store go to a strata-server on this
// machine, and from there to another store. PROBE_TRANSPORT is URLSession or AsyncHTTP.
//
//     strata-server --port 8080 --data /tmp/probe & LoopbackProbe 8080 $!

/// CPU time of this process in seconds.
func ownSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

/// CPU time of another process in seconds; nil where the system does not tell. Fields 14 and 15 of proc(5), in ticks.
func seconds(of process: Int) -> Double? {
    guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
        let end = stat.lastIndex(of: ")")
    else { return nil }
    let fields = stat[end...].split(separator: " ")
    guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else { return nil }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
}

guard CommandLine.arguments.count == 3, let port = Int(CommandLine.arguments[1]),
    let server = Int(CommandLine.arguments[2])
else {
    print("usage: LoopbackProbe <port of the server> <its process>")
    exit(2)
}
/// What PROBE_TRANSPORT names.
func transport() throws -> any HTTPTransport {
    switch ProcessInfo.processInfo.environment["PROBE_TRANSPORT"] ?? "URLSession" {
    case "URLSession": return URLSessionTransport()
    #if AsyncHTTP
        case "AsyncHTTP": return AsyncHTTPTransport()
    #endif
    case let other:
        print("there is no transport \(other); AsyncHTTP needs the trait of that name")
        exit(2)
    }
}

/// Counts what goes over a transport.
final class CountingTransport: HTTPTransport {
    struct Traffic {
        var requests = 0
        var sent = 0
        var received = 0
    }

    private let base: any HTTPTransport
    private let traffic = Guarded(Traffic())

    init(_ base: any HTTPTransport) { self.base = base }

    /// What has gone over since this was last asked.
    func take() -> Traffic {
        traffic.withLock { traffic in
            defer { traffic = Traffic() }
            return traffic
        }
    }

    func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
        let response = try await base.send(request, timeout: timeout)
        traffic.withLock {
            $0.requests += 1
            $0.sent += request.body?.count ?? 0
            $0.received += response.body.count
        }
        return response
    }
}

let count = ProcessInfo.processInfo.environment["PROBE_COUNT"].flatMap(Int.init) ?? 10_000
let model = try ManagedObjectModel(name: "Probe") {
    Entity("City") {
        Attribute("cityId", .string, optional: true)
        Attribute("name", .string)
        Attribute("ascii", .string)
        Attribute("population", .integer64)
        Attribute("elevation", .integer64)
        Attribute("rank", .integer64)
        Attribute("latitude", .double)
        Attribute("longitude", .double)
        Attribute("changed", .date)
        Attribute("isCapital", .boolean)
    }
}
var configuration = try StackMobConfiguration(publicKey: String(repeating: "0", count: 36))
configuration.dialect.host = "127.0.0.1:\(port)"
configuration.dialect.securesCredentials = false
configuration.dialect.usesExtensions = true
configuration.sessionStorage = MemorySessionStorage()
let counter = CountingTransport(try transport())
configuration.transport = counter
let folder = FileManager.default.temporaryDirectory.appending(path: "loopback-probe-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
var options = RemoteStore.Options()
options.fetchPolicy = .cacheOnly
options.savePolicy = .cacheOnly
@MainActor func open(_ name: String) throws -> StackMobStore {
    try StackMobStore.open(
        model: model, client: StackMobClient(configuration),
        location: .file(path: folder.appending(path: name).path), options: options)
}

let stack = try open("one.sqlite")
let container = try PersistentContainer(store: stack.remote)
let context = container.newContext()
for number in 0..<count {
    let city = try context.insert(entityNamed: "City")
    for (name, value) in [
        ("name", "City \(number)"), ("ascii", "City \(number)"), ("population", Int64(number)), ("elevation", Int64(3)),
        ("rank", Int64(1)), ("latitude", Double(number) * 0.37), ("longitude", 0.5), ("changed", Date()),
        ("isCapital", false),
    ] as [(String, Any)] {
        try city.setValue(value, forKey: name)
    }
}
try context.save()

@MainActor func measure(_ what: String, _ body: @MainActor () async throws -> Int) async throws {
    let (start, own, other) = (ContinuousClock.now, ownSeconds(), seconds(of: server))
    let done = try await body()
    let elapsed = start.duration(to: .now)
    let traffic = counter.take()
    let theirs = zip2(seconds(of: server), other).map { String(format: "%.2f", $0 - $1) } ?? "?"
    print(
        "\(what) of \(done): \(elapsed), CPU of the client \(String(format: "%.2f", ownSeconds() - own)) s, "
            + "of the server \(theirs) s; \(traffic.requests) requests, \(traffic.sent) bytes there, "
            + "\(traffic.received) back")
}

func zip2(_ a: Double?, _ b: Double?) -> (Double, Double)? { a.flatMap { a in b.map { (a, $0) } } }

try await measure("push") {
    let report = try await stack.sync.push()
    guard report.failures.isEmpty else { fatalError("\(report.failures[0])") }
    return report.results.count
}
let other = try open("two.sqlite")
try await measure("pull") { try await other.sync.pull().received }
