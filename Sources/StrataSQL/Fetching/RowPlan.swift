import Foundation
import StrataStore

/// Which columns a `SELECT` of an entity's rows has, and how they become packed rows.
package final class RowPlan: Sendable {
    /// One slot and the column it is read from.
    package struct Field: Sendable {
        package let slot: Int
        package let column: Int
        package let storage: SlotStorage
        package let allowsExternal: Bool
    }

    /// The fields of an entity whose rows may come, in the order of their columns.
    package final class Shape: Sendable {
        package let entityIndex: Int
        package let slotCount: Int
        package let entityName: [UInt8]
        // A copy in memory of its own, written once, so that a row reads it without counting references. Sound because
        // it lives as long as the shape, which the plan keeps for as long as anything collects by it.
        package nonisolated(unsafe) let fields: UnsafeBufferPointer<Field>

        package init(entityIndex: Int, slotCount: Int, entityName: String, fields: [Field]) {
            self.entityIndex = entityIndex
            self.slotCount = slotCount
            self.entityName = Array(entityName.utf8)
            let copy = UnsafeMutableBufferPointer<Field>.allocate(capacity: fields.count)
            _ = copy.initialize(from: fields)
            self.fields = UnsafeBufferPointer(copy)
        }

        deinit { fields.deallocate() }
    }

    package let model: ManagedObjectModel
    package let hasEntityColumn: Bool
    package let shapes: [Shape]
    package let columnCount: Int
    package let table: String
    /// The columns of the table, which has the alias `t0`.
    package let columns: [String]

    /// The keys that rows may have.
    @inlinable package static var keys: ClosedRange<Int64> { 1...Int64.max }
    /// The versions that rows may have. The upper half is out of reach by counting; a number there is not a version.
    @inlinable package static var versions: ClosedRange<Int64> { 0...Int64.max / 2 }

    /// Plans the rows of an entity and of those that inherit from it.
    package init(layout: StoreLayout, entityIndex: Int) throws(StoreError) {
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

    /// The error for a row with an invalid key or version.
    package func unsoundHeader(_ key: Int64) -> StoreError {
        let isKey = Self.keys.contains(key)
        return .invalidData(
            entity: model.entities[shapes[0].entityIndex].rootName, property: isKey ? "_version" : "_id", key: key,
            reason: isKey
                ? "the column must hold a whole number from 0 to \(Self.versions.upperBound)"
                : "keys are whole numbers from 1 on; give the row another key, or delete it")
    }

    /// The shape of a row by the name in its entity column.
    @inlinable @inline(__always)
    package func shape(named name: UnsafeRawBufferPointer, key: Int64) throws(StoreError) -> Shape {
        for shape in shapes where name.elementsEqual(shape.entityName) { return shape }
        throw unknownEntity(String(decoding: name, as: UTF8.self), key: key)
    }

    @usableFromInline func unknownEntity(_ name: String, key: Int64) -> StoreError {
        .invalidData(
            entity: model.entities[shapes[0].entityIndex].rootName, property: "_entity", key: key,
            reason: "\"\(name)\" is not an entity of the model that belongs here")
    }
}
