import Foundation
import StrataStore

extension PersistentStore {
    /// Copies everything into an empty store of another kind or place, for instance from a SQLite file to PostgreSQL.
    ///
    ///     let report = try sqlite.copy(to: postgres)
    ///     for part in report.entities { print(part.name, part.count, part.checksum) }
    ///
    /// The copy is what the source is at one moment, while others read and write it. Objects keep their keys and versions,
    /// relationships their order; new objects of the target get keys that the source has never given out. Values that
    /// are kept apart from their rows are copied, too. History is not.
    ///
    /// All of it is one transaction of the target, which reads again what it has written and compares counts and checksums
    /// with the source before it commits: after an error, the target is as empty as before. Others who use the target wait
    /// meanwhile. The memory that is needed does not depend on the number of objects, but on the largest one.
    /// - Parameter target: A store without objects, opened with the same model.
    /// - Returns: Counts and checksums.
    /// - Throws: ``StoreError/incompatibleModel(path:differences:)`` if the models differ;
    ///   ``StoreError/constraint(entity:reason:)`` if the target has objects, or if the source breaks a rule that only the
    ///   target enforces; ``StoreError/invalidData(entity:property:key:reason:)`` for a value that the target cannot keep;
    ///   ``StoreError/unsupported(store:feature:)`` for stores in other places than a SQL database, and for mirrors of remote
    ///   stores; ``StoreError/cancelled``.
    @discardableResult
    public func copy(
        to target: any PersistentStore, options: StoreCopyOptions = StoreCopyOptions()
    ) throws(StoreError) -> StoreCopyReport {
        guard (1...100_000).contains(options.batchSize) else {
            throw .invalidOption(name: "batchSize", value: "\(options.batchSize)", reason: "it must be 1 to 100,000")
        }
        guard let source = self as? any CopyableStore else {
            throw .unsupported(store: name, feature: "copying; fetch the objects and insert them in the other store")
        }
        guard let target = target as? any CopyableStore else {
            throw .unsupported(store: target.name, feature: "being the target of a copy; copy to SQLite or PostgreSQL")
        }
        guard source !== target else {
            throw .unsupported(store: name, feature: "copying to itself; choose another target")
        }
        try Self.compare(source.model, target.model, target.name)
        let start = ContinuousClock.now
        var report = try source.readForCopy { (reader) throws(StoreError) in
            var copier: StoreCopier?
            try target.writeCopy { (writer) throws(StoreError) in
                var made = StoreCopier(source, reader, target, writer, options)
                try made.run()
                copier = made
            }
            return copier?.report ?? StoreCopyReport()
        }
        report.seconds = (ContinuousClock.now - start).inSeconds
        return report
    }

    /// Refuses models that differ, even in the order of their declarations: rows name entities and properties by position.
    private static func compare(
        _ source: ManagedObjectModel, _ target: ManagedObjectModel, _ path: String
    ) throws(StoreError) {
        guard source.versionHash == target.versionHash else {
            let differences = MigrationPlan(from: source, to: target).steps.map(\.description)
            throw .incompatibleModel(
                path: path,
                differences: differences.isEmpty ? ["the version hash is \(target.versionHash)"] : differences)
        }
        func outline(_ model: ManagedObjectModel) -> [[String]] {
            model.entities.map { [$0.name] + $0.slots.map(\.name) + $0.relationships.map(\.name) }
        }
        guard outline(source) == outline(target) else {
            throw .incompatibleModel(
                path: path, differences: ["the declarations are in another order; open both stores with one model"])
        }
    }
}

/// Copies one store into another, and compares them.
struct StoreCopier {
    private let source: any CopyableStore
    private let reader: any StoreCopyReader
    private let target: any CopyableStore
    private let writer: any StoreCopyWriter
    private let options: StoreCopyOptions
    private(set) var report = StoreCopyReport()
    private var completed = 0
    private var total = 0

    private var model: ManagedObjectModel { source.model }

    /// About how many bytes are in memory at a time, unless a single value is larger.
    private static let room = 8 << 20

    init(
        _ source: any CopyableStore, _ reader: any StoreCopyReader, _ target: any CopyableStore,
        _ writer: any StoreCopyWriter, _ options: StoreCopyOptions
    ) {
        self.source = source
        self.reader = reader
        self.target = target
        self.writer = writer
        self.options = options
    }

