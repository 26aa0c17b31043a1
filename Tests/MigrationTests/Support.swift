import Foundation
import Strata
import StrataCSQLite
import Testing

@testable import StrataSQLite

/// A store file that goes away with its owner, opened with one version of a model after the other.
final class VersionedFile: Sendable {
    let folder: URL
    let path: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "strata-migration-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appending(path: "a.sqlite").path
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Opens the file with a model, works with a context, saves and closes it.
    @discardableResult
    func open<T>(
        _ model: ManagedObjectModel, _ options: SQLiteStore.Options = .init(),
        _ body: (ManagedObjectContext) throws -> T
    ) throws -> T {
        let container = try PersistentContainer(model: model, at: .file(path: path), options: options)
        defer { container.close() }
        let context = container.newContext()
        let result = try body(context)
        if context.hasChanges { try context.save() }
        return result
    }

    func open(_ model: ManagedObjectModel, answers: [String: MigrationAnswer]) throws {
        try open(model, Self.options(answers)) { _ in }
    }

    static func options(_ answers: [String: MigrationAnswer]) -> SQLiteStore.Options {
        var options = SQLiteStore.Options()
        options.migration.answers = answers
        return options
    }

    /// The error of an attempt to open the file with a model.
    func refusal(_ model: ManagedObjectModel, answers: [String: MigrationAnswer] = [:]) -> StoreError? {
        do {
            try open(model, answers: answers)
            return nil
        } catch PersistenceError.store(let error) {
            return error
        } catch {
            Issue.record("\(error)")
            return nil
        }
    }

    /// The names of the steps that an attempt to open the file was refused for.
    func blocked(_ model: ManagedObjectModel, answers: [String: MigrationAnswer] = [:]) -> [String] {
        guard case .migrationNeedsAnswers(_, let steps)? = refusal(model, answers: answers) else { return [] }
        return steps.map(\.id)
    }

    /// Runs SQL without the store.
    @discardableResult
    func sql(_ text: String) throws -> [[String]] { try Self.sql(text, path) }

    static func sql(_ text: String, _ path: String) throws -> [[String]] {
        var handle: OpaquePointer?
        defer { sqlite3_close_v2(handle) }
        try #require(sqlite3_open(path, &handle) == SQLITE_OK)
        sqlite3_busy_timeout(handle, 2000)
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, text, -1, &statement, nil) == SQLITE_OK else {
            throw SQLProblem(text: String(cString: sqlite3_errmsg(handle)))
        }
        defer { sqlite3_finalize(statement) }
        var result: [[String]] = []
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_DONE { return result }
            guard code == SQLITE_ROW else { throw SQLProblem(text: String(cString: sqlite3_errmsg(handle))) }
            result.append(
                (0..<sqlite3_column_count(statement)).map { column in
                    sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "NULL"
                })
        }
    }

    /// The text that SQLite keeps of all tables, indexes and triggers; in an order that does not depend on their age.
    var catalog: [String] {
        get throws {
            try sql("SELECT name || ': ' || coalesce(sql, '') FROM sqlite_master ORDER BY name").map { $0[0] }
        }
    }

    /// The columns of all tables, and the text of all indexes and triggers. SQLite appends new columns, so that their order depends
    /// on the age of a file.
    var shape: [[String]] {
        get throws {
            let tables = try sql(
                """
                SELECT m.name, c.name, c.type FROM sqlite_master AS m, pragma_table_info(m.name) AS c
                WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' ORDER BY 1, 2
                """)
            return tables + (try sql("SELECT name, sql FROM sqlite_master WHERE type <> 'table' ORDER BY name"))
        }
    }

    /// Checks that nothing in the file is out of joint.
    func checkSoundness(_ location: Testing.SourceLocation = #_sourceLocation) throws {
        let report = try SQLiteStore.integrityReport(at: path)
        #expect(report.isSound, "\(report)", sourceLocation: location)
        let leftovers = try sql(
            "SELECT name FROM sqlite_master WHERE name LIKE '\\_new%' ESCAPE '\\' OR name LIKE '\\_moving%' ESCAPE '\\'"
        )
        #expect(leftovers.isEmpty, sourceLocation: location)
    }
}

struct SQLProblem: Error { let text: String }

/// Declares a model.
func version(_ name: String = "Test", @ModelBuilder _ content: () -> [Entity]) throws -> ManagedObjectModel {
    try ManagedObjectModel(name: name, content)
}

extension ManagedObjectContext {
    @discardableResult
    func make(_ entity: String, _ values: [String: Any]) throws -> ManagedObject {
        let object = try insert(entityNamed: entity)
        for (name, value) in values { object[name] = value }
        return object
    }

    /// All objects of an entity in the order of their keys.
    func all(_ entity: String) throws -> [ManagedObject] {
        try fetch(FetchRequest<ManagedObject>(entity: entity)).sorted { $0.objectID.key < $1.objectID.key }
    }

    /// The values of a property of all objects as text.
    func texts(_ entity: String, _ property: String) throws -> [String] {
        try all(entity).map { object in object[property].map { "\($0)" } ?? "nil" }
    }

    /// The names of the objects at the other end of a relationship, for each object of an entity.
    func linked(_ entity: String, _ relationship: String, _ name: String = "name") throws -> [[String]] {
        try all(entity).map { object in
            if let one = object[relationship] as? ManagedObject { return ["\(one[name] ?? "nil")"] }
            guard let members = object[relationship] as? any Sequence else { return [] }
            return members.compactMap { ($0 as? ManagedObject).map { "\($0[name] ?? "nil")" } }
        }
    }
}

extension SQLiteStore {
    /// Migrates a file that may not grow beyond a number of pages.
    static func migrateLimited(_ path: String, to model: ManagedObjectModel, pages: Int) throws {
        var options = Options()
        options.maximumPageCount = pages
        try migrate(path, to: model, options: options)
    }
}
