import Foundation
import StrataCSQLite
import StrataStore

/// Which columns a `SELECT` of an entity's rows has, and how they become packed rows.
///
/// The rows go through one aggregate function of the store, `strata_collect`, instead of coming back one at a time:
/// SQLite hands it all columns of a row in a single call, where a step loop makes one call for each of them. The call
/// must read the table directly; values that pass through a subquery are copied, which costs as much as the call saves.
final class RowPlan: Sendable {
    /// One slot and the column it is read from.
    struct Field: Sendable {
        let slot: Int
        let column: Int
        let storage: SlotStorage
        let allowsExternal: Bool
    }

    /// The fields of an entity whose rows may come, in the order of their columns.
    final class Shape: Sendable {
        let entityIndex: Int
        let slotCount: Int
        let entityName: [UInt8]
        // A copy in memory of its own, written once, so that a row reads it without counting references. Sound because
        // it lives as long as the shape, which the plan keeps for as long as anything collects by it.
        nonisolated(unsafe) let fields: UnsafeBufferPointer<Field>

        init(entityIndex: Int, slotCount: Int, entityName: String, fields: [Field]) {
            self.entityIndex = entityIndex
            self.slotCount = slotCount
            self.entityName = Array(entityName.utf8)
            let copy = UnsafeMutableBufferPointer<Field>.allocate(capacity: fields.count)
            _ = copy.initialize(from: fields)
            self.fields = UnsafeBufferPointer(copy)
        }

        deinit { fields.deallocate() }
    }

    let model: ManagedObjectModel
    let hasEntityColumn: Bool
    let shapes: [Shape]
    let columnCount: Int
    private let table: String
    /// The columns of the table, which has the alias `t0`.
    private let columns: [String]

    /// The keys that rows may have.
    static let keys: ClosedRange<Int64> = 1...Int64.max
    /// The versions that rows may have. The upper half is out of reach by counting; a number there is not a version.
    static let versions: ClosedRange<Int64> = 0...Int64.max / 2

    /// SQLite takes at most 127 arguments in a call unless it was built otherwise; wider rows take several calls.
    static let argumentLimit = 100

    /// Plans the rows of an entity and of those that inherit from it.
    init(layout: StoreLayout, entityIndex: Int) throws(StoreError) {
        let model = layout.model
        let table = layout.table(entityIndex)
        let expressions = SlotExpression(layout: layout)
        var list = ["t0._id", "t0._version"]
        if table.hasEntityColumn { list.append("t0._entity") }
        var positions: [String: Int] = [:]
        var shapes: [Shape] = []
        for index in model.entities[entityIndex].descendantIndexes where !model.entities[index].isAbstract {
            let entity = model.entities[index]
            var fields: [Field] = []
            for slot in entity.slots where !slot.isTransient {
                let sql = try expressions.sql(entity, slot, alias: "t0")
                let position = positions[sql] ?? list.count
                if positions[sql] == nil {
                    positions[sql] = position
                    list.append(sql)
                }
                fields.append(
                    Field(
                        slot: slot.index, column: position, storage: slot.storage,
                        allowsExternal: layout.column(index, slot.index)?.allowsExternal ?? false))
            }
            fields.sort { $0.column < $1.column }
            shapes.append(
                Shape(
                    entityIndex: index, slotCount: entity.slots.count, entityName: entity.name, fields: fields))
        }
        self.model = model
        self.hasEntityColumn = table.hasEntityColumn
        self.shapes = shapes
        columnCount = list.count
        columns = list
        self.table = table.quoted
    }

    /// The statement that packs all rows of what follows `FROM`.
    func select(from: String) -> String { "SELECT \(Self.calls(columns)) FROM \(from)" }

    /// The statement that packs all rows of the table by key: without an index to walk, SQLite goes through the table,
    /// which is in the order of the keys.
    /// - Parameters:
    ///   - condition: What keeps the rows of an entity apart from others, if anything.
    ///   - skippingKnown: As in ``select(keysFrom:alias:skippingKnown:)``.
    func selectAll(_ condition: String?, skippingKnown: Bool) -> String {
        var test = condition
        if skippingKnown {
            let unknown = unknown(headerColumns(true).map { "t0.\($0)" })
            // CASE, because SQLite may ask the sides of an AND in any order, and rows of others must not be asked for.
            test = condition.map { "CASE WHEN \($0) THEN \(unknown) ELSE 0 END" } ?? unknown
        }
        return select(from: "\(table) AS t0 NOT INDEXED" + (test.map { " WHERE \($0)" } ?? ""))
    }

