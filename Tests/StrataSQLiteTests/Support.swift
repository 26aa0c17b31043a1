import Foundation
import StrataCSQLite
import StrataStore

@testable import StrataSQLite

/// A folder that goes away with its owner.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("strata-sqlite-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }
}

/// A model with every type, every kind of relationship, inheritance, indexes and derived attributes.
enum TestModel {
    static func make(extra: Bool = false) throws -> ManagedObjectModel {
        var thing = Entity(name: "Thing", location: nil)
        func attribute(_ name: String, _ type: AttributeType, _ change: (inout Attribute) -> Void = { _ in })
            -> Attribute
        {
            var attribute = Attribute(name, type, optional: true)
            change(&attribute)
            return attribute
        }
        thing.attributes = [
            attribute("small", .integer16), attribute("medium", .integer32), attribute("large", .integer64),
            attribute("exact", .decimal), attribute("real", .double), attribute("single", .float),
            attribute("title", .string) { $0.isIndexed = true }, attribute("flag", .boolean),
            attribute("yearBorn", .date),
            attribute("data", .binary), attribute("photo", .binary) { $0.allowsExternalStorage = true },
            attribute("token", .uuid), attribute("link", .uri), attribute("place", .geoPoint) { $0.isIndexed = true },
            attribute("tags", .transformable("[String]")),
            attribute(
                "address", .composite([CompositeElement("street", .string), CompositeElement("number", .integer32)])),
            attribute("note", .string) { $0.isTransient = true },
            attribute("code", .string) { $0.isUnique = true },
            attribute("ownerName", .string) { $0.derivation = .path(["owner", "name"]) },
        ]
        if extra { thing.attributes.append(attribute("added", .string)) }
        thing.relationships = [
            Relationship("owner", to: "Person", .optionalToOne, inverse: "things"),
            Relationship("order", to: "Person", .optionalToOne, inverse: "queue"),
        ]
        var gadget = Entity(name: "Gadget", location: nil)
        gadget.parent = "Thing"
        gadget.attributes = [attribute("power", .integer32), attribute("serial", .string) { $0.isUnique = true }]
        var widget = Entity(name: "Widget", location: nil)
        widget.parent = "Thing"
        widget.attributes = [attribute("power", .integer32)]

        var person = Entity(name: "Person", location: nil)
        person.attributes = [
            attribute("name", .string), attribute("age", .integer64), attribute("email", .string),
            attribute("thingCount", .integer64) { $0.derivation = .count("things") },
            attribute("largeSum", .integer64) { $0.derivation = .sum("things", "large") },
            attribute("exactSum", .decimal) { $0.derivation = .sum("things", "exact") },
        ]
        person.relationships = [
            Relationship("things", to: "Thing", .toMany, inverse: "owner"),
            Relationship("queue", to: "Thing", .orderedToMany, inverse: "order"),
            Relationship("groups", to: "Group", .toMany, inverse: "members"),
            Relationship("friends", to: "Person", .toMany, inverse: "friends"),
            Relationship("boss", to: "Person", .optionalToOne, inverse: "staff"),
            Relationship("staff", to: "Person", .toMany, inverse: "boss"),
        ]
        person.indexes = [Index("name", "-age"), Index("name", "email", kind: .unique)]
        var group = Entity(name: "Group", location: nil)
        group.attributes = [attribute("name", .string)]
        group.relationships = [Relationship("members", to: "Person", .orderedToMany, inverse: "groups")]
        group.indexes = [Index(["name"], kind: .fullText, location: nil)]
        return try ManagedObjectModel(name: "Test", entities: [thing, gadget, widget, person, group])
    }
}

extension SQLiteStore {
    func entity(_ name: String) throws -> EntityDescription {
        guard let entity = model.entity(named: name) else { throw MissingName(name: name) }
        return entity
    }

    func relationship(_ entity: String, _ name: String) throws -> RelationshipDescription {
        guard let found = try self.entity(entity).relationship(named: name) else { throw MissingName(name: name) }
        return found
    }

    /// A row with some values.
    func row(_ entityName: String, _ key: Int64, version: Int64 = 1, _ values: [String: Value]) throws -> RowReference {
        let entity = try entity(entityName)
        var builder = RowBatchBuilder(expectedRows: 1)
        builder.beginRow(entity: entity, key: key, version: version)
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let slot = entity.slot(named: name) else { throw MissingName(name: name) }
            builder.set(value, slot)
        }
        builder.endRow()
        return builder.finish()[0]
    }

    func insert(_ rows: (String, Int64, [String: Value])...) throws {
        var changes = ChangeSet()
        for (entity, key, values) in rows { changes.inserts.append(.init(row: try row(entity, key, values))) }
        guard case .committed = try commit(changes) else { throw MissingName(name: "a commit without conflicts") }
    }

    func update(
        _ entityName: String, _ key: Int64, base: Int64, _ values: [String: Value], changed: [String]
    ) throws -> ChangeSet.Update {
        let entity = try entity(entityName)
        let slots = try changed.map { name in
            guard let slot = entity.slot(named: name) else { throw MissingName(name: name) }
            return slot.index
        }
        return .init(row: try row(entityName, key, version: base + 1, values), slots: SlotSet(slots), baseVersion: base)
    }

    func keys(_ entity: String, _ predicate: FetchPredicate? = nil, sorts: [FetchSort] = []) throws -> [Int64] {
        var plan = FetchPlan(entityIndex: try self.entity(entity).index)
        plan.predicate = predicate
        plan.sorts = sorts
        return try fetchKeys(plan)
    }

    func values(_ entity: String, _ key: Int64) throws -> [String: Value]? {
        try rows(entityIndex: try self.entity(entity).index, keys: [key]).rows.first.map { row in
            Dictionary(
                uniqueKeysWithValues: model.entities[row.row.entityIndex].slots.map { ($0.name, row.row.value($0)) })
        }
    }
}

