#if Postgres
    import StrataStore

    /// Packs the rows of an answer, which may come in parts.
    struct RowPacker: ~Copyable {
        private let model: ManagedObjectModel
        private let plan: EntityPlan
        private let known: KnownRows?
        private var builder: RowBatchBuilder

        /// - Parameters:
        ///   - known: Which rows the caller has: of these it gets headers.
        ///   - expectedRows: How many rows are likely; nil if that cannot be said.
        init(_ model: ManagedObjectModel, _ plan: EntityPlan, known: KnownRows?, expectedRows: Int?) {
            self.model = model
            self.plan = plan
            self.known = known
            builder = RowBatchBuilder(expectedRows: expectedRows)
        }

        /// Adds the rows of a part.
        /// - Throws: ``StoreError/invalidData(entity:property:key:reason:)`` for a row that makes no sense.
        mutating func add(_ result: PostgresResult) throws(StoreError) {
            for row in 0..<result.rowCount { try add(result, row) }
        }

        private mutating func add(_ result: PostgresResult, _ row: Int) throws(StoreError) {
            let key = result.integer(row, 0)
            let version = result.integer(row, 1)
            guard key > 0, version >= 0 else { throw unsound(key, version) }
            var shape = plan.shapes.first
            if plan.hasEntityColumn {
                let name = result.bytes(row, 2)
                shape = plan.shapes.first { name.elementsEqual($0.name) }
            }
            guard let shape else {
                throw .invalidData(
                    entity: model.entities[plan.rootIndex].name, property: "_entity", key: key,
                    reason: "\"\(result.text(row, 2))\" is not an entity of the model that belongs here")
            }
            if let known, known(shape.entityIndex, key, version) {
                builder.addHeader(entityIndex: shape.entityIndex, key: key, version: version)
                return
            }
            builder.beginRow(entityIndex: shape.entityIndex, slotCount: shape.slotCount, key: key, version: version)
            for source in shape.sources {
                if let external = source.externalColumn, !result.isNull(row, external) {
                    builder.setBytes(result.bytes(row, external), slot: source.slot, external: true)
                    continue
                }
                guard !result.isNull(row, source.column) else { continue }
                guard SlotCoding.read(result.bytes(row, source.column), source.slot, source.storage, into: &builder)
                else { throw mismatch(shape.entityIndex, source, key) }
            }
            builder.endRow()
        }

        /// The rows that have been added. The packer is empty then.
        mutating func finish() -> RowBatch { builder.finish() }

        private func mismatch(_ entityIndex: Int, _ source: EntityPlan.Source, _ key: Int64) -> StoreError {
            let entity = model.entities[entityIndex]
            let slot = entity.slots[source.slot]
            return .invalidData(
                entity: entity.name, property: slot.name, key: key,
                reason: "the column holds what is not a valid \(slot.type?.name ?? "key")")
        }

        private func unsound(_ key: Int64, _ version: Int64) -> StoreError {
            .invalidData(
                entity: model.entities[plan.rootIndex].name, property: key > 0 ? "_version" : "_id", key: key,
                reason: key > 0
                    ? "versions are whole numbers from 0 on"
                    : "keys are whole numbers from 1 on; give the row another key, or delete it")
        }
    }
#endif
