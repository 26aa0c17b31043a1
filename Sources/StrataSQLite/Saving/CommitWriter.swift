import Foundation
import StrataCSQLite
import StrataSQL
import StrataStore

extension SQLiteStore {
    public func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
        guard !options.isReadOnly else { throw .readOnly(path: path) }
        if changes.isEmpty { return .committed(CommitEffects()) }
        return try pool.write { (connection) throws(StoreError) in
            let writer = CommitWriter(store: self, connection: connection, changes: changes)
            do throws(StoreError) {
                return try writer.run()
            } catch {
                guard writer.needsIndexes else { throw error }
                let careful = CommitWriter(store: self, connection: connection, changes: changes)
                careful.needsIndexes = true
                return try careful.run()
            }
        }
    }
}

/// Writes one change set in one transaction. All conflicts are collected before the transaction is taken back.
final class CommitWriter {
    let store: SQLiteStore
    let connection: Connection
    let changes: ChangeSet
    /// Conflicts as they are found; their rows are read after the rollback, when they are what others see.
    var conflicts: [FoundConflict] = []
    /// The files of external values that this change set has written, to which it makes rows refer again, and to which
    /// rows referred before.
    var writtenFiles: [String] = []
    var keptFiles: Set<String> = []
    var formerFiles: Set<String> = []
    var updates = UpdateProgress()
    var effects = CommitEffects()
    /// Whether indexes must stay while rows are inserted, because making them afterwards failed.
    var needsIndexes = false
    /// The rows that this change set writes; made when a unique constraint first reports a conflict.
    private(set) lazy var ownRows = Set(
        (changes.inserts.map(\.row) + changes.updates.map(\.row)).map { rowID($0.row) })

    struct RowID: Hashable {
        let table: Int
        let key: Int64
    }

    struct FoundConflict {
        let reason: StoreConflict.Reason
        let entityIndex: Int
        let key: Int64
        let otherKey: Int64?
        /// The key of the row to show; nil if there is none to show.
        let storeKey: Int64?
    }

    init(store: SQLiteStore, connection: Connection, changes: ChangeSet) {
        self.store = store
        self.connection = connection
        self.changes = changes
    }

    func run() throws(StoreError) -> CommitResult {
        try store.begin(on: connection)
        do throws(StoreError) {
            try write()
            if conflicts.isEmpty { try commitTransaction() }
        } catch {
            takeBack()
            throw error
        }
        if conflicts.isEmpty {
            if dropsFiles { store.sweepAfterCommit(on: connection) }
            return .committed(effects)
        }
        takeBack()
        return .conflicts(try conflictsWithRows())
    }

    /// Writes everything within the open transaction. You can ask for the conflicts afterwards.
    func write() throws(StoreError) {
        try writeChecks()
        try writeClearings()
        try findReferrers()
        try writeDeletes()
        try writeUpdates()
        try writeInserts()
        guard conflicts.isEmpty else { return }
        try writePairs()
        try writeOrders()
        try listFiles()
    }

    /// Takes back the open transaction.
    func takeBack() {
        connection.rollback()
        store.files?.remove(writtenFiles)
    }

    /// Whether there are files to which rows refer no longer.
    var dropsFiles: Bool { !formerFiles.isSubset(of: keptFiles) }

    /// Lists the files to which rows refer no longer, and takes those off the list to which they refer again.
    private func listFiles() throws(StoreError) {
        if !keptFiles.isEmpty { try DroppedFiles.remove(keptFiles, on: connection) }
        if dropsFiles { try DroppedFiles.add(formerFiles.subtracting(keptFiles), on: connection) }
        if !writtenFiles.isEmpty { store.files?.synchronize() }
    }

    /// Commits; deferred foreign keys are checked here.
    func commitTransaction() throws(StoreError) {
        let recorder = connection.version.recordsHistory ? store.recorder : nil
        try recorder?.end(ChangeOrigin(author: changes.author, contextName: changes.contextName), on: connection)
        let statement = try connection.statement(connection.commitSQL)
        let code = statement.stepCode()
        let error = code == SQLITE_DONE ? nil : connection.failure(code)
        statement.reset()
        guard let error else {
            connection.noteCommit()
            recorder?.keepUp(on: connection)
            return
        }
        if code & 0xff == SQLITE_CONSTRAINT { throw try danglingReference() ?? error }
        throw error
    }

    /// Reads the rows of all conflicts: one statement for each hierarchy, since an import may meet thousands.
    func conflictsWithRows() throws(StoreError) -> [StoreConflict] {
        var keys: [Int: [Int64]] = [:]
        for conflict in conflicts {
            guard let key = conflict.storeKey else { continue }
            keys[store.model.entities[conflict.entityIndex].rootIndex, default: []].append(key)
        }
        var rows: [RowID: RowReference] = [:]
        for (root, keys) in keys {
            let table = store.layout.tableOfEntity[root]
            for row in try store.rows(entityIndex: root, keys: keys, on: connection).rows {
                rows[RowID(table: table, key: row.row.key)] = row
            }
        }
        return conflicts.map { conflict in
            let table = store.layout.tableOfEntity[conflict.entityIndex]
            return StoreConflict(
                reason: conflict.reason, entityIndex: conflict.entityIndex, key: conflict.key,
                storeRow: conflict.storeKey.flatMap { rows[RowID(table: table, key: $0)] }, otherKey: conflict.otherKey)
        }
    }