    /// The statement that packs the rows whose keys a subquery gives, in its order: only the keys pass through it, and
    /// the rows are read where the function is called. CROSS JOIN keeps the order of the tables.
    /// - Parameters:
    ///   - keysFrom: What follows `FROM` in the subquery; it must have a limit, or SQLite would take its order for
    ///     useless.
    ///   - alias: The table there.
    ///   - skippingKnown: Whether the reader knows some of the rows, of which it gets headers; their rows are not even
    ///     looked up.
    func select(keysFrom: String, alias: String, skippingKnown: Bool) -> String {
        let keys = headerColumns(skippingKnown).map { "\(alias).\($0)" }.joined(separator: ", ")
        let test = skippingKnown ? " AND " + unknown(headerColumns(true).map { "m.\($0)" }) : ""
        return select(from: "(SELECT \(keys) FROM \(keysFrom)) AS m CROSS JOIN \(table) AS t0 ON t0._id = m._id\(test)")
    }

    /// The statement that packs the rows of a subquery that has an order, in this order: SQLite keeps it for aggregate
    /// functions that it does not know to be indifferent to it.
    /// - Parameters:
    ///   - from: What follows `FROM` in the subquery; with a limit, so that no condition is moved into it.
    ///   - skippingKnown: As in ``select(keysFrom:alias:skippingKnown:)``.
    func select(inOrderOf from: String, skippingKnown: Bool) -> String {
        let names = columns.indices.map { "c\($0)" }
        let list = zip(columns, names).map { "\($0) AS \($1)" }.joined(separator: ", ")
        let test = skippingKnown ? " WHERE " + unknown(Array(names[..<headerColumns(true).count])) : ""
        return "SELECT \(Self.calls(names)) FROM (SELECT \(list) FROM \(from))\(test)"
    }

    /// The columns that make up a header; only the key if no more is requested.
    private func headerColumns(_ isWhole: Bool) -> [String] {
        isWhole ? ["_id", "_version"] + (hasEntityColumn ? ["_entity"] : []) : ["_id"]
    }

    private func unknown(_ columns: [String]) -> String {
        "\(RowCollector.testName)(\(columns.joined(separator: ", ")))"
    }

    private static func calls(_ columns: [String]) -> String {
        stride(from: 0, to: columns.count, by: argumentLimit).map { start in
            let part = columns[start..<min(start + argumentLimit, columns.count)]
            return "\(RowCollector.functionName)(\(part.joined(separator: ", ")))"
        }.joined(separator: ", ")
    }

    func mismatch(_ key: Int64, _ entityIndex: Int, _ field: Field, _ type: Int32) -> StoreError {
        let entity = model.entities[entityIndex]
        let slot = entity.slots[field.slot]
        let found =
            switch type {
            case SQLITE_INTEGER: "an integer"
            case SQLITE_FLOAT: "a real number"
            case SQLITE_TEXT: "text"
            default: "a blob"
            }
        return .invalidData(
            entity: entity.name, property: slot.name, key: key,
            reason: "the column holds \(found) that is not a valid \(slot.type?.name ?? "key")")
    }

    /// The error for a row with an invalid key or version.
    func unsoundHeader(_ key: Int64) -> StoreError {
        let isKey = Self.keys.contains(key)
        return .invalidData(
            entity: model.entities[shapes[0].entityIndex].rootName, property: isKey ? "_version" : "_id", key: key,
            reason: isKey
                ? "the column must hold a whole number from 0 to \(Self.versions.upperBound)"
                : "keys are whole numbers from 1 on; give the row another key, or delete it")
    }

    /// The shape of a row by the name in its entity column.
    @inline(__always)
    func shape(named name: UnsafeRawBufferPointer, key: Int64) throws(StoreError) -> Shape {
        for shape in shapes where name.elementsEqual(shape.entityName) { return shape }
        throw unknownEntity(String(decoding: name, as: UTF8.self), key: key)
    }

    private func unknownEntity(_ name: String, key: Int64) -> StoreError {
        .invalidData(
            entity: model.entities[shapes[0].entityIndex].rootName, property: "_entity", key: key,
            reason: "\"\(name)\" is not an entity of the model that belongs here")
    }
}
