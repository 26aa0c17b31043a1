import CSQLite
import Foundation
import StrataStore

/// Which columns a `SELECT` of an entity's rows has, and how they become packed rows.
struct RowPlan: Sendable {
    /// One slot and the column it is read from.
    struct Field: Sendable {
        let slot: Int
        let column: Int32
        let storage: SlotStorage
        let allowsExternal: Bool
    }

    /// The fields of an entity whose rows may come.
    struct Shape: Sendable {
        let entityIndex: Int
        let slotCount: Int
        let entityName: [UInt8]
        let fields: [Field]
    }

    let model: ManagedObjectModel
    /// What stands between `SELECT` and `FROM`; the table has the alias `t0`.
    let columns: String
    let hasEntityColumn: Bool
    let shapes: [Shape]

    /// Plans the rows of an entity and of those that inherit from it.
    init(layout: StoreLayout, entityIndex: Int) throws(StoreError) {
        let model = layout.model
        let table = layout.table(entityIndex)
        let expressions = SlotExpression(layout: layout)
        var list = ["t0._id", "t0._version"]
        if table.hasEntityColumn { list.append("t0._entity") }
        var positions: [String: Int32] = [:]
        var shapes: [Shape] = []
        for index in model.entities[entityIndex].descendantIndexes where !model.entities[index].isAbstract {
            let entity = model.entities[index]
            var fields: [Field] = []
            for slot in entity.slots where !slot.isTransient {
                let sql = try expressions.sql(entity, slot, alias: "t0")
                let position = positions[sql] ?? Int32(list.count)
                if positions[sql] == nil {
                    positions[sql] = position
                    list.append(sql)
                }
                fields.append(
                    Field(
                        slot: slot.index, column: position, storage: slot.storage,
                        allowsExternal: layout.column(index, slot.index)?.allowsExternal ?? false))
            }
            shapes.append(
                Shape(
                    entityIndex: index, slotCount: entity.slots.count, entityName: Array(entity.name.utf8),
                    fields: fields))
        }
        self.model = model
        self.columns = list.joined(separator: ", ")
        self.hasEntityColumn = table.hasEntityColumn
        self.shapes = shapes
    }

    /// Steps through all rows of a statement that selects ``columns`` and packs them.
    func readAll(_ statement: Statement, into builder: inout RowBatchBuilder) throws(StoreError) {
        guard !shapes.isEmpty else { return }
        var current = 0
        while try statement.step() {
            do throws(StoreError) {
                if hasEntityColumn { current = try shape(of: statement, guess: current) }
                try read(statement, shapes[current], into: &builder)
            } catch {
                statement.reset()
                throw error
            }
        }
    }

    private func shape(of statement: Statement, guess: Int) throws(StoreError) -> Int {
        let name = statement.textBytes(2)
        if name.elementsEqual(shapes[guess].entityName) { return guess }
        if let index = shapes.firstIndex(where: { name.elementsEqual($0.entityName) }) { return index }
        throw .invalidData(
            entity: model.entities[shapes[0].entityIndex].rootName, property: "_entity", key: statement.integer(0),
            reason: "\"\(statement.text(2))\" is no entity of the model that belongs here")
    }

    @inline(__always)
    private func read(_ statement: Statement, _ shape: Shape, into builder: inout RowBatchBuilder) throws(StoreError) {
        builder.beginRow(
            entityIndex: shape.entityIndex, slotCount: shape.slotCount, key: statement.integer(0),
            version: statement.integer(1))
        for field in shape.fields {
            let type = statement.type(field.column)
            if type == SQLITE_NULL { continue }
            switch field.storage {
            case .integer, .key:
                guard type == SQLITE_INTEGER else { throw mismatch(statement, shape, field, type) }
                builder.setInteger(statement.integer(field.column), slot: field.slot)
            case .boolean:
                guard type == SQLITE_INTEGER else { throw mismatch(statement, shape, field, type) }
                builder.setWord(statement.integer(field.column) != 0 ? 1 : 0, slot: field.slot)
            case .double, .date:
                guard type == SQLITE_FLOAT || type == SQLITE_INTEGER else {
                    throw mismatch(statement, shape, field, type)
                }
                builder.setDouble(statement.double(field.column), slot: field.slot)
            case .text:
                guard type == SQLITE_TEXT else { throw mismatch(statement, shape, field, type) }
                builder.setBytes(statement.textBytes(field.column), slot: field.slot)
            case .decimal:
                // Somebody who edits with a shell writes numbers; their text is the same decimal.
                let bytes = statement.textBytes(field.column)
                guard type != SQLITE_BLOB, SQLFunctions.looksDecimal(bytes) else {
                    throw mismatch(statement, shape, field, type)
                }
                builder.setBytes(bytes, slot: field.slot)
            case .bytes:
                if type == SQLITE_TEXT, field.allowsExternal {
                    builder.setBytes(statement.textBytes(field.column), slot: field.slot, external: true)
                } else {
                    guard type == SQLITE_BLOB else { throw mismatch(statement, shape, field, type) }
                    builder.setBytes(statement.blobBytes(field.column), slot: field.slot)
                }
            case .uuid, .geoPoint:
                let bytes = statement.blobBytes(field.column)
                guard type == SQLITE_BLOB, bytes.count == 16 else { throw mismatch(statement, shape, field, type) }
                builder.setBytes(bytes, slot: field.slot)
            }
        }
        builder.endRow()
    }

    private func mismatch(_ statement: Statement, _ shape: Shape, _ field: Field, _ type: Int32) -> StoreError {
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
            entity: entity.name, property: slot.name, key: statement.integer(0),
            reason: "the column holds \(found) that is no \(slot.type?.name ?? "key")")
    }
}

extension SQLFunctions {
    /// Whether text is a plain decimal number, or one with an exponent.
    static func looksDecimal(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var digits = false
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case 48...57: digits = true
            case UInt8(ascii: "-"), UInt8(ascii: "+"):
                guard index == 0 || bytes[index - 1] | 32 == UInt8(ascii: "e") else { return false }
            case UInt8(ascii: "."): break
            case UInt8(ascii: "e"), UInt8(ascii: "E"): guard digits else { return false }
            default: return bytes.elementsEqual("NaN".utf8)
            }
        }
        return digits
    }
}