    /// Whether updates and deletes are written many by one statement. SQLite works longer at such a statement than at as many
    /// prepared ones, and a mirror writes each object to so many places that fewer statements are worth more there.
    var changesTogether: Bool { store.schema.isMirror || isBulk }
    /// Whether many objects are written that nobody has read.
    var isBulk = false

    // MARK: Checks

    /// Compares the versions of objects that the change set does not write. Nobody else can write until the transaction ends.
    private func writeChecks() throws(StoreError) {
        for (entityIndex, checks) in Dictionary(grouping: changes.checks, by: \.entityIndex) {
            let statement = try connection.statement(store.writePlans[entityIndex].byKey.versions)
            statement.bind(ValueList(keys: checks.map(\.key)), at: 1)
            var versions: [Int64: Int64] = [:]
            while try statement.step() { versions[statement.integer(0)] = statement.integer(1) }
            for check in checks where versions[check.key] != check.version {
                addVersionConflict(entityIndex, check.key)
            }
        }
    }

    // MARK: Deletes

    private func writeDeletes() throws(StoreError) {
        var groups: [(entityIndex: Int, deletes: [ChangeSet.Delete])] = []
        var positions: [Int: Int] = [:]
        for delete in changes.deletes {
            if let position = positions[delete.entityIndex] {
                groups[position].deletes.append(delete)
            } else {
                positions[delete.entityIndex] = groups.count
                groups.append((delete.entityIndex, [delete]))
            }
        }
        for group in groups {
            let plan = store.writePlans[group.entityIndex]
            try noteFiles(of: plan, keys: group.deletes.map(\.key), slots: nil)
            if changesTogether, group.deletes.count > 1 {
                try write(group.deletes, plan)
            } else {
                for delete in group.deletes { try write(delete, plan) }
            }
        }
    }

    private func write(_ delete: ChangeSet.Delete, _ plan: WritePlan) throws(StoreError) {
        guard let version = delete.baseVersion else {
            let statement = try connection.statement(plan.byKey.deleteAny)
            statement.bind(delete.key, at: 1)
            try statement.run()
            if connection.changes == 0 { noteGone(delete) }
            return
        }
        let statement = try connection.statement(plan.byKey.delete)
        statement.bind(delete.key, at: 1)
        statement.bind(version, at: 2)
        try statement.run()
        guard connection.changes == 0 else { return }
        if try exists(plan, delete.key) { addVersionConflict(delete.entityIndex, delete.key) } else { noteGone(delete) }
    }

    /// Somebody else has deleted the row before.
    private func noteGone(_ delete: ChangeSet.Delete) {
        effects.alreadyDeleted[store.model.entities[delete.entityIndex].rootIndex, default: []].append(delete.key)
    }

    /// Deletes rows of one entity by two statements: nobody can write between the look at their versions and the delete.
    private func write(_ deletes: [ChangeSet.Delete], _ plan: WritePlan) throws(StoreError) {
        var versions: [Int64: Int64] = [:]
        let checked = deletes.filter { $0.baseVersion != nil }
        if !checked.isEmpty {
            let statement = try connection.statement(plan.byKey.versions)
            statement.bind(ValueList(keys: checked.map(\.key)), at: 1)
            while try statement.step() { versions[statement.integer(0)] = statement.integer(1) }
        }
        var keys: [Int64] = []
        for delete in deletes {
            if let version = delete.baseVersion {
                guard let present = versions[delete.key] else {
                    noteGone(delete)
                    continue
                }
                guard present == version else {
                    addVersionConflict(delete.entityIndex, delete.key)
                    continue
                }
            }
            keys.append(delete.key)
        }
        let statement = try connection.statement(plan.byKey.deleteMany)
        statement.bind(ValueList(keys: keys), at: 1)
        try statement.run()
    }

    /// Somebody else has written a row since it was read.
    func addVersionConflict(_ entityIndex: Int, _ key: Int64) {
        conflicts.append(
            FoundConflict(reason: .version, entityIndex: entityIndex, key: key, otherKey: nil, storeKey: key))
    }

    private func exists(_ plan: WritePlan, _ key: Int64) throws(StoreError) -> Bool {
        let statement = try connection.statement(plan.byKey.version)
        statement.bind(key, at: 1)
        guard try statement.step() else { return false }
        statement.reset()
        return true
    }

