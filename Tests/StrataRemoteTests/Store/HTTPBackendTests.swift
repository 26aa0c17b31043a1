import Foundation
import StrataRemote
import Testing

@Suite struct HTTPBackendTests {
    private let entity = Atlas.model.entities[1]

    @Test func requestsAreSignedAndSentAgainWhereTheServerAsks() async throws {
        let transport = ScriptTransport([
            .init(503, ["Retry-After": "2"]), .init(429, ["Retry-After": "1.5"]), .init(200, [:], "7"),
        ])
        let clock = StoppedClock()
        let backend = HTTPBackend(
            dialect: CountingDialect(), transport: transport, authorizer: CountingAuthorizer(), clock: clock)
        var options = RequestOptions()
        options.headers = ["X-Own": "yes", "Accept": "text/plain"]
        guard case .count(7) = try await backend.perform(.count(RemoteQuery(entity: entity)), options: options) else {
            Issue.record("no count")
            return
        }
        #expect(clock.slept == [2, 1.5])
        let sent = transport.sent
        #expect(sent.map { $0.head.headerFields[.authorization] } == ["signature 1", "signature 2", "signature 3"])
        #expect(sent.allSatisfy { $0.head.headerFields[.accept] == "text/plain" })
        #expect(sent.allSatisfy { $0.head.headerFields[HTTPField.Name("X-Own")!] == "yes" })
    }

    @Test func aServerThatAsksTooOftenOrTooLongIsAnError() async throws {
        let clock = StoppedClock()
        func failure(_ answers: [ScriptTransport.Answer], _ options: RequestOptions) async -> RemoteError? {
            let backend = HTTPBackend(
                dialect: CountingDialect(), transport: ScriptTransport(answers), clock: clock)
            do throws(RemoteError) {
                _ = try await backend.perform(.count(RemoteQuery(entity: entity)), options: options)
                return nil
            } catch {
                return error
            }
        }
        var options = RequestOptions()
        options.retries = 1
        let busy = ScriptTransport.Answer(503, ["Retry-After": "4"])
        #expect(await failure([busy, busy], options)?.retryAfter == 4)
        #expect(clock.slept == [4])
        options.maximumWait = 3
        #expect(await failure([busy], options)?.kind == .unavailable)
        #expect(clock.slept == [4])
        #expect(await failure([.init(503, [:])], options)?.retryAfter == nil)
        // A date is by the server's clock.
        let date = ScriptTransport.Answer(503, ["Retry-After": "Mon, 01 Jan 2001 00:00:02 GMT"])
        #expect(await failure([date, .init(200, [:], "1")], options) == nil)
        #expect(clock.slept == [4, 2])
        options.headers = ["not a name": "x"]
        #expect(await failure([], options)?.kind == .invalidRequest)
    }

    @Test func anEndedSessionIsRenewedOnce() async throws {
        func outcome(_ answers: [ScriptTransport.Answer], renews: Bool) async -> (RemoteError?, Int) {
            let authorizer = CountingAuthorizer()
            let backend = HTTPBackend(
                dialect: CountingDialect(), transport: ScriptTransport(answers), authorizer: authorizer,
                clock: StoppedClock())
            var options = RequestOptions()
            options.renewsSession = renews
            do throws(RemoteError) {
                _ = try await backend.perform(.count(RemoteQuery(entity: entity)), options: options)
                return (nil, authorizer.recovered)
            } catch {
                return (error, authorizer.recovered)
            }
        }
        let ended = ScriptTransport.Answer(401, [:])
        let renewed = await outcome([ended, .init(200, [:], "1")], renews: true)
        #expect(renewed.0 == nil && renewed.1 == 1)
        let refused = await outcome([ended, ended], renews: true)
        #expect(refused.0?.kind == .unauthorized && refused.1 == 1)
        let kept = await outcome([ended], renews: false)
        #expect(kept.0?.kind == .unauthorized && kept.1 == 0)
    }

