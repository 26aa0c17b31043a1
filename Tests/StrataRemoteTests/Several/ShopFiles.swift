import Foundation
import Strata
import StrataRemote
import StrataStore
import StrataRemoteTesting
import Testing

/// A back end with a switch for what is wrong with it.
final class Gateway: RemoteBackend {
    enum Trouble: Sendable, Equatable, CaseIterable {
        case none, unreachable, broken, losesAnswers
        /// Refuses new orders and changes of orders whose title begins with "bad".
        case refuses
    }

    private struct State: Sendable {
        var trouble = Trouble.none
        var writes = 0
        var reads = 0
        var waiting: [CheckedContinuation<Void, Never>]?
        var secrets: [String: String] = [:]
    }

    let server: MemoryBackend
    private let state = Guarded(State())

    init(_ server: MemoryBackend = MemoryBackend()) { self.server = server }

    var trouble: Trouble {
        get { state.withLock(\.trouble) }
        set { state.withLock { $0.trouble = newValue } }
    }
    /// The number of requests that write and that read so far.
    var writes: Int { state.withLock(\.writes) }
    var reads: Int { state.withLock(\.reads) }

    /// What came along with writes and is not kept.
    var secrets: [String: String] { state.withLock(\.secrets) }

    /// Makes requests wait until ``open()``.
    func close() { state.withLock { $0.waiting = [] } }
    var isWaitedFor: Bool { state.withLock { $0.waiting?.isEmpty == false } }
    func open() {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting ?? []
        }
        for continuation in waiting { continuation.resume() }
    }

    var name: String { server.name }
    var capabilities: RemoteCapabilities { server.capabilities }
    func check(_ model: ManagedObjectModel) throws(RemoteError) { try server.check(model) }
    func check(_ operation: RemoteOperation) throws(RemoteError) { try server.check(operation) }

    func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer {
        let isWrite = operation.written != nil
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                if isWrite { state.writes += 1 } else { state.reads += 1 }
                for write in operation.writes { state.secrets.merge(write.secrets) { $1 } }
                guard state.waiting != nil else { return false }
                state.waiting?.append(continuation)
                return true
            }
            if !waits { continuation.resume() }
        }
        switch trouble {
        case .none: return try await server.perform(operation, options: options)
        case .unreachable: throw unreachable
        case .broken: throw broken
        case .losesAnswers:
            _ = try await server.perform(operation, options: options)
            throw RemoteError(.timeout, domain: "test", message: "no answer")
        case .refuses:
            guard isWrite else { return try await server.perform(operation, options: options) }
            return .outcomes(try await refusing(operation, options))
        }
    }

    private func refusing(
        _ operation: RemoteOperation, _ options: RequestOptions
    ) async throws(RemoteError) -> [RemoteOutcome] {
        func outcome(_ operation: RemoteOperation, _ write: RemoteWrite) async throws(RemoteError) -> RemoteOutcome {
            if case .value(.string(let title))? = write.values["title"], title.hasPrefix("bad") {
                return .failed(RemoteError(.rejected, domain: "test", message: "bad", status: 400))
            }
            guard case .outcomes(let list) = try await server.perform(operation, options: options) else {
                throw RemoteError(.invalidAnswer, message: "no outcomes")
            }
            return list[0]
        }
        switch operation {
        case .create(let entity, let writes):
            var result: [RemoteOutcome] = []
            for write in writes { result.append(try await outcome(.create(entity: entity, [write]), write)) }
            return result
        case .update(_, let write): return [try await outcome(operation, write)]
        case .batch(let parts):
            var result: [RemoteOutcome] = []
            for part in parts { result += try await refusing(part, options) }
            return result
        default:
            guard case .outcomes(let list) = try await server.perform(operation, options: options) else { return [] }
            return list
        }
    }
}

/// The four stores of ``Shop`` in a folder of their own.
final class ShopFiles {
    let folder = FileManager.default.temporaryDirectory.appending(path: "strata-shop-\(UUID().uuidString)")
    let orders: Gateway
    let memos = Gateway()
    /// The store of drafts, which can be made to fail.
    private let opened = Guarded<FaultInjectingStore?>(nil)
    private(set) var container: PersistentContainer

