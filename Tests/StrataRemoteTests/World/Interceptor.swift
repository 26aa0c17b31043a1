import Foundation
import Strata
import StrataRemote
import StrataStore

/// A back end whose requests a test can answer in its place.
final class Interceptor: RemoteBackend, @unchecked Sendable {
    // Sendable because all state is reached only while the lock is held.
    typealias Handler = @Sendable (RemoteOperation) async throws(RemoteError) -> RemoteAnswer?

    let shelf: ShelfBackend
    private let lock = NSLock()
    private var before: Handler?
    private var after: (@Sendable (RemoteOperation, RemoteAnswer) async throws(RemoteError) -> RemoteAnswer)?
    private var change: (@Sendable (inout RemoteCapabilities) -> Void)?
    private var operations = 0

    init(_ shelf: ShelfBackend = .conditional(), _ change: (@Sendable (inout RemoteCapabilities) -> Void)? = nil) {
        self.shelf = shelf
        self.change = change
    }

    let name = "Shelf"
    var capabilities: RemoteCapabilities {
        var result = shelf.capabilities
        change?(&result)
        return result
    }

    /// How many requests there were.
    var count: Int { lock.withLock { operations } }

    /// Answers requests in place of the back end; nil lets it answer.
    func intercept(_ handler: Handler?) { lock.withLock { before = handler } }

    /// Carries out writes, and loses the answers.
    /// - Returns: The last answer that was lost.
    @discardableResult
    func loseAnswers(throwing error: RemoteError) -> Guarded<RemoteAnswer?> {
        let answer = Guarded<RemoteAnswer?>(nil)
        intercept { [shelf] (operation) async throws(RemoteError) in
            guard operation.written != nil else { return nil }
            let made = try await shelf.perform(operation, options: RequestOptions())
            answer.withLock { $0 = made }
            throw error
        }
        return answer
    }

    /// Refuses writes, or loses their requests, without carrying them out.
    func refuseWrites(throwing error: RemoteError = RemoteError(.rejected, message: "no", status: 400)) {
        intercept { (operation) async throws(RemoteError) in
            guard operation.written != nil else { return nil }
            throw error
        }
    }

    /// Names new objects of an entity by itself, and knows those that it has made.
    /// - Parameter error: What is thrown in place of the answers; nil to give them.
    func nameObjects(of name: String, failingWith error: Guarded<RemoteError?>) {
        intercept { [shelf] (operation) async throws(RemoteError) in
            guard case .create(let entity, let writes) = operation, entity.name == name else { return nil }
            let copies = writes.map { write in
                var copy = write
                copy.id = "server-\(write.id)"
                return copy
            }
            if shelf.record(name, copies[0].id) == nil {
                _ = try await shelf.perform(.create(entity: entity, copies), options: RequestOptions())
            }
            if let error = error.withLock({ $0 }) { throw error }
            return .outcomes(copies.map { .done(shelf.record(name, $0.id)) })
        }
    }

    /// Changes answers of the back end.
    func alter(
        _ handler: (@Sendable (RemoteOperation, RemoteAnswer) async throws(RemoteError) -> RemoteAnswer)?
    ) {
        lock.withLock { after = handler }
    }

    func check(_ model: ManagedObjectModel) throws(RemoteError) { try shelf.check(model) }
    func check(_ operation: RemoteOperation) throws(RemoteError) { try shelf.check(operation) }

    func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer {
        let (before, after) = lock.withLock {
            operations += 1
            return (self.before, self.after)
        }
        if let before, let answer = try await before(operation) { return answer }
        if case .batch(let parts) = operation {
            var outcomes: [RemoteOutcome] = []
            for part in parts {
                if case .outcomes(let list) = try await perform(part, options: options) { outcomes += list }
            }
            return .outcomes(outcomes)
        }
        let answer = try await shelf.perform(operation, options: options)
        return try await after?(operation, answer) ?? answer
    }
}

extension RemoteOperation {
    /// The primary keys of the objects that a write is about; nil for a read.
    var written: [String]? {
        switch self {
        case .create(_, let writes): writes.map(\.id)
        case .update(_, let write), .delete(_, let write): [write.id]
        case .relate(_, let relation): [relation.id]
        case .batch(let list): list.flatMap { $0.written ?? [] }
        default: nil
        }
    }

    /// The writes of an operation.
    var writes: [RemoteWrite] {
        switch self {
        case .create(_, let writes): writes
        case .update(_, let write), .delete(_, let write): [write]
        case .batch(let list): list.flatMap(\.writes)
        default: []
        }
    }
}

extension Atlas {
    /// A store over any back end that works on its mirror until it synchronizes, and a context on it.
    static func offline(
        _ backend: any RemoteBackend, location: SQLiteStore.Location = .memory(name: nil),
        model: ManagedObjectModel = Atlas.model, _ change: (inout RemoteStore.Options) -> Void = { _ in }
    ) throws -> (RemoteStore, ManagedObjectContext) {
        var options = RemoteStore.Options()
        options.fetchPolicy = .cacheOnly
        options.savePolicy = .cacheOnly
        options.sync.retries = 0
        change(&options)
        let store = try RemoteStore.open(model: model, backend: backend, location: location, options: options)
        return (store, try PersistentContainer(store: store).newContext(automaticallyMergesChanges: true))
    }

    /// A new city in a context.
    @discardableResult
    static func city(_ id: String, _ name: String, _ context: ManagedObjectContext) throws -> ManagedObject {
        let city = try context.insert(entityNamed: "City")
        city["cityId"] = id
        city["name"] = name
        return city
    }
}

/// Lets a test hold a request or its answer back.
final class Gate: Sendable {
    private let state = Guarded<(isOpen: Bool, isReached: Bool)>((isOpen: false, isReached: false))

    func pass() async {
        state.withLock { $0.isReached = true }
        while !(state.withLock { $0.isOpen }) { try? await Task.sleep(for: .milliseconds(1)) }
    }

    func reached() async {
        while !(state.withLock { $0.isReached }) { try? await Task.sleep(for: .milliseconds(1)) }
    }
    func open() { state.withLock { $0.isOpen = true } }
}

/// A folder that is deleted with the test.
final class ScratchFolder {
    let url = FileManager.default.temporaryDirectory.appending(path: "strata-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    func file(_ name: String = "mirror") -> SQLiteStore.Location { .file(path: url.appending(path: name).path) }

    deinit { try? FileManager.default.removeItem(at: url) }
}
