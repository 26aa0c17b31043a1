import Foundation
import StrataStore
import StrataTesting

extension BrokenStore {
    /// The plan as a store with the defect understands it.
    func changed(_ plan: FetchPlan) -> FetchPlan {
        var plan = plan
        switch defect {
        case .noCondition: plan.predicate = nil
        case .noOrder: plan.sorts = []
        case .noLimit: plan.limit = nil
        case .noOffset: plan.offset = 0
        case .limitBeforeOffset:
            if let limit = plan.limit { plan.limit = max(0, limit - plan.offset) }
        case .caseBlind:
            if let predicate = plan.predicate, predicate.description.contains("lima") {
                plan.predicate = try? FetchPredicate(format: "name ==[c] 'lima'")
            }
        case .nilIsNotUnequal:
            if let predicate = plan.predicate, predicate.description.contains("!= 5") {
                plan.predicate = (try? FetchPredicate(format: "large != nil")).map { predicate && $0 }
            }
        case .noSubentities: plan.includesSubentities = false
        case .onlySubentities: plan.includesSubentities = true
        default: break
        }
        return plan
    }

    /// What the defect does to the order of an answer.
    func order(_ plan: FetchPlan) -> ([RowReference]) -> [RowReference] {
        let entity = model.entities[plan.entityIndex]
        let slots = plan.sorts.compactMap { entity.slot(named: $0.expression.description) }
        switch defect {
        case .nilLast:
            return { rows in
                guard let slot = slots.first, plan.sorts[0].ascending else { return rows }
                return rows.filter { !$0.value(slot).isNull } + rows.filter { $0.value(slot).isNull }
            }
        case .tiesBackwards:
            return { rows in
                var groups: [[RowReference]] = []
                for row in rows {
                    let isTied = groups.last?.last.map { last in slots.allSatisfy { last.value($0) == row.value($0) } }
                    if isTied == true, !slots.isEmpty {
                        groups[groups.count - 1].append(row)
                    } else {
                        groups.append([row])
                    }
                }
                return groups.flatMap { $0.reversed() }
            }
        default: return { $0 }
        }
    }

    /// The rows as a store with the defect would give them.
    func rebuilt(_ batch: RowBatch, order: ([RowReference]) -> [RowReference] = { $0 }) -> RowBatch {
        let rows = order(batch.rows)
        guard batch.rows.allSatisfy({ !$0.isHeaderOnly }) else { return batch }
        var builder = RowBatchBuilder()
        for row in rows {
            let entity = model.entities[row.entityIndex]
            builder.beginRow(
                entityIndex: row.entityIndex, slotCount: entity.slots.count, key: row.key,
                version: defect == .versionsStandStill ? 1 : row.version)
            for slot in entity.slots { builder.setValue(spoilt(row.value(slot), slot), slot: slot) }
            builder.endRow()
        }
        return builder.finish()
    }

    private func spoilt(_ value: Value, _ slot: SlotDescription) -> Value {
        switch (defect, value) {
        case (.datesInWholeSeconds, .date(let date)):
            .date(Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded()))
        case (.smallIntegers, .integer(let number)): .integer(Int64(Int32(truncatingIfNeeded: number)))
        case (.roundedDoubles, .double(let number)): .double(Double(Float(number)))
        case (.normalizedTexts, .string(let text)): .string(text.precomposedStringWithCanonicalMapping)
        case (.emptyTextsAreNil, .string("")): .null
        case (.nilNumbersAreZero, .null) where slot.storage == .integer: .integer(0)
        case (.falseIsNil, .boolean(false)): .null
        case (.decimalsAsDoubles, .decimal(let number)): .decimal(Decimal(NSDecimalNumber(decimal: number).doubleValue))
        case (.bytesEndAtZero, .binary(let data)): .binary(Data(data.prefix { $0 != 0 }))
        case (.uuidsInOtherOrder, .uuid(let id)):
            withUnsafeBytes(of: id.uuid) { bytes in
                UUID(
                    uuidString: UUID(
                        uuid: (
                            bytes[3], bytes[2], bytes[1], bytes[0], bytes[5], bytes[4], bytes[7], bytes[6], bytes[8],
                            bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
                        )
                    ).uuidString)
            }.map { .uuid($0) } ?? .null
        case (.urisWithoutFragment, .uri(let url)):
            URL(string: String(url.absoluteString.prefix { $0 != "#" })).map { .uri($0) } ?? .null
        case (.swappedPositions, .geoPoint(let point)):
            .geoPoint(GeoPoint(latitude: point.longitude, longitude: point.latitude))
        default: value
        }
    }
}

extension ChangeSet {
    /// The change set made to whatever version the store has.
    func withoutVersions(_ store: SQLiteStore) throws(StoreError) -> ChangeSet {
        var result = self
        result.deletes = deletes.map { Delete(entityIndex: $0.entityIndex, key: $0.key, baseVersion: nil) }
        result.updates = []
        for update in updates {
            let now = try store.rows(entityIndex: update.row.entityIndex, keys: [update.row.key])
            guard let row = now.rows.first else { continue }
            let slots = store.model.entities[row.entityIndex].slots
            var builder = RowBatchBuilder()
            builder.beginRow(entity: store.model.entities[row.entityIndex], key: row.key, version: row.version + 1)
            for slot in slots { builder.setValue(update.row.value(slot), slot: slot) }
            builder.endRow()
            result.updates.append(
                Update(row: builder.finish()[0], slots: update.slots, baseVersion: row.version))
        }
        return result
    }
}

extension ChangeSet.PairChange {
    func changing(added: [Int64]? = nil, removed: [Int64]? = nil) -> ChangeSet.PairChange {
        .init(
            entityIndex: entityIndex, relationshipIndex: relationshipIndex, owner: owner, added: added ?? self.added,
            removed: removed ?? self.removed)
    }
}

extension ChangeSet.OrderChange {
    /// The order the other way round.
    var reversed: ChangeSet.OrderChange {
        let kind: Kind =
            switch kind {
            case .append(let keys): .arrange(keys.reversed())
            case .arrange(let keys): .arrange(keys.reversed())
            }
        return .init(entityIndex: entityIndex, relationshipIndex: relationshipIndex, owner: owner, kind: kind)
    }
}
