import Foundation
import Strata
import StrataRemote
import Testing

/// Two contexts of one store: one saves online, and the other one saves to the mirror while that is under way.
@MainActor
struct UnderWayWorld {
    let server: TallyServer
    let client: TallyClient
    let online: ManagedObjectContext
    let here: ManagedObjectContext

    /// - Parameter model: Its objects are made by the caller; nil for one tally.
    init(
        _ kind: OperationOutboxTests.Kind, _ policy: ConflictPolicy = .clientWins, _ model: ManagedObjectModel? = nil
    ) async throws {
        server = TallyServer(kind.features)
        var options = RemoteStore.Options()
        options.sync.policies = ConflictPolicies(policy)
        client = try TallyClient(server, options, model: model)
        if model == nil { try await client.create() }
        let container = try PersistentContainer(store: client.store)
        online = container.newContext(automaticallyMergesChanges: true)
        here = container.newContext(automaticallyMergesChanges: true)
    }

    /// Changes an object in one context and saves that online; the other change is saved to the mirror before the answer arrives.
    func save(
        _ entity: String = "Tally", _ id: String = "1", online first: (ManagedObject) throws -> Void,
        here second: (ManagedObject) throws -> Void
    ) async throws {
        let own = try #require(try await online.find(entity: entity, id))
        try second(try #require(try await here.find(entity: entity, id)))
        try first(own)
        let gate = Gate()
        server.answerGate = gate
        server.gate = gate
        let save = Task { @MainActor [online] in
            try await online.save(options: RemoteOptions(savePolicy: .networkThenCache))
        }
        await gate.reached()
        try saveHere()
        gate.open()
        server.answerGate = nil
        try await save.value
        #expect(!online.hasChanges && !here.hasChanges)
    }

    private func saveHere() throws { try here.save() }

    /// Sends what waits.
    func settle() async throws {
        let sync = client.store.sync
        for _ in 0..<2 { try await sync.synchronize() }
    }

    /// The tally as the mirror has it.
    func tally() throws -> ManagedObject? {
        client.context.reset()
        return try client.context.fetch(FetchRequest<ManagedObject>(entity: "Tally")).first
    }
}
