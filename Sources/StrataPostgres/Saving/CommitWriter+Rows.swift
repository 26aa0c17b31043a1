#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    extension CommitWriter {
        /// From so many new rows of an entity on, they are copied instead of inserted.
        private static let manyRows = 200
        /// About how many bytes are sent at a time.
        private static let chunk = 256 * 1024
        /// Statements for more sets of slots than these are not kept: a commit may have one for each object.
        private static let keptGroups = 32

        // MARK: Inserts

        func writeInserts() throws {
            for (entityIndex, inserts) in Self.grouped(changes.inserts, by: { $0.row.entityIndex }) {
                let plan = store.plans[entityIndex]
                let rows = inserts.map(\.row)
                let placed = placements(of: rows, plan.fields, plan)
                if rows.count < Self.manyRows, places.isEmpty {
                    try insert(rows, placed, plan)
                } else {
                    try copy(rows, placed, plan)
                }
            }
        }

        /// For each field whose values may be kept apart, the placements of the rows' values.
        private func placements(
            of rows: [RowReference], _ fields: [EntityPlan.Field], _ plan: EntityPlan
        ) -> [Int: [Placement]] {
            var result: [Int: [Placement]] = [:]
            for field in fields where field.externalColumn != nil {
                result[field.slot] = rows.map { place($0.row, field.slot, plan) }
            }
            return result
        }

        private func columns(_ plan: EntityPlan) -> [String] {
            ["\"_id\"", "\"_version\""] + (plan.hasEntityColumn ? ["\"_entity\""] : [])
                + plan.fields.flatMap { [$0.column] + ($0.externalColumn.map { [$0] } ?? []) }
        }

        private func insert(_ rows: [RowReference], _ placed: [Int: [Placement]], _ plan: EntityPlan) throws {
            var parameters = StatementParameters()
            parameters.add(rows.map(\.key))
            parameters.add(rows.map { max(1, $0.version) })
            try add(plan.fields, of: rows, placed, plan, to: &parameters)
            for row in rows { noteRounding(of: row, plan, slots: nil) }
            let types = ["bigint", "bigint"] + arrayTypes(of: plan.fields)
            let arrays = types.enumerated().map { "$\($0 + 1)::\($1)[]" }.joined(separator: ", ")
            let names = types.indices.map { "c\($0)" }
            let values =
                names[..<2] + (plan.hasEntityColumn ? [Identifiers.literal(plan.entityName)] : []) + names[2...]
            try connection.execute(
                """
                INSERT INTO \(plan.table)(\(columns(plan).joined(separator: ", "))) \
                SELECT \(values.joined(separator: ", ")) FROM unnest(\(arrays)) AS v(\(names.joined(separator: ", ")))
                """, parameters)
        }

        private func arrayTypes(of fields: [EntityPlan.Field]) -> [String] {
            fields.flatMap { [$0.type.name] + ($0.externalColumn == nil ? [] : ["text"]) }
        }

        /// Adds an array for each field, and one for the names of values that are kept apart.
        private func add(
            _ fields: [EntityPlan.Field], of rows: [RowReference], _ placed: [Int: [Placement]], _ plan: EntityPlan,
            to parameters: inout StatementParameters
        ) throws(StoreError) {
            for field in fields {
                let places = placed[field.slot]
                try parameters.addArray(of: field.type, count: rows.count) { (writer) throws(StoreError) in
                    for (index, reference) in rows.enumerated() {
                        if let places, case .apart = places[index] {
                            writer.appendNull()
                        } else {
                            try write(reference.row, field.slot, field.storage, plan, to: &writer)
                        }
                    }
                }
                guard let places else { continue }
                parameters.addArray(of: .text, count: rows.count) { writer in
                    for place in places { Self.write(place, to: &writer) }
                }
            }
        }

        private static func write(_ place: Placement, to writer: inout ByteWriter) {
            switch place {
            case .inRow: writer.appendNull()
            case .apart(let name): writer.appendSized { $0.append(name) }
            }
        }

        private func copy(_ rows: [RowReference], _ placed: [Int: [Placement]], _ plan: EntityPlan) throws {
            let columns = columns(plan) + places.map(\.column)
            let sql = "COPY \(plan.table)(\(columns.joined(separator: ", "))) FROM STDIN (FORMAT binary)"
            // Without the names of the columns, which would be counted up and down for each value.
            let fields = plan.fields.map { (slot: $0.slot, storage: $0.storage, places: placed[$0.slot]) }
            var next = 0
            let fault: StoreError? = try connection.copy(sql) { (writer) throws(StoreError) in
                while next < rows.count, writer.count < Self.chunk {
                    let row = rows[next].row
                    writer.append(Int16(columns.count))
                    writer.append(Int32(8))
                    writer.append(row.key)
                    writer.append(Int32(8))
                    writer.append(max(1, row.version))
                    if plan.hasEntityColumn { writer.appendSized { $0.append(plan.entityName) } }
                    for (slot, storage, slotPlaces) in fields {
                        guard let place = slotPlaces?[next] else {
                            try write(row, slot, storage, plan, to: &writer)
                            continue
                        }
                        if case .apart = place {
                            writer.appendNull()
                        } else {
                            try write(row, slot, storage, plan, to: &writer)
                        }
                        Self.write(place, to: &writer)
                    }
                    for (_, places) in places { writer.appendOptional(places[row.key]) }
                    // While the server works.
                    noteRounding(of: rows[next], plan, slots: nil)
                    next += 1
                }
                return next < rows.count
            }
            if let fault { throw fault }
        }

        // MARK: Updates

        private struct UpdateGroup: Hashable {
            let entityIndex: Int
            let slots: SlotSet
        }

        func writeUpdates() throws {
            let groups = Self.grouped(changes.updates) {
                UpdateGroup(entityIndex: $0.row.entityIndex, slots: $0.slots)
            }
            for (index, group) in groups.enumerated() {
                // A second update of a row is made to what the first one left.
                var rest = group.elements
                while !rest.isEmpty {
                    var seen: Set<Int64> = []
                    var later: [ChangeSet.Update] = []
                    var now: [ChangeSet.Update] = []
                    for update in rest {
                        if seen.insert(update.row.key).inserted { now.append(update) } else { later.append(update) }
                    }
                    try write(now, group.key, isKept: index < Self.keptGroups)
                    rest = later
                }
            }
        }

        private func write(_ updates: [ChangeSet.Update], _ group: UpdateGroup, isKept: Bool) throws {
            let plan = store.plans[group.entityIndex]
            let fields = plan.fields.filter { group.slots.contains($0.slot) }
            let rows = updates.map(\.row)
            let externals = fields.compactMap(\.externalColumn)
            if !externals.isEmpty {
                var keys = StatementParameters()
                keys.add(rows.map(\.key))
                noteFormerBlobs(
                    try connection.execute(
                        "SELECT \(externals.joined(separator: ", ")) FROM \(plan.table) WHERE \"_id\" = ANY($1) FOR UPDATE",
                        keys), from: 0)
            }
            var parameters = StatementParameters()
            parameters.add(rows.map(\.key))
            parameters.add(rows.map(\.version))
            parameters.add(updates.map(\.baseVersion))
            try add(fields, of: rows, placements(of: rows, fields, plan), plan, to: &parameters)
            let types = ["bigint", "bigint", "bigint"] + arrayTypes(of: fields)
            let arrays = types.enumerated().map { "$\($0 + 1)::\($1)[]" }.joined(separator: ", ")
            let names = types.indices.map { "c\($0)" }
            let targets = fields.flatMap { [$0.column] + ($0.externalColumn.map { [$0] } ?? []) }
            var assignments = zip(targets, names.dropFirst(3)).map { "\($0) = v.\($1)" }
            assignments += fields.compactMap { field in field.orderColumn.map { "\($0) = NULL" } }
            assignments.append("\"_version\" = v.c1")
            let result = try connection.execute(
                """
                UPDATE \(plan.table) AS t0 SET \(assignments.joined(separator: ", ")) \
                FROM unnest(\(arrays)) AS v(\(names.joined(separator: ", "))) \
                WHERE t0."_id" = v.c0 AND t0."_version" = v.c2
                """, parameters, isKept: isKept)
            if result.affectedRows < updates.count { hasConflict = true }
            for update in updates { noteRounding(of: update.row, plan, slots: group.slots) }
        }
    }
#endif
