#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    /// Reads what conditions look at in memory: the objects that relationships lead to, for all objects of a fetch at once, in
    /// the snapshot of its transaction.
    final class ResidualReader {
        private let store: PostgresStore
        private let connection: PostgresConnection
        private var rows: [Int: [Int64: RowReference]] = [:]
        /// The keys that were looked for, by the topmost entity of their hierarchy.
        private var asked: [Int: Set<Int64>] = [:]
        private var members: [RelationshipKey: [Int64: [Int64]]] = [:]
        private var blobs: [String: Data] = [:]
        /// Why something could not be read. Evaluation goes on with nil, and its result is not used.
        private(set) var failure: StoreError?

        init(store: PostgresStore, connection: PostgresConnection) {
            self.store = store
            self.connection = connection
        }

        var model: ManagedObjectModel { store.model }

        /// Takes rows that have been read.
        func add(_ batch: RowBatch) -> [RowObject] {
            batch.rows.map { row in
                let root = model.entities[row.entityIndex].rootIndex
                rows[root, default: [:]][row.key] = row
                asked[root, default: []].insert(row.key)
                return RowObject(reader: self, reference: row)
            }
        }

        private func attempt<T>(_ fallback: T, _ body: () throws -> T) -> T {
            if failure != nil { return fallback }
            do {
                return try body()
            } catch let error as PostgresError {
                failure = store.storeError(error)
            } catch let error as StoreError {
                failure = error
            } catch {
                failure = .io(path: store.name, code: 0, reason: "\(error)")
            }
            return fallback
        }

        private func load(_ keys: [Int64], _ destination: EntityDescription) {
            let missing = keys.filter { asked[destination.rootIndex]?.contains($0) != true }
            if missing.isEmpty { return }
            asked[destination.rootIndex, default: []].formUnion(missing)
            _ = add(
                attempt(.empty) { try store.rows(entityIndex: destination.rootIndex, keys: missing, on: connection) })
        }

        /// The rows of an entity that are known.
        private func known(_ declaring: EntityDescription) -> [RowReference] {
            (rows[declaring.rootIndex] ?? [:]).values.filter { model.entities[$0.entityIndex].isKind(of: declaring) }
        }

        private func declaring(_ relationship: RelationshipDescription) -> EntityDescription? {
            model.entity(named: relationship.declaringEntity)
        }

        /// The object that a to-one relationship leads to.
        func target(_ relationship: RelationshipDescription, slot: Int, key: Int64) -> RowObject? {
            let destination = model.destination(of: relationship)
            if asked[destination.rootIndex]?.contains(key) != true, let declaring = declaring(relationship) {
                var keys = Set(
                    known(declaring).compactMap { reference in
                        reference.row.isPresent(slot) ? Int64(bitPattern: reference.row.word(slot)) : nil
                    })
                keys.insert(key)
                load(Array(keys), destination)
            }
            return rows[destination.rootIndex]?[key].map { RowObject(reader: self, reference: $0) }
        }

        /// The objects that a to-many relationship leads to, in its order.
        func members(of owner: RowReference, _ relationship: RelationshipDescription) -> [RowObject] {
            guard let declaring = declaring(relationship) else { return [] }
            let destination = model.destination(of: relationship)
            let key = RelationshipKey(entityIndex: declaring.index, relationshipIndex: relationship.index)
            if members[key]?[owner.key] == nil {
                let owners = known(declaring).map(\.key).filter { members[key]?[$0] == nil }
                var found: [Int64: [Int64]] = Dictionary(uniqueKeysWithValues: owners.map { ($0, []) })
                for pair in attempt(
                    [],
                    {
                        try store.memberKeys(
                            entityIndex: declaring.index, relationshipIndex: relationship.index, owners: owners,
                            on: connection)
                    })
                {
                    found[pair.owner, default: []].append(pair.member)
                }
                members[key, default: [:]].merge(found) { $1 }
                load(found.values.flatMap(\.self), destination)
            }
            return (members[key]?[owner.key] ?? []).compactMap { member in
                rows[destination.rootIndex]?[member].map { RowObject(reader: self, reference: $0) }
            }
        }

        /// A value that is kept apart from its row.
        func blob(_ name: String) -> Value {
            if let known = blobs[name] { return .binary(known) }
            var parameters = StatementParameters()
            parameters.add(name)
            return attempt(.null) {
                let result = try connection.execute("SELECT data FROM \"_blobs\" WHERE name = $1", parameters)
                guard result.rowCount == 1 else { throw StoreError.notFound(path: "\(store.name)/\(name)") }
                let data = Data(result.bytes(0, 0))
                blobs[name] = data
                return .binary(data)
            }
        }
    }

    /// A row as conditions see it.
    struct RowObject: PropertySource {
        let reader: ResidualReader
        let reference: RowReference

        private var entity: EntityDescription { reader.model.entities[reference.entityIndex] }

        var evaluatedObject: Value { .object(reference.key) }

        var indexedTexts: [String] {
            entity.indexedTextSlots.compactMap { slot in
                if case .string(let text) = reference.value(slot) { text } else { nil }
            }
        }

        private func value(_ slot: SlotDescription) -> Value {
            let value = reference.value(slot)
            guard reference.isExternal(slot), case .binary(let name) = value else { return value }
            return reader.blob(String(decoding: name, as: UTF8.self))
        }

        func property(_ name: String) -> PropertyValue {
            let entity = entity
            if let slot = entity.slot(named: name) {
                guard let index = slot.relationshipIndex else {
                    return slot.type?.isJSON == true ? .json(value(slot)) : .value(value(slot))
                }
                guard case .object(let key) = reference.value(slot) else { return .value(.null) }
                return .object(
                    ReferenceSource(
                        reader: reader, relationship: entity.relationships[index], slot: slot.index, key: key))
            }
            if let attribute = entity.attribute(named: name) {
                var elements: [String: Value] = [:]
                for index in attribute.slots {
                    let slot = entity.slots[index]
                    elements[String(slot.name.dropFirst(name.count + 1))] = value(slot)
                }
                return .value(.composite(elements))
            }
            guard let relationship = entity.relationship(named: name), relationship.isToMany else {
                return .value(.null)
            }
            return .objects(reader.members(of: reference, relationship), isOrdered: relationship.isOrdered)
        }
    }

    /// The object that a to-one relationship leads to; its row is read when a property is asked for.
    private struct ReferenceSource: PropertySource {
        let reader: ResidualReader
        let relationship: RelationshipDescription
        let slot: Int
        let key: Int64

        var evaluatedObject: Value { .object(key) }

        var indexedTexts: [String] { reader.target(relationship, slot: slot, key: key)?.indexedTexts ?? [] }

        func property(_ name: String) -> PropertyValue {
            reader.target(relationship, slot: slot, key: key)?.property(name) ?? .value(.null)
        }
    }
#endif
