import Foundation
import Strata
import StrataRemote
import StrataRemoteTesting
import StrataStore
import Testing

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

    /// Saves online, and gets no answer.
    func saveOnline(
        to server: TallyServer, with trouble: WritableKeyPath<TallyTrouble, Bool>,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) async {
        server[dynamicMember: trouble] = true
        await #expect(throws: PersistenceError.self, sourceLocation: sourceLocation) { try await saveOnline() }
        server[dynamicMember: trouble] = false
    }

    /// Sends what waits, and gets no answer.
    func push(
        to server: TallyServer, with trouble: WritableKeyPath<TallyTrouble, Bool>,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) async {
        server[dynamicMember: trouble] = true
        await #expect(throws: SyncError.self, sourceLocation: sourceLocation) { try await store.sync.push() }
        server[dynamicMember: trouble] = false
    }

    /// Changes the tally as the server has it, and sends that.
    func change(_ body: (ManagedObject) throws -> Void) async throws {
        try await store.sync.pull()
        try body(try tally())
        try save()
        try await store.sync.push()
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

/// What goes wrong at a ``TallyServer``, and in front of it.
struct TallyTrouble: Sendable {
    /// Whether writes are carried out and not answered.
    var losesAnswers = false
    /// Whether writes are not carried out, and get no answer.
    var losesRequests = false
    /// Whether objects cannot be read by their names.
    var losesReads = false
    /// How many of the next writes arrive before ``losesRequests`` begins; nil for all.
    var requestsUntilLoss: Int?
    /// How many of the next writes are refused, by somebody in front of the server.
    var refusals = 0
    /// What refusals say.
    var refusalKind = RemoteError.Kind.rejected
    /// The count that others assign before the next reading; nil if they do nothing.
    var countBeforeRead: Int64?
    /// The ID of an object that may not be changed.
    var refusedID: String?
    /// Where changes of the object that may not be changed wait.
    var gate: Gate?
    /// Where the answers to writes wait, and those to readings by name.
    var answerGate: Gate?
}

/// A server in memory whose answers, or whose requests to write, can be lost or refused.
@dynamicMemberLookup
final class TallyServer: RemoteBackend {
    private let server: MemoryBackend
    private let trouble = Guarded(TallyTrouble())
    private let list = Guarded<[RemoteWrite]>([])

    subscript<T: Sendable>(dynamicMember path: WritableKeyPath<TallyTrouble, T>) -> T {
        get { trouble.withLock { $0[keyPath: path] } }
        set { trouble.withLock { $0[keyPath: path] = newValue } }
    }

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

    /// The changes that arrived.
    var updates: [RemoteWrite] { list.withLock { $0 } }

    /// A value of the first tally.
    func value(_ property: String) -> Value? {
        guard case .value(let value)? = server.records.first(where: { $0.id == "1" })?.values[property] else {
            return nil
        }
        return value
    }

    func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer {
        var (writes, reads) = (false, false)
        switch operation {
        case .update(_, let write):
            writes = true
            list.withLock { $0.append(write) }
        case .create, .delete, .batch, .relate: writes = true
        case .read(let entity, _):
            reads = true
            if self.losesReads { throw RemoteError(.timeout, domain: "Tallies", message: "no answer") }
            if let count = self.countBeforeRead {
                self.countBeforeRead = nil
                let write = RemoteWrite(id: "1", values: ["count": .value(.integer(count))])
                _ = try await server.perform(.update(entity: entity, write), options: options)
            }
        default: break
        }
        if writes, let left = self.requestsUntilLoss {
            self.losesRequests = left == 0
            self.requestsUntilLoss = left == 0 ? nil : left - 1
        }
        if writes, self.losesRequests { throw RemoteError(.timeout, domain: "Tallies", message: "no answer") }
        if case .update(_, let write) = operation, write.id == self.refusedID {
            await self.gate?.pass()
            throw RemoteError(self.refusalKind, domain: "Tallies", message: "no", status: 400)
        }
        if writes, self.refusals > 0 {
            self.refusals -= 1
            throw RemoteError(self.refusalKind, domain: "Tallies", message: "no", status: 400)
        }
        let answer = try await server.perform(operation, options: options)
        if writes || reads { await self.answerGate?.pass() }
        if writes, self.losesAnswers { throw RemoteError(.timeout, domain: "Tallies", message: "no answer") }
        return answer
    }
}
