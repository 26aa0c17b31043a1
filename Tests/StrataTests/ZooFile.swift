import Foundation
import Strata
import StrataStore

/// A zoo in a file of its own, removed with this object. Counts the statements.
final class ZooFile: Sendable {
    let path: String
    let container: PersistentContainer
    private let folder: URL
    private let statements: StatementList

    init(file: String = #fileID, line: Int = #line) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-zoo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent("zoo.sqlite").path
        let statements = StatementList()
        self.statements = statements
        var options = SQLiteStore.Options()
        options.trace = { statements.add($0) }
        container = try PersistentContainer(Zoo.self, at: .file(path: path), options: options)
    }

    deinit {
        container.close()
        // The folder is in the system's temporary folder; a failure leaves litter there, no wrong result.
        try? FileManager.default.removeItem(at: folder)
    }

    /// A second container on the same file, as another process would have it.
    func secondContainer() throws -> PersistentContainer { try PersistentContainer(Zoo.self, at: .file(path: path)) }

    /// Runs a closure and gives the statements that it took.
    func statements<R>(_ body: () throws -> R) rethrows -> (statements: [String], result: R) {
        _ = statements.take()
        let result = try body()
        return (statements.take(), result)
    }

    /// Runs a closure and counts its statements without those that only begin and end transactions.
    func count<R>(_ body: () throws -> R) rethrows -> (reads: Int, writes: Int, result: R) {
        let (list, result) = try statements(body)
        let reads = list.count { $0.hasPrefix("SELECT") || $0.hasPrefix("WITH") }
        let writes = list.count { text in ["INSERT", "UPDATE", "DELETE", "REPLACE"].contains { text.hasPrefix($0) } }
        return (reads, writes, result)
    }
}

private final class StatementList: Sendable {
    private let list = Guarded<[String]>([])
    func add(_ trace: StatementTrace) {
        // What a connection does when it is opened does not count.
        guard !trace.sql.hasPrefix("PRAGMA") else { return }
        list.withLock { $0.append(trace.sql) }
    }
    func take() -> [String] {
        list.withLock { list in
            defer { list = [] }
            return list
        }
    }
}

/// What a closure throws of the framework's errors; nil if nothing.
func persistenceError<R>(_ body: () throws -> R) -> PersistenceError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? PersistenceError
    }
}

/// The validation failures that a closure throws, as `property rule`; empty if it throws none.
func failures<R>(_ body: () throws -> R) -> [String] {
    guard case .validation(let error)? = persistenceError(body) else { return [] }
    return error.failures.map { "\($0.property ?? "-") \($0.rule.rawValue)" }.sorted()
}
