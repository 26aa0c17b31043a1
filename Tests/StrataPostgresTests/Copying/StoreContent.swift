#if Postgres
    import Foundation
    import StrataStore

    /// Everything that is in a store, read through its public interface, to compare stores of different kinds.
    struct StoreContent: Equatable {
        /// By entity and key the version and the values.
        var rows: [String: [Int64: [String: String]]] = [:]
        /// By relationship and owner the members in their order.
        var members: [String: [Int64: [Int64]]] = [:]

        init(_ store: any PersistentStore) throws {
            let model = store.model
            for entity in model.entities where entity.parentIndex == nil {
                for row in try store.fetch(FetchPlan(entityIndex: entity.index)).rows {
                    let own = model.entities[row.entityIndex]
                    var values = ["_version": "\(row.version)"]
                    for slot in own.slots where !slot.isTransient {
                        values[slot.name] = try Self.text(row, slot, store)
                    }
                    rows[own.name, default: [:]][row.key] = values
                }
            }
            for entity in model.entities {
                let keys = rows.filter { model.entity(named: $0.key)?.isKind(of: entity) == true }.flatMap(\.value.keys)
                for relationship in entity.relationships where relationship.isToMany {
                    for pair in try store.memberKeys(
                        entityIndex: entity.index, relationshipIndex: relationship.index, owners: keys.sorted())
                    {
                        members["\(entity.name).\(relationship.name)", default: [:]][pair.owner, default: []].append(
                            pair.member)
                    }
                }
            }
        }

        private static func text(
            _ row: RowReference, _ slot: SlotDescription, _ store: any PersistentStore
        ) throws -> String {
            var value = row.value(slot)
            if slot.storage == .bytes, row.isExternal(slot), case .binary(let name) = value {
                value = .binary(try store.externalData(named: String(decoding: name, as: UTF8.self)))
            }
            if case .date(let date) = value {
                return "\(TimestampCoding.microseconds(date.timeIntervalSinceReferenceDate) ?? 0) microseconds"
            }
            // Sums of doubles depend on the order in which they are added.
            if slot.derivation != nil, case .double(let number) = value { return String(format: "%.9g", number) }
            if case .binary(let data) = value { return "\(data.count) bytes, \(data.hashValue)" }
            return "\(value)"
        }
    }
#endif