struct MissingName: Error { let name: String }

extension RowBatchBuilder {
    mutating func set(_ value: Value, _ slot: SlotDescription) {
        if slot.type?.isJSON == true, !value.isNull {
            return setText(JSONText.text(of: value) ?? "not JSON", slot: slot.index)
        }
        switch value {
        case .null: break
        case .integer(let number):
            slot.storage == .double ? setDouble(Double(number), slot: slot.index) : setInteger(number, slot: slot.index)
        case .double(let number): setDouble(number, slot: slot.index)
        case .boolean(let flag): setWord(flag ? 1 : 0, slot: slot.index)
        case .date(let date): setDouble(date.timeIntervalSinceReferenceDate, slot: slot.index)
        case .object(let key): setInteger(key, slot: slot.index)
        case .string(let text): setText(text, slot: slot.index)
        case .uri(let uri): setText(uri.absoluteString, slot: slot.index)
        case .decimal(let number): setText(number.description, slot: slot.index)
        case .binary(let data): data.withUnsafeBytes { setBytes($0, slot: slot.index) }
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { setBytes($0, slot: slot.index) }
        case .geoPoint(let point):
            let words = (point.latitude.bitPattern.littleEndian, point.longitude.bitPattern.littleEndian)
            withUnsafeBytes(of: words) { setBytes($0, slot: slot.index) }
        case .composite, .list, .set: fatalError("Set the elements of a composite one by one.")
        }
    }
}

/// Collects the statements that a store runs.
final class TraceLog: Sendable {
    private let entries = Guarded<[StatementTrace]>([])

    var hook: @Sendable (StatementTrace) -> Void {
        { trace in self.entries.withLock { $0.append(trace) } }
    }

    var statements: [StatementTrace] { entries.withLock { $0 } }
    func clear() { entries.withLock { $0.removeAll() } }
}

/// A store of the test model in a file of its own, which goes away with this, and the statements that it runs.
struct TracedFile {
    let folder: TemporaryFolder
    let path: String
    let store: SQLiteStore
    let log = TraceLog()

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.sqlite")
        var options = SQLiteStore.Options()
        options.trace = log.hook
        store = try SQLiteStore.open(model: try TestModel.make(), location: .file(path: path), options: options)
    }
}

/// SQLite without the store, as a shell would use the file.
struct Shell {
    let path: String
    /// Whether it knows the functions that triggers of the store call.
    var knowsFunctions = false

    @discardableResult
    func run(_ sql: String) throws -> [[String]] {
        var handle: OpaquePointer?
        guard sqlite3_open(path, &handle) == SQLITE_OK else { throw MissingName(name: path) }
        defer { sqlite3_close_v2(handle) }
        sqlite3_busy_timeout(handle, 2000)
        if knowsFunctions, let handle {
            SQLFunctions.register(on: handle)
            WordTokenizer.register(on: handle)
        }
        var result: [[String]] = []
        var statement: OpaquePointer?
        var rest: UnsafePointer<CChar>?
        return try sql.withCString { start in
            var next = start
            while next.pointee != 0 {
                guard sqlite3_prepare_v2(handle, next, -1, &statement, &rest) == SQLITE_OK else {
                    throw MissingName(name: String(cString: sqlite3_errmsg(handle)))
                }
                defer { sqlite3_finalize(statement) }
                if statement == nil { break }
                while true {
                    let code = sqlite3_step(statement)
                    if code == SQLITE_DONE { break }
                    guard code == SQLITE_ROW else { throw MissingName(name: String(cString: sqlite3_errmsg(handle))) }
                    result.append(
                        (0..<sqlite3_column_count(statement)).map {
                            sqlite3_column_text(statement, $0).map { String(cString: $0) } ?? "NULL"
                        })
                }
                guard let rest else { break }
                next = rest
            }
            return result
        }
    }
}

extension Shell {
    /// Runs a closure while a statement's locks are held.
    func runHolding(_ sql: String, _ body: () throws -> Void) throws {
        var handle: OpaquePointer?
        guard sqlite3_open(path, &handle) == SQLITE_OK else { throw MissingName(name: path) }
        defer { sqlite3_close_v2(handle) }
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
            throw MissingName(name: String(cString: sqlite3_errmsg(handle)))
        }
        try body()
        sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
    }
}

extension SQLiteStore {
    static func openLimited(model: ManagedObjectModel, path: String, pages: Int) throws -> SQLiteStore {
        var options = Options()
        options.maximumPageCount = pages
        return try open(model: model, location: .file(path: path), options: options)
    }

    static func openSweeping(model: ManagedObjectModel, path: String, threshold: Int, age: Double) throws -> SQLiteStore
    {
        var options = Options()
        options.externalStorageThreshold = threshold
        options.sweepAge = age
        return try open(model: model, location: .file(path: path), options: options)
    }
}