    mutating func run() throws(StoreError) {
        let roots = model.entities.filter { $0.parentIndex == nil }.map(\.index)
        for root in roots { total += 2 * (try reader.count(rootIndex: root)) }
        var entities = [CopyChecksum](repeating: CopyChecksum(), count: model.entities.count)
        for root in roots { try copyRows(root, &entities) }
        var pairs: [CopyChecksum] = []
        for relationship in pairRelationships { pairs.append(try copyPairs(relationship)) }
        for root in roots { try writer.setNextKey(reader.nextKey(rootIndex: root), rootIndex: root) }
        if options.keepsIdentifier { try writer.setIdentifier(source.identifier) }
        try compare(entities, pairs, roots)
        for entity in model.entities.sorted(by: { $0.name < $1.name }) where !entity.isAbstract {
            report.entities.append(Self.part(entity.name, entities[entity.index]))
        }
        for (relationship, sum) in zip(pairRelationships, pairs) {
            report.relationships.append(Self.part(name(relationship), sum))
        }
        report.relationships.sort { $0.name < $1.name }
        try show("done")
    }

    private static func part(_ name: String, _ sum: CopyChecksum) -> StoreCopyReport.Part {
        StoreCopyReport.Part(name: name, count: sum.count, checksum: sum.text)
    }

    /// Tells how far the copy is, and stops it where it is cancelled.
    private func show(_ text: String) throws(StoreError) {
        if options.cancellation?.isCancelled == true { throw .cancelled }
        options.onProgress?(MigrationProgress(text: text, completed: min(completed, total), total: total))
    }

    // MARK: The model

    private func relationships(
        where isMeant: (EntityDescription, RelationshipDescription) -> Bool
    ) -> [RelationshipKey] {
        model.entities.flatMap { entity in
            entity.relationships.filter { $0.declaringEntity == entity.name && isMeant(entity, $0) }.map {
                RelationshipKey(entityIndex: entity.index, relationshipIndex: $0.index)
            }
        }
    }

    /// The relationships whose order is in the rows of a hierarchy.
    private func ordered(_ root: Int) -> [RelationshipKey] {
        relationships { _, relationship in
            guard relationship.isOrdered, case .inverseSlot = relationship.storage else { return false }
            return model.entities[relationship.destinationIndex].rootIndex == root
        }
    }

    private var pairRelationships: [RelationshipKey] {
        relationships { _, relationship in
            if case .pairs(isPrimary: true) = relationship.storage { true } else { false }
        }
    }

    private func name(_ key: RelationshipKey) -> String {
        let entity = model.entities[key.entityIndex]
        return "\(entity.name).\(entity.relationships[key.relationshipIndex].name)"
    }

    // MARK: Rows

    private mutating func copyRows(_ root: Int, _ sums: inout [CopyChecksum]) throws(StoreError) {
        let expected = try reader.count(rootIndex: root)
        var read = 0
        try walk(reader, source, root, "copying") { (copier, rows, places) throws(StoreError) in
            copier.add(rows, places, to: &sums)
            copier.report.roundedObjects += try copier.writer.write(rows, places)
            read += rows.count
        }
        guard read == expected else {
            throw .corrupt(
                path: source.name,
                reason:
                    "\(model.entities[root].name) has \(expected) rows, of which \(expected - read) have no valid key")
        }
    }

    private func add(_ rows: [RowReference], _ places: [CopiedPlaces], to sums: inout [CopyChecksum]) {
        for row in rows {
            withExtendedLifetime(row.slab) {
                let entity = model.entities[row.row.entityIndex]
                sums[entity.index].add(row.row, entity, places.map { $0.places[row.row.key] })
            }
        }
    }

    /// Reads all rows of a hierarchy, in parts, with all their values in them.
    private mutating func walk(
        _ reader: any StoreCopyReader, _ store: any CopyableStore, _ root: Int, _ verb: String,
        _ body: (inout StoreCopier, [RowReference], [CopiedPlaces]) throws(StoreError) -> Void
    ) throws(StoreError) {
        let ordered = ordered(root)
        var last: Int64 = 0
        var limit = min(200, options.batchSize)
        while true {
            try show("\(verb) \(model.entities[root].name)")
            let batch = try reader.rows(rootIndex: root, after: last, limit: limit)
            guard batch.count > 0 else { return }
            let first = batch[0].key
            last = batch[batch.count - 1].key
            var places: [CopiedPlaces] = []
            for relationship in ordered {
                let found = try reader.places(relationship, members: first...last)
                places.append(
                    CopiedPlaces(
                        relationship: relationship,
                        places: Dictionary(found.map { ($0.member, $0.place) }, uniquingKeysWith: { a, _ in a })))
            }
            var part: [RowReference] = []
            var size = 0
            var batchSize = 0
            for index in 0..<batch.count {
                let row = batch[index]
                batchSize += withExtendedLifetime(row.slab) { row.row.byteCount }
                let whole = try filled(row, reader, store, isCounted: verb == "copying")
                part.append(whole)
                size += withExtendedLifetime(whole.slab) { whole.row.byteCount }
                if size > Self.room {
                    try body(&self, part, places)
                    part = []
                    size = 0
                }
            }
            if !part.isEmpty { try body(&self, part, places) }
            completed += batch.count
            limit = max(1, min(options.batchSize, limit * 4, limit * Self.room / max(1, batchSize)))
        }
    }

