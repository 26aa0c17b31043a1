#if Postgres
    import StrataSQL
    import StrataStore

    /// How the rows of an entity are written and read. A class, because every statement asks for one.
    final class EntityPlan: Sendable {
        /// A stored slot.
        struct Field: Sendable {
            let slot: Int
            let storage: SlotStorage
            let type: PostgresType
            let column: String
            /// The column with the name of a value that is kept apart; nil if the attribute does not allow that.
            let externalColumn: String?
            /// The column with the place in an ordered relationship, which a move to another owner makes meaningless.
            let orderColumn: String?
        }

        /// Where a slot is in the rows of an answer.
        struct Source: Sendable {
            let slot: Int
            let storage: SlotStorage
            let column: Int
            let externalColumn: Int?
        }

        /// An entity whose rows may come.
        struct Shape: Sendable {
            let entityIndex: Int
            let slotCount: Int
            let name: [UInt8]
            let sources: [Source]
        }

        /// A unique constraint: its slots, and which rows it is about.
        struct Unique: Sendable {
            let slots: [Int]
            let fields: [Field]
            let condition: String?
        }

        let entityIndex: Int
        let entityName: String
        let rootIndex: Int
        let table: String
        let hasEntityColumn: Bool
        let fields: [Field]
        /// The slots with dates.
        let dateSlots: [Int]
        let uniques: [Unique]
        let shapes: [Shape]
        /// The columns of a `SELECT`, from the table under the name `t0`.
        let columns: String
        /// What keeps the rows of the entity, and of those that inherit from it, apart from others.
        let condition: String?

        var hasExternals: Bool { fields.contains { $0.externalColumn != nil } }

        init(layout: StoreLayout, entity: EntityDescription) throws(StoreError) {
            let model = layout.model
            let table = layout.table(entity.index)
            entityIndex = entity.index
            entityName = entity.name
            rootIndex = entity.rootIndex
            self.table = table.quoted
            hasEntityColumn = table.hasEntityColumn
            let fields = Self.fields(of: entity, layout: layout)
            self.fields = fields
            dateSlots = fields.filter { $0.storage == .date }.map(\.slot)
            uniques = entity.uniqueConstraints.compactMap { slots in
                let parts = slots.compactMap { slot in fields.first { $0.slot == slot } }
                guard !parts.isEmpty, parts.count == slots.count else { return nil }
                let declaring = model.entity(declaringUnique: slots, of: entity)
                let condition =
                    declaring.parentIndex == nil
                    ? nil : layout.entityCondition(declaring.index, subentities: true, alias: nil)
                return Unique(slots: slots, fields: parts, condition: condition)
            }
            condition = layout.entityCondition(entity.index, subentities: true, alias: "t0")

            var list = ["t0.\"_id\"", "t0.\"_version\""]
            if table.hasEntityColumn { list.append("t0.\"_entity\"") }
            var positions: [String: Int] = [:]
            func position(_ sql: String) -> Int {
                if let known = positions[sql] { return known }
                positions[sql] = list.count
                list.append(sql)
                return list.count - 1
            }
            let expressions = SlotExpression(layout: layout)
            var shapes: [Shape] = []
            for index in entity.descendantIndexes where !model.entities[index].isAbstract {
                let other = model.entities[index]
                var sources: [Source] = []
                for slot in other.slots where !slot.isTransient {
                    let sql = try expressions.sql(other, slot, alias: "t0")
                    let isExternal = layout.column(index, slot.index)?.allowsExternal == true
                    sources.append(
                        Source(
                            slot: slot.index, storage: slot.storage, column: position(sql),
                            externalColumn: isExternal
                                ? layout.column(index, slot.index).map {
                                    position("t0." + PostgresSchema.externalColumn(of: $0))
                                } : nil))
                }
                shapes.append(
                    Shape(
                        entityIndex: index, slotCount: other.slots.count, name: Array(other.name.utf8), sources: sources
                    ))
            }
            self.shapes = shapes
            columns = list.joined(separator: ", ")
        }

        private static func fields(of entity: EntityDescription, layout: StoreLayout) -> [Field] {
            let orders = layout.orderColumns(of: entity)
            return entity.slots.compactMap { slot in
                guard let column = layout.column(entity.index, slot.index) else { return nil }
                return Field(
                    slot: slot.index, storage: slot.storage,
                    type: slot.storage.postgresType(isJSON: slot.type?.isJSON == true), column: column.quoted,
                    externalColumn: column.allowsExternal ? PostgresSchema.externalColumn(of: column) : nil,
                    orderColumn: orders[slot.index])
            }
        }
    }
#endif