    @Test func stepsAreJoined() async throws {
        let writes = ["a", "b", "c", "d"].map { RemoteWrite(id: $0) }
        let transport = ScriptTransport([.init(200, [:]), .init(404, [:]), .init(0, [:]), .init(200, [:])])
        let backend = HTTPBackend(dialect: CountingDialect(), transport: transport, clock: StoppedClock())
        guard
            case .outcomes(let outcomes) = try await backend.perform(
                .create(entity: entity, writes), options: RequestOptions())
        else {
            Issue.record("no outcomes")
            return
        }
        let kinds = outcomes.map { outcome -> RemoteError.Kind? in
            if case .failed(let error) = outcome { error.kind } else { nil }
        }
        // Without a connection the rest is not sent.
        #expect(kinds == [nil, .notFound, .unreachable, .unreachable])
        #expect(transport.sent.count == 3)
    }

    @Test func theStepsOfOneChangeOfMembersHaveOneOutcome() async throws {
        func outcomes(_ operation: RemoteOperation, _ answers: [Int]) async throws -> [RemoteError.Kind?] {
            let transport = ScriptTransport(answers.map { .init($0, [:]) })
            let backend = HTTPBackend(dialect: CountingDialect(), transport: transport, clock: StoppedClock())
            guard case .outcomes(let list) = try await backend.perform(operation, options: RequestOptions()) else {
                return [.invalidAnswer]
            }
            #expect(transport.sent.count == answers.count)
            return list.map { if case .failed(let error) = $0 { error.kind } else { nil } }
        }
        let relate = RemoteOperation.relate(
            entity: entity, RemoteRelation(id: "a", relationship: "tags", added: ["1", "2"], removed: ["3"]))
        #expect(try await outcomes(relate, [200, 200, 200]) == [nil])
        #expect(try await outcomes(relate, [200, 404, 200]) == [.notFound])
        // In a batch that goes one by one, too; and what nobody can answer is not sent.
        let batch = RemoteOperation.batch([relate, .create(entity: entity, [RemoteWrite(id: "b")])])
        #expect(try await outcomes(batch, [200, 200, 200, 404]) == [nil, .notFound])
        #expect(try await outcomes(batch, [200, 0]) == [.unreachable, .unreachable])
    }

    @Test(
        "A refused repetition of a write after a server error says nothing of its outcome",
        arguments: [(503, 409, .unavailable), (429, 409, .duplicate), (503, 404, .notFound)]
            as [(Int, Int, RemoteError.Kind)])
    func repetition(first: Int, second: Int, kind: RemoteError.Kind) async throws {
        let transport = ScriptTransport([.init(first, ["Retry-After": "1"]), .init(second, [:])])
        let backend = HTTPBackend(dialect: CountingDialect(), transport: transport, clock: StoppedClock())
        await #expect {
            _ = try await backend.perform(
                .create(entity: entity, [RemoteWrite(id: "a")]), options: RequestOptions())
        } throws: { error in
            (error as? RemoteError)?.kind == kind
        }
    }

    @Test func theServersClockIsKnown() async throws {
        let transport = ScriptTransport([.init(200, ["X-Time": "100"], "1")])
        let backend = HTTPBackend(dialect: CountingDialect(), transport: transport, clock: StoppedClock())
        #expect(backend.clockOffset == 0)
        _ = try await backend.perform(.count(RemoteQuery(entity: entity)), options: RequestOptions())
        #expect(backend.clockOffset == 100)
    }

    @Test(
        "The header Date is the middle of its second",
        arguments: [
            ("Mon, 01 Jan 2001 00:00:02 GMT", 2.5), ("Fri, 29 Feb 2008 23:59:59 GMT", 226_022_399.5),
            ("Sun, 31 Dec 2000 23:59:59 GMT", -0.5), ("Mon, 1 Jan 2001 00:00:02 GMT", 2.5), ("", nil), ("2", nil),
            ("Mon, 01 Jan 2001 00:00:02 CET", nil), ("Mon, 01 Jän 2001 00:00:02 GMT", nil),
            ("Mon, 01 Jan 2001 24:00:02 GMT", nil), ("Mon, 01 Jan 2001 00:00 GMT", nil),
            ("Mon, 99999999999999999999 Jan 2001 00:00:02 GMT", nil),
        ] as [(String, Double?)])
    func date(text: String, seconds: Double?) {
        let response = WireResponse(HTTPResponse(status: .ok, headerFields: [.date: text]))
        #expect(response.date?.timeIntervalSinceReferenceDate == seconds)
        #expect(WireResponse(HTTPResponse(status: .ok)).date == nil)
    }
}