    /// - Parameters:
    ///   - order: The configurations in the order in which their stores are written.
    ///   - features: What the server of orders can do.
    ///   - change: Changes the options of both remote stores, whose fetches look into their mirrors only.
    init(
        _ order: [String] = ["Catalogue", "Orders", "Memos", "Default"],
        features: RemoteCapabilities.Features = MemoryBackend.allFeatures,
        _ change: (inout RemoteStore.Options) -> Void = { _ in }
    ) throws {
        orders = Gateway(MemoryBackend(features: features))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let maker = try PersistentContainer(
            Shop.self,
            stores: [
                PersistentStoreDescription(
                    configuration: "Catalogue", at: .file(path: folder.path + "/catalogue.sqlite")),
                PersistentStoreDescription(configuration: "Orders", at: .memory(name: nil)),
                PersistentStoreDescription(configuration: "Memos", at: .memory(name: nil)),
                PersistentStoreDescription(at: .memory(name: nil)),
            ])
        let context = maker.newContext()
        for code in ["tea", "coffee"] { _ = Product(context, code) }
        try context.save()
        maker.close()
        container = maker
        try open(order, change)
    }

    deinit {
        container.close()
        // In the system's temporary folder; a failure leaves litter there, no wrong result.
        try? FileManager.default.removeItem(at: folder)
    }

    /// Opens the stores again, as the next run of the app does.
    func open(
        _ order: [String] = ["Catalogue", "Orders", "Memos", "Default"],
        _ change: (inout RemoteStore.Options) -> Void = { _ in }
    ) throws {
        container.close()
        container = try PersistentContainer(Shop.self, stores: descriptions(order, change))
    }

    func descriptions(
        _ order: [String], _ change: (inout RemoteStore.Options) -> Void = { _ in }
    ) -> [PersistentStoreDescription] {
        var options = RemoteStore.Options()
        options.fetchPolicy = .cacheOnly
        options.sync.retries = 0
        options.mirror.history = .on(keeping: .days(1))
        change(&options)
        return order.map { description(of: $0, options) }
    }

    private func description(_ configuration: String, _ backend: Gateway, _ options: RemoteStore.Options)
        -> PersistentStoreDescription
    {
        let path = folder.path + "/\(configuration).sqlite"
        return PersistentStoreDescription(configuration: configuration) { (model) throws(StoreError) in
            try RemoteStore.open(model: model, backend: backend, location: .file(path: path), options: options)
        }
    }

    private func description(of name: String, _ options: RemoteStore.Options) -> PersistentStoreDescription {
        switch name {
        case "Orders": return description("Orders", orders, options)
        case "Memos": return description("Memos", memos, options)
        case "Catalogue":
            var readOnly = SQLiteStore.Options()
            readOnly.isReadOnly = true
            return PersistentStoreDescription(
                configuration: "Catalogue", at: .file(path: folder.path + "/catalogue.sqlite"), options: readOnly)
        default:
            let (path, opened) = (folder.path + "/drafts.sqlite", opened)
            var options = SQLiteStore.Options()
            options.history = .on(keeping: .days(1))
            let recorded = options
            return PersistentStoreDescription { (model) throws(StoreError) in
                let store = FaultInjectingStore(
                    try SQLiteStore.open(model: model, location: .file(path: path), options: recorded))
                opened.withLock { $0 = store }
                return store
            }
        }
    }

    var drafts: FaultInjectingStore {
        get throws {
            let store = opened.withLock(\.self)
            return try #require(store)
        }
    }

    func remote(_ configuration: String = "Orders") throws -> RemoteStore {
        try #require(container.store(forConfiguration: configuration) as? RemoteStore)
    }

    /// The number of orders in the mirror.
    func mirrored() throws -> Int {
        try container.newContext().count(FetchRequest<Order>().options(RemoteOptions.cache))
    }

    /// A context that takes over what others and the servers change.
    func context() -> ManagedObjectContext { container.newContext(automaticallyMergesChanges: true) }

    /// Another device with the same account: only the orders.
    func otherDevice() throws -> (RemoteStore, ManagedObjectContext) {
        let model = try remote().model
        var options = RemoteStore.Options()
        options.fetchPolicy = .networkOnly
        let store = try RemoteStore.open(
            model: model, backend: orders.server, location: .memory(name: nil), options: options)
        let classes: [ManagedObject.Type] = [Order.self, RushOrder.self, Customer.self]
        return (store, try PersistentContainer(store: store, classes: classes).newContext())
    }

    /// The titles of the orders that the server has.
    var titles: [String] {
        orders.server.records.compactMap { record in
            if case .value(.string(let title))? = record.values["title"] { title } else { nil }
        }.sorted()
    }
}
