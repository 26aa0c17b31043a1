import Foundation
import Strata
import StrataRemote
import StrataRemoteTesting

/// A client with a context that saves to its mirror.
struct TallyClient {
    let store: RemoteStore
    let context: ManagedObjectContext

    init(
        _ server: TallyServer, _ base: RemoteStore.Options = RemoteStore.Options(),
        location: SQLiteStore.Location = .memory(name: nil), model: ManagedObjectModel? = nil
    ) throws {
        var options = base
        options.savePolicy = .cacheOnly
        options.fetchPolicy = .cacheOnly
        options.pushesAutomatically = false
        options.sync.retries = 0
        store = try RemoteStore.open(
            model: model ?? TallyServer.model(), backend: server, location: location, options: options)
        context = try PersistentContainer(store: store).newContext(automaticallyMergesChanges: true)
    }

    func create() async throws {
        let tally = try context.insert(entityNamed: "Tally")
        tally["tallyId"] = "1"
        try save()
        try await store.sync.push()
    }

    func save() throws { try context.save() }

    func saveOnline() async throws {
        try await context.save(options: RemoteOptions(savePolicy: .networkThenCache))
    }

    /// Sends what waits, and what was refused before.
    func settle() async throws {
        for _ in 0..<2 {
            try store.sync.retry(try store.sync.failedChanges())
            try await store.sync.synchronize()
        }
        context.processPendingChanges()
    }

    func tally() throws -> ManagedObject { try context.fetch(FetchRequest<ManagedObject>(entity: "Tally"))[0] }
}

/// A server in memory whose answers, or whose requests to write, can be lost or refused.
final class TallyServer: RemoteBackend, @unchecked Sendable {
    // Sendable because all state is reached only while the lock is held.
    private let server: MemoryBackend
    private let lock = NSLock()
    private var (mute, deaf, blind) = (false, false, false)
    private var untilLoss: Int?
    private var refused = 0
    private var kind = RemoteError.Kind.rejected
    private var othersCount: Int64?
    private var list: [RemoteWrite] = []
    private var closed: String?
    private var entrance: Gate?

    init(_ features: RemoteCapabilities.Features) { server = MemoryBackend(features: features) }

    static func model(reversed: Bool = false) throws -> ManagedObjectModel {
        var tally = Entity(name: "Tally", location: nil)
        tally.attributes = [
            Attribute("tallyId", .string).unique(), Attribute("name", .string, optional: true),
            Attribute("count", .integer64, default: .value(0)), Attribute("amount", .decimal, optional: true),
            Attribute("tags", .array(.string), optional: true),
        ]
        if reversed { tally.attributes.reverse() }
        return try ManagedObjectModel(name: "Tallies", entities: [tally])
    }

    let name = "Tallies"
    var capabilities: RemoteCapabilities { server.capabilities }
    func check(_ model: ManagedObjectModel) throws(RemoteError) { try server.check(model) }
    func check(_ operation: RemoteOperation) throws(RemoteError) { try server.check(operation) }

    /// Whether writes are carried out and not answered.
    var losesAnswers: Bool {
        get { lock.withLock { mute } }
        set { lock.withLock { mute = newValue } }
    }
    /// Whether writes are not carried out, and get no answer.
    var losesRequests: Bool {
        get { lock.withLock { deaf } }
        set { lock.withLock { deaf = newValue } }
    }

    /// Whether objects cannot be read by their names.
    var losesReads: Bool {
        get { lock.withLock { blind } }
        set { lock.withLock { blind = newValue } }
    }

    /// How many of the next writes arrive before ``losesRequests`` begins; nil for all.
    var requestsUntilLoss: Int? {
        get { lock.withLock { untilLoss } }
        set { lock.withLock { untilLoss = newValue } }
    }

    /// How many of the next writes are refused, by somebody in front of the server.
    var refusals: Int {
        get { lock.withLock { refused } }
        set { lock.withLock { refused = newValue } }
    }

    /// What refusals say.
    var refusalKind: RemoteError.Kind {
        get { lock.withLock { kind } }
        set { lock.withLock { kind = newValue } }
    }

    /// The count that others assign before the next reading; nil if they do nothing.
    var countBeforeRead: Int64? {
        get { lock.withLock { othersCount } }
        set { lock.withLock { othersCount = newValue } }
    }

    /// The ID of an object that may not be changed.
    var refusedID: String? {
        get { lock.withLock { closed } }
        set { lock.withLock { closed = newValue } }
    }

    /// Where changes of the object that may not be changed wait.
    var gate: Gate? {
        get { lock.withLock { entrance } }
        set { lock.withLock { entrance = newValue } }
    }

    /// The changes that arrived.
    var updates: [RemoteWrite] { lock.withLock { list } }

    /// A value of the first tally.
    func value(_ property: String) -> Value? {
        guard case .value(let value)? = server.records.first(where: { $0.id == "1" })?.values[property] else {
            return nil
        }
        return value
    }

    func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer {
        var writes = false
        switch operation {
        case .update(_, let write):
            writes = true
            lock.withLock { list.append(write) }
        case .create, .delete, .batch, .relate: writes = true
        case .read(let entity, _):
            if losesReads { throw RemoteError(.timeout, domain: "Tallies", message: "no answer") }
            if let count = countBeforeRead {
                countBeforeRead = nil
                let write = RemoteWrite(id: "1", values: ["count": .value(.integer(count))])
                _ = try await server.perform(.update(entity: entity, write), options: options)
            }
        default: break
        }
        if writes, let left = requestsUntilLoss {
            losesRequests = left == 0
            requestsUntilLoss = left == 0 ? nil : left - 1
        }
        if writes, losesRequests { throw RemoteError(.timeout, domain: "Tallies", message: "no answer") }
        if case .update(_, let write) = operation, write.id == refusedID {
            await gate?.pass()
            throw RemoteError(refusalKind, domain: "Tallies", message: "no", status: 400)
        }
        if writes, refusals > 0 {
            refusals -= 1
            throw RemoteError(refusalKind, domain: "Tallies", message: "no", status: 400)
        }
        let answer = try await server.perform(operation, options: options)
        if writes, losesAnswers { throw RemoteError(.timeout, domain: "Tallies", message: "no answer") }
        return answer
    }
}
