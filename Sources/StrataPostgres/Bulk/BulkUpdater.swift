#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    /// Sets properties of all objects that a plan selects. Their rows are read, and those that are different afterwards are
    /// written by one statement; rows that have the values already keep their version.
    struct BulkUpdater {
        let store: PostgresStore
        let connection: PostgresConnection
        let update: BulkUpdate

        private var entity: EntityDescription { store.model.entities[update.fetch.entityIndex] }

        func run() throws -> BulkResult {
            for slot in update.slots where !entity.slots[slot].isStored {
                throw StoreError.unsupported(
                    store: "PostgreSQL",
                    feature: "a bulk update of \(entity.name).\(entity.slots[slot].name), which is not stored")
            }
            let reader = ResidualReader(store: store, connection: connection)
            let sources = try store.sources(of: update.fetch, reader, on: connection)
            let environment = update.fetch.environment ?? EvaluationEnvironment()
            var changes = ChangeSet()
            var previous: [RowReference] = []
            var faults = BulkFaults(entity: entity)
            let slots = SlotSet(update.slots)
            for source in sources {
                let slab = try changed(source, environment, &faults)
                if let failure = reader.failure { throw failure }
                guard let slab else { continue }
                let old = source.reference
                RowEditing.setVersion(old.version + 1, in: slab)
                changes.updates.append(
                    .init(row: RowReference(slab: slab, row: slab.row), slots: slots, baseVersion: old.version))
                previous.append(old)
            }
            try faults.report()
            let writer = CommitWriter(store: store, connection: connection, changes: changes)
            try writer.write()
            guard !writer.hasConflict else {
                throw PostgresError(sqlState: "40001", message: "others changed the objects")
            }
            let keys = changes.updates.map(\.row.key)
            let root = entity.rootIndex
            guard keys.count <= BulkResult.mostRows else {
                return BulkResult(count: keys.count, change: nil, keys: [root: keys])
            }
            // The rows as they are now: with rounded dates and derived values.
            var now: [Int64: RowReference] = [:]
            for row in try store.rows(entityIndex: entity.index, keys: keys, on: connection).rows { now[row.key] = row }
            changes.updates = changes.updates.map { update in
                .init(row: now[update.row.key] ?? update.row, slots: slots, baseVersion: update.baseVersion)
            }
            return BulkResult(
                count: keys.count,
                change: StoreChange(
                    changes: changes, effects: CommitEffects(), previousRows: previous, deletedRows: []),
                keys: [root: keys])
        }

        /// The row with the new values; nil if it has them already, or cannot have them.
        private func changed(
            _ source: RowObject, _ environment: EvaluationEnvironment, _ faults: inout BulkFaults
        ) throws -> RowSlab? {
            let old = source.reference
            let own = store.model.entities[old.entityIndex]
            var slab = RowSlab.copy(of: old.row)
            for index in update.slots {
                let slot = own.slots[index]
                switch update.assignments[index] {
                case .expression(let expression):
                    var value: Value
                    do throws(PredicateEvaluationError) {
                        value = try expression.evaluate(on: source, environment: environment)
                    } catch {
                        throw StoreError.invalidPredicate(error)
                    }
                    // Numbers become those of the attribute's kind.
                    if case .double(let number) = value, slot.storage == .integer, let whole = Int64(exactly: number) {
                        value = .integer(whole)
                    }
                    guard RowEditing.setValue(value, slot, layout: own.slots, in: &slab) else {
                        faults.note(
                            slot, "type", "with \(value), which is not a value of type \(slot.type?.name ?? "key")",
                            old.key)
                        continue
                    }
                case .constant, nil:
                    RowEditing.copySlot(index, layout: own.slots, from: update.constants.row, to: &slab)
                }
                if slab.row.value(slot).isNull, !slot.isOptional, slot.derivation == nil {
                    faults.note(slot, "missing", "without a value", old.key)
                }
                faults.check(slab.row, slot, update)
            }
            let isSame = update.slots.allSatisfy { index in
                slab.row.hasSameValue(as: old.row, slot: index, storage: own.slots[index].storage)
            }
            return isSame ? nil : slab
        }
    }
#endif
