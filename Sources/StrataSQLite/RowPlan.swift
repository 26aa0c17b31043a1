import CSQLite
import Foundation
import StrataStore

/// Which columns a `SELECT` of an entity's rows has, and how they become packed rows.
///
/// The rows go through one aggregate function of the store, `strata_collect`, instead of coming back one at a time:
/// SQLite hands it all columns of a row in a single call, where a step loop makes one call for each of them.
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
        let fields: [Field]

        init(entityIndex: Int, slotCount: Int, entityName: String, fields: [Field]) {
            self.entityIndex = entityIndex
            self.slotCount = slotCount
            self.entityName = Array(entityName.utf8)
            self.fields = fields
        }
    }

    let model: ManagedObjectModel
    let hasEntityColumn: Bool
    let shapes: [Shape]
    let columnCount: Int
    /// What stands between the inner `SELECT` and its `FROM`; the table has the alias `t0`.
    private let columns: String
    private let calls: String

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
        columns = list.enumerated().map { "\($1) AS c\($0)" }.joined(separator: ", ")
        let names = list.indices.map { "c\($0)" }
        calls = stride(from: 0, to: names.count, by: Self.argumentLimit).map { start in
            let part = names[start..<min(start + Self.argumentLimit, names.count)]
            return "\(RowCollector.functionName)(\(part.joined(separator: ", ")))"
        }.joined(separator: ", ")
    }

    /// The statement that packs all rows of a `FROM` clause and what follows it.
    ///
    /// The order of the inner `SELECT` is that of the calls: SQLite keeps the order of a subquery for aggregate
    /// functions that it does not know to be indifferent to it.
    func select(_ tail: String) -> String { "SELECT \(calls) FROM (SELECT \(columns)\(tail))" }

    func mismatch(_ key: Int64, _ shape: Shape, _ field: Field, _ type: Int32) -> StoreError {
        let entity = model.entities[shape.entityIndex]
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
            reason: "the column holds \(found) that is no \(slot.type?.name ?? "key")")
    }

    func unknownEntity(_ name: String, key: Int64) -> StoreError {
        .invalidData(
            entity: model.entities[shapes[0].entityIndex].rootName, property: "_entity", key: key,
            reason: "\"\(name)\" is no entity of the model that belongs here")
    }
}