/// A dialect in which the body of an answer is a number, and each object and each member is written by a request of its
/// own.
private struct CountingDialect: RemoteDialect {
    let name = "Counting"
    let capabilities = RemoteCapabilities(features: .counting)

    func steps(of operation: RemoteOperation) throws(RemoteError) -> [RemoteOperation] {
        switch operation {
        case .create(let entity, let writes): return writes.map { .create(entity: entity, [$0]) }
        case .relate(let entity, let relation):
            let change = {
                RemoteRelation(id: relation.id, relationship: relation.relationship, added: $0, removed: $1)
            }
            return relation.added.map { .relate(entity: entity, change([$0], [])) }
                + relation.removed.map { .relate(entity: entity, change([], [$0])) }
        case .batch(let parts):
            var steps: [RemoteOperation] = []
            for part in parts { steps += try self.steps(of: part) }
            return steps
        default: return [operation]
        }
    }

    func request(for operation: RemoteOperation, options: RequestOptions) throws(RemoteError) -> WireRequest {
        WireRequest(
            HTTPRequest(
                method: .get, scheme: "http", authority: "test", path: "/", headerFields: [.accept: "text/html"]))
    }

    func answer(_ response: WireResponse, to operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer {
        switch response.status {
        case 200: break
        case 401: throw RemoteError(.unauthorized, message: "who are you?")
        case 404: throw RemoteError(.notFound, message: "there is none")
        case 409: throw RemoteError(.duplicate, message: "there is one")
        default: throw RemoteError(.unavailable, message: "later")
        }
        switch operation {
        case .create, .relate: return .outcomes([.done(nil)])
        default: break
        }
        return .count(Int(String(decoding: response.body, as: UTF8.self)) ?? -1)
    }

    func time(of response: WireResponse) -> Date? {
        response[header: "X-Time"].flatMap(Double.init).map { Date(timeIntervalSinceReferenceDate: $0) }
    }
}

/// Gives prepared answers; status 0 stands for no connection.
private final class ScriptTransport: HTTPTransport, @unchecked Sendable {
    // Sendable because all state is reached only with the lock held.
    struct Answer: Sendable {
        let status: Int
        let headers: [String: String]
        let body: String

        init(_ status: Int, _ headers: [String: String], _ body: String = "") {
            self.status = status
            self.headers = headers
            self.body = body
        }
    }

    private let lock = NSLock()
    private var answers: [Answer]
    private var requests: [WireRequest] = []

    init(_ answers: [Answer]) { self.answers = answers }

    var sent: [WireRequest] { lock.withLock { requests } }

    func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
        let answer = lock.withLock { () -> Answer? in
            requests.append(request)
            return answers.isEmpty ? nil : answers.removeFirst()
        }
        guard let answer, answer.status > 0 else { throw RemoteError(.unreachable, message: "no connection") }
        var fields = HTTPFields()
        for (name, value) in answer.headers { fields[HTTPField.Name(name)!] = value }
        return WireResponse(
            HTTPResponse(status: .init(code: answer.status), headerFields: fields), body: Data(answer.body.utf8))
    }
}

/// Signs with a number.
private final class CountingAuthorizer: RequestAuthorizer, @unchecked Sendable {
    // Sendable because all state is reached only with the lock held.
    private let lock = NSLock()
    private var signatures = 0
    private var recoveries = 0

    var recovered: Int { lock.withLock { recoveries } }

    func authorize(_ request: WireRequest, options: RequestOptions) async throws(RemoteError) -> WireRequest {
        let number = lock.withLock {
            signatures += 1
            return signatures
        }
        var signed = request
        signed.head.headerFields[.authorization] = "signature \(number)"
        return signed
    }

    func recover(
        from response: WireResponse, to request: WireRequest, options: RequestOptions
    ) async throws(RemoteError) -> Bool {
        lock.withLock { recoveries += 1 }
        return true
    }
}

/// It is always the beginning of 2001, and nothing waits.
private final class StoppedClock: RemoteClock, @unchecked Sendable {
    // Sendable because all state is reached only with the lock held.
    private let lock = NSLock()
    private var waits: [Double] = []

    var slept: [Double] { lock.withLock { waits } }
    var now: Date { Date(timeIntervalSinceReferenceDate: 0) }
    func sleep(seconds: Double) async throws(RemoteError) { lock.withLock { waits.append(seconds) } }
}
