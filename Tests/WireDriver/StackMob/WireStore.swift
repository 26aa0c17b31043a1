import Foundation
import StrataStackMob
import StrataStore

/// A store of one entity whose back end answers what a case says.
struct WireStore {
    let store: RemoteStore
    let backend: WireBackend
    let entity: EntityDescription

    init(policy: FetchPolicy) throws {
        let model = try ManagedObjectModel(name: "Wire") {
            Entity("Item") {
                Attribute("itemId", .string)
                Attribute("lastmoddate", .date).optional()
                Relationship("next", to: "Item", .optionalToOne)
            }
        }
        backend = WireBackend()
        var options = RemoteStore.Options()
        options.fetchPolicy = policy
        options.savePolicy = .cacheOnly
        store = try RemoteStore.open(model: model, backend: backend, location: .memory(name: nil), options: options)
        entity = model.entities[0]
    }

    /// Lets the mirror know objects as a server told them.
    func learn(_ ids: [String]) throws {
        let records = ids.map { RemoteRecord(entity: entity.name, id: $0, values: ["itemId": .value(.string($0))]) }
        _ = try store.mirror.apply(RemotePage(records: records))
    }

    /// Lets the mirror know an object that refers to another one, which is not told.
    /// - Returns: The key of the other one.
    func learnReference() throws -> Int64 {
        let values: [String: RemoteValue] = ["itemId": .value(.string("a")), "next": .reference("b")]
        _ = try store.mirror.apply(RemotePage(records: [RemoteRecord(entity: entity.name, id: "a", values: values)]))
        guard let key = try store.mirror.key(of: RemoteIdentity(entity: entity.name, id: "b")) else {
            throw WireFault("the mirror does not know what it refers to")
        }
        return key
    }

    /// The primary keys of what a plan finds.
    func ids(_ plan: FetchPlan) throws -> [String] {
        let found = try store.fetchIdentities(plan, cancellation: nil)
        let names = try store.mirror.ids(of: found)
        return found.compactMap { names[$0]?.id }
    }
}

/// A back end that has objects, or an error.
final class WireBackend: RemoteBackend {
    private let state = Guarded<(answer: Result<[String], RemoteError>, calls: Int)>((.success([]), 0))

    var name: String { "StackMob" }
    var capabilities: RemoteCapabilities { RemoteCapabilities(features: [.sorting, .paging]) }
    /// How often it was asked for the result of a fetch. What it did not list is asked for by primary key before it is
    /// removed from the mirror; those requests are the mirror's own.
    var calls: Int { state.withLock { $0.calls } }

    func answer(_ answer: Result<[String], RemoteError>) { state.withLock { $0.answer = answer } }

    func check(_ operation: RemoteOperation) throws(RemoteError) {}

    func code(of finding: RemoteError.Finding) -> RemoteError.Code? { StackMobDialect.code(of: finding) }

    func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer {
        let answer = state.withLock { state in
            if case .read = operation {} else { state.calls += 1 }
            return state.answer
        }
        let ids = try answer.get()
        return .page(
            RemotePage(
                records: ids.map { RemoteRecord(entity: "Item", id: $0, values: ["itemId": .value(.string($0))]) }))
    }
}