    /// The row with the bytes of the values that are kept apart from it.
    private mutating func filled(
        _ row: RowReference, _ reader: any StoreCopyReader, _ store: any CopyableStore, isCounted: Bool
    ) throws(StoreError) -> RowReference {
        let entity = model.entities[row.entityIndex]
        var slab: RowSlab?
        for slot in entity.slots where slot.storage == .bytes && slot.isStored && row.isExternal(slot) {
            var file = ""
            row.withBytes(slot) { bytes in
                if let bytes { file = String(decoding: bytes, as: UTF8.self) } else { file = "" }
            }
            if file.isEmpty { continue }
            guard let data = try reader.external(named: file) else {
                throw .missingFile(entity: entity.name, property: slot.name, key: row.key, file: file)
            }
            guard data.count < Int(RowPointer.externalFlag) else {
                throw .invalidData(
                    entity: entity.name, property: slot.name, key: row.key,
                    reason: "a value of \(data.count) bytes is too large to be copied")
            }
            var copy = slab ?? withExtendedLifetime(row.slab) { RowSlab.copy(of: row.row) }
            data.withUnsafeBytes { RowEditing.setBytes($0, slot.index, layout: entity.slots, in: &copy) }
            slab = copy
            if isCounted {
                report.externalCount += 1
                report.externalSize += data.count
            }
        }
        return slab.map { RowReference(slab: $0, row: $0.row) } ?? row
    }

    // MARK: Pairs

    private func copyPairs(_ relationship: RelationshipKey) throws(StoreError) -> CopyChecksum {
        var sum = CopyChecksum()
        try walk(reader, relationship, "copying") { (pairs) throws(StoreError) in
            for pair in pairs { sum.add(pair) }
            try writer.write(pairs, of: relationship)
        }
        return sum
    }

    private func walk(
        _ reader: any StoreCopyReader, _ relationship: RelationshipKey, _ verb: String,
        _ body: ([CopiedPair]) throws(StoreError) -> Void
    ) throws(StoreError) {
        var last: CopiedPair?
        while true {
            try show("\(verb) \(name(relationship))")
            let pairs = try reader.pairs(relationship, after: last, limit: options.batchSize)
            guard let end = pairs.last else { return }
            try body(pairs)
            last = end
        }
    }

    // MARK: Comparing

    /// Reads the copy.
    /// - Throws: ``StoreError/corrupt(path:reason:)`` if it is not what the source is.
    private mutating func compare(
        _ entities: [CopyChecksum], _ pairs: [CopyChecksum], _ roots: [Int]
    ) throws(StoreError) {
        var written = [CopyChecksum](repeating: CopyChecksum(), count: model.entities.count)
        for root in roots {
            try walk(writer, target, root, "comparing") { (copier, rows, places) throws(StoreError) in
                copier.add(rows, places, to: &written)
            }
        }
        for entity in model.entities {
            try compare(entity.name, entities[entity.index], written[entity.index])
        }
        for (relationship, sum) in zip(pairRelationships, pairs) {
            var written = CopyChecksum()
            try walk(writer, relationship, "comparing") { (pairs) throws(StoreError) in
                for pair in pairs { written.add(pair) }
            }
            try compare(name(relationship), sum, written)
        }
    }

    private func compare(_ name: String, _ read: CopyChecksum, _ written: CopyChecksum) throws(StoreError) {
        guard read != written else { return }
        throw .corrupt(
            path: target.name,
            reason: "the copy of \(name) is not equal: \(read.count) with checksum \(read.text) were read, "
                + "\(written.count) with checksum \(written.text) written; nothing was kept")
    }
}