    /// Notes the files that rows refer to before the references go: those of all slots, or of some.
    func noteFiles(of plan: WritePlan, keys: [Int64], slots: SlotSet?) throws(StoreError) {
        guard let sql = plan.externalSQL, store.files != nil else { return }
        let fields = plan.fields.filter(\.binding.allowsExternal)
        if let slots, !fields.contains(where: { slots.contains($0.slot) }) { return }
        let statement = try connection.statement(sql)
        statement.bind(ValueList(keys: keys), at: 1)
        while try statement.step() {
            for (column, field) in fields.enumerated() where slots?.contains(field.slot) ?? true {
                if statement.type(Int32(column)) == SQLITE_TEXT { formerFiles.insert(statement.text(Int32(column))) }
            }
        }
    }

    // MARK: Many rows

    /// Runs a statement that writes several rows.
    /// - Parameter onRow: Called for each row that it answers with.
    /// - Returns: false if a row violates a constraint. The rows have to be written one by one then, to find all such.
    func runTogether(_ statement: Statement, onRow: (Statement) -> Void = { _ in }) throws(StoreError) -> Bool {
        var code = statement.stepCode()
        while code == SQLITE_ROW {
            onRow(statement)
            code = statement.stepCode()
        }
        let error = code == SQLITE_DONE ? nil : connection.failure(code)
        statement.reset()
        guard let error else { return true }
        guard code & 0xff == SQLITE_CONSTRAINT else { throw error }
        return false
    }

    func rowID(_ row: RowPointer) -> RowID {
        RowID(table: store.layout.tableOfEntity[row.entityIndex], key: row.key)
    }

    /// Names the object in an error that SQLite gave for a row.
    func rejected(_ error: StoreError, _ plan: WritePlan, _ key: Int64) -> StoreError {
        guard case .constraint(_, let reason) = error else { return error }
        return .constraint(entity: plan.entityName, reason: "object \(key): \(reason)")
    }

    // MARK: Binding

    /// Binds the value of a slot straight from the packed row, which outlives the step.
    @inline(__always)
    func bind(
        _ row: RowPointer, _ binding: WritePlan.Binding, _ plan: WritePlan, _ statement: Statement, _ parameter: Int32
    ) throws(StoreError) {
        let slot = binding.slot
        guard row.isPresent(slot) else { return statement.bindNull(at: parameter) }
        switch binding.storage {
        case .integer, .key, .boolean: statement.bind(Int64(bitPattern: row.word(slot)), at: parameter)
        case .double, .date:
            let number = Double(bitPattern: row.word(slot))
            guard !number.isNaN else { throw notANumber(row, slot, plan) }
            statement.bind(number, at: parameter)
        case .text: statement.bindText(row.bytes(slot), at: parameter)
        case .decimal:
            let bytes = row.bytes(slot)
            guard !bytes.elementsEqual("NaN".utf8) else { throw notANumber(row, slot, plan) }
            statement.bindText(bytes, at: parameter)
        case .uuid: statement.bindBlob(row.bytes(slot), at: parameter)
        case .geoPoint:
            guard !Self.hasNaN(row.bytes(slot)) else { throw notANumber(row, slot, plan) }
            statement.bindBlob(row.bytes(slot), at: parameter)
        case .bytes:
            if row.isExternal(slot) {
                try keepFile(of: row, slot, plan)
                statement.bindText(row.bytes(slot), at: parameter)
            } else if binding.allowsExternal, let files = store.files,
                row.bytes(slot).count > store.options.externalStorageThreshold
            {
                let name = try files.write(row.bytes(slot))
                writtenFiles.append(name)
                statement.bind(name, at: parameter)
            } else {
                statement.bindBlob(row.bytes(slot), at: parameter)
            }
        }
    }

    /// The name of a property for messages.
    private func property(_ slot: Int, _ plan: WritePlan) -> String {
        store.model.entities[plan.entityIndex].slots[slot].name
    }

    private func notANumber(_ row: RowPointer, _ slot: Int, _ plan: WritePlan) -> StoreError {
        .invalidData(
            entity: plan.entityName, property: property(slot, plan), key: row.key,
            reason: "a value that is not a number (NaN) cannot be kept; use nil")
    }

    /// Whether a coordinate of a geo point is not a number.
    private static func hasNaN(_ point: UnsafeRawBufferPointer) -> Bool {
        stride(from: 0, to: point.count - 7, by: 8).contains { offset in
            Double(bitPattern: UInt64(littleEndian: point.loadUnaligned(fromByteOffset: offset, as: UInt64.self))).isNaN
        }
    }

    /// Notes that a row refers to a file that was written before. It may have been dropped meanwhile, and even removed.
    private func keepFile(of row: RowPointer, _ slot: Int, _ plan: WritePlan) throws(StoreError) {
        let name = String(decoding: row.bytes(slot), as: UTF8.self)
        guard store.files?.exists(name) == true else {
            throw .missingFile(entity: plan.entityName, property: property(slot, plan), key: row.key, file: name)
        }
        keptFiles.insert(name)
    }
}
