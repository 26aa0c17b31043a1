import Foundation
import Strata

/// A violation by a store that a conformance check has found.
///
///     let report = await ConformanceSuite.standard.run(SQLiteMemorySubject())
///     for failure in report.failures { print(failure.check, failure.message) }
///
/// A check throws it, and the report has its message. The message is for the author of the store: it names what was done, what
/// the store answered, what it should have answered, and often the method of the protocol to look at. Errors of the store
/// itself make a check fail, too, with their own description.
public struct ConformanceFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong and where to look, for the author of the store.
    public var message: String
    public var description: String { message }
}

/// One check's own store, contexts on it, and what must hold.
final class ConformanceTrial {
    let subject: any ConformanceSubject
    let model: ManagedObjectModel
    private let place: URL
    private(set) var container: PersistentContainer
    /// Contexts live as long as the trial, because objects do not keep theirs.
    private(set) var context: ManagedObjectContext
    private var kept: [ManagedObjectContext] = []

    init(_ subject: any ConformanceSubject, model: ManagedObjectModel, place: URL) throws {
        self.subject = subject
        self.model = model
        self.place = place
        container = try Self.open(subject, model, place)
        context = container.newContext()
    }

    var store: any PersistentStore { container.store }

    /// Closes the store and opens it again.
    func reopen() throws {
        container.close()
        container = try Self.open(subject, model, place)
        context = container.newContext()
    }

    /// Holds a context until the trial ends.
    func keep(_ other: ManagedObjectContext) -> ManagedObjectContext {
        kept.append(other)
        return other
    }

    func close() { container.close() }

    private static func open(
        _ subject: any ConformanceSubject, _ model: ManagedObjectModel, _ place: URL
    ) throws -> PersistentContainer {
        let opened = try waiting { try await subject.open(model, at: place) }
        return try PersistentContainer(store: opened)
    }

    // MARK: Objects

    /// Inserts an object; attributes and relationships by name.
    @discardableResult
    func insert(_ entity: String, _ values: [String: Any] = [:], in other: ManagedObjectContext? = nil) throws
        -> ManagedObject
    {
        let object = try (other ?? context).insert(entityNamed: entity)
        for (name, value) in values { try object.setValue(value, forKey: name) }
        if let key = object.entity.primaryKeyField, values[key] == nil { _ = try object.assignObjectID() }
        return object
    }

    /// Inserts and saves items with the given names.
    @discardableResult
    func items(_ names: [String], _ values: (Int) -> [String: Any] = { _ in [:] }) throws -> [ManagedObject] {
        var result: [ManagedObject] = []
        for (index, name) in names.enumerated() {
            result.append(try insert("Item", values(index).merging(["name": name]) { a, _ in a }))
        }
        try context.save()
        return result
    }

    func fetch(
        _ entity: String, _ format: String? = nil, _ arguments: [Value] = [], sort: [FetchSort] = [],
        limit: Int? = nil, offset: Int = 0, in other: ManagedObjectContext? = nil
    ) throws -> [ManagedObject] {
        try (other ?? context).fetch(request(entity, format, arguments, sort: sort, limit: limit, offset: offset))
    }

    func request(
        _ entity: String, _ format: String? = nil, _ arguments: [Value] = [], sort: [FetchSort] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> FetchRequest<ManagedObject> {
        FetchRequest(
            entity: entity, where: try format.map { try FetchPredicate(format: $0, arguments: arguments) },
            sortedBy: sort, limit: limit, offset: offset)
    }

    /// The names of what a fetch in a new context finds, so that nothing is answered from memory.
    func names(
        _ entity: String, _ format: String? = nil, _ arguments: [Value] = [], sort: [FetchSort] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [String] {
        let fresh = keep(container.newContext())
        return try fetch(entity, format, arguments, sort: sort, limit: limit, offset: offset, in: fresh)
            .map { $0["name"] as? String ?? "?" }
    }

    // MARK: What must hold

    func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        if !condition { throw ConformanceFailure(message: message()) }
    }

    func expectEqual<T: Equatable>(_ found: T, _ wanted: T, _ message: @autoclosure () -> String) throws {
        if found != wanted { throw ConformanceFailure(message: "\(message()): got \(found), not \(wanted)") }
    }
}

/// Runs asynchronous work and waits for it; only for threads that may block.
func waiting<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) throws -> T {
    let done = DispatchSemaphore(value: 0)
    // Written once before the signal and read after the wait.
    nonisolated(unsafe) var result: Result<T, any Error>?
    Task.detached {
        do { result = .success(try await body()) } catch { result = .failure(error) }
        done.signal()
    }
    done.wait()
    guard let result else { throw ConformanceFailure(message: "the store's opening never ended") }
    return try result.get()
}
