import Foundation
import StrataCSQLite
import StrataStore

/// Takes the file of a store from the version that it has to another one, in one transaction for each stage.
struct Migrator {
    let model: ManagedObjectModel
    let place: ResolvedLocation
    let options: SQLiteStore.Options
    /// Opens further connections to the file, which read it as it was.
    let open: @Sendable (Bool) throws(StoreError) -> Connection

    private var migration: MigrationOptions { options.migration }

    /// The plans from the version of a file to the model: one, or one for each stage on the way, with what they need to be
    /// carried out.
    struct Leg {
        let target: ManagedObjectModel
        let stage: MigrationStage?
    }

    /// The way from a version to the model of the application: through the stages that begin with it or with a later
    /// version.
    func route(from stored: StoredModel) throws(StoreError) -> [Leg] {
        let order = migration.versions.map { ModelRecord($0).fingerprint }
        let goal = ModelRecord(model).fingerprint
        var legs: [Leg] = []
        var current = ModelRecord(stored.model).fingerprint
        var currentHash = stored.metadata.versionHash
        var rest = migration.stages
        while current != goal, !rest.isEmpty {
            let place = order.firstIndex(of: current)
            // A file of the first format is known by its version hash.
            let next =
                rest.firstIndex { ModelRecord($0.source).fingerprint == current }
                ?? rest.firstIndex { $0.source.versionHash == currentHash }
                ?? place.flatMap { place in
                    rest.indices.filter { index in
                        order.firstIndex(of: ModelRecord(rest[index].source).fingerprint).map { $0 > place } ?? false
                    }.min { a, b in
                        order.firstIndex(of: ModelRecord(rest[a].source).fingerprint) ?? 0
                            < order.firstIndex(of: ModelRecord(rest[b].source).fingerprint) ?? 0
                    }
                }
            guard let next else {
                let isKnown =
                    place != nil || migration.stages.contains { ModelRecord($0.target).fingerprint == current }
                guard isKnown else {
                    throw .migrationFailed(
                        path: self.place.path, step: "find the way to the present version",
                        reason: "no stage begins with the version \(current.prefix(8)) of the file, and "
                            + "options.migration.versions does not say where it belongs; add the version")
                }
                break
            }
            let stage = rest.remove(at: next)
            let source = ModelRecord(stage.source).fingerprint
            if source != current, stage.source.versionHash != currentHash {
                legs.append(Leg(target: stage.source, stage: nil))
            }
            legs.append(Leg(target: stage.target, stage: stage))
            current = ModelRecord(stage.target).fingerprint
            currentHash = stage.target.versionHash
        }
        if current != goal || legs.isEmpty { legs.append(Leg(target: model, stage: nil)) }
        return legs
    }

    /// Migrates the file of a connection.
    /// - Returns: The plans that were carried out; empty if somebody else was faster.
    func run(on connection: Connection) throws(StoreError) -> [MigrationPlan] {
        var plans: [MigrationPlan] = []
        guard let found = try StoreMetadata.read(from: connection) else { return [] }
        let first = try StoredModel(found, hint: model, on: connection)
        let legs = try route(from: first)
        try checkSpace(first, legs: legs.count)
        if migration.keepsOriginal { try keepOriginal(first, on: connection) }
        MigrationFunctions.register(on: connection, files: place.isFile ? BlobFolder(storePath: place.path) : nil)
        for leg in legs { if let plan = try run(leg, on: connection) { plans.append(plan) } }
        return plans
    }

    /// Carries out one stage.
    private func run(_ leg: Leg, on connection: Connection) throws(StoreError) -> MigrationPlan? {
        // With foreign keys on, to drop a table would delete what refers to it; inside a transaction the setting is ignored.
        try connection.execute("PRAGMA foreign_keys = OFF")
        defer { restore(connection) }
        guard try connection.integer("PRAGMA foreign_keys") == 0 else {
            throw .io(path: place.path, code: 0, reason: "foreign keys cannot be switched off for the migration")
        }
        try connection.begin()
        defer { connection.rollback() }
        // Somebody else may have been faster.
        guard let metadata = try StoreMetadata.read(from: connection) else { return nil }
        let stored = try StoredModel(metadata, hint: leg.target, on: connection)
        let record = ModelRecord(leg.target)
        if try StoredModel.fingerprint(on: connection) == record.fingerprint { return nil }
        let schema = try schema(of: leg.target, after: stored)
        var plan = MigrationPlan(from: stored.model, to: leg.target)
        let context = MigrationContext(
            old: stored, schema: schema, plan: plan, answers: migration.answers, now: Date())
        let steps = try check(plan, context, on: connection)
        plan.steps = steps
        try carryOut(plan, context, leg, on: connection)
        try StoredModel.write(leg.target, on: connection)
        try connection.commit()
        return plan
    }

    private func restore(_ connection: Connection) {
        // Nothing depends on these settings if they fail: the connection is closed then.
        try? connection.execute("PRAGMA legacy_alter_table = OFF")
        try? connection.execute("PRAGMA foreign_keys = ON")
    }

    /// The schema that a file gets: what keeps its name keeps its place.
    func schema(of target: ManagedObjectModel, after stored: StoredModel) throws(StoreError) -> Schema {
        let mapping = MigrationPlan(from: stored.model, to: target).mapping
        let names = stored.names.carried(by: mapping, from: stored, to: target)
        return Schema(
            layout: try StoreLayout(model: target, store: "SQLite", recorded: names), isMirror: options.isMirror)
    }

    /// Counts what does not fit.
    /// - Throws: ``StoreError/migrationNeedsAnswers(path:steps:)`` if a step may not be carried out.
    private func check(
        _ plan: MigrationPlan, _ context: MigrationContext, on connection: Connection
    ) throws(StoreError) -> [MigrationStep] {
        let counter = MigrationCounter(context: context, connection: connection)
        var steps: [MigrationStep] = []
        for step in plan.steps { steps.append(try counter.counted(step, all: false)) }
        // What a mirror has lost, or what does not fit, is read from the server again.
        let blocked = steps.filter {
            options.isMirror ? $0.risk == .impossible : $0.isBlocked(by: migration.answers[$0.id])
        }
        guard blocked.isEmpty else { throw .migrationNeedsAnswers(path: place.path, steps: blocked) }
        return steps
    }

    private func carryOut(
        _ plan: MigrationPlan, _ context: MigrationContext, _ leg: Leg, on connection: Connection
    ) throws(StoreError) {
        let total = context.layout.tables.count + context.layout.pairTables.count + 2
        var done = 0
        try connection.read(migration.cancellation) { (connection) throws(StoreError) in
            try HistorySetup.pause(on: connection)
            if !plan.isEmpty {
                let migrator = SchemaMigrator(context, on: connection) { (text) throws(StoreError) in
                    migration.onProgress?(MigrationProgress(text: text, completed: min(done, total), total: total))
                    done += 1
                    if migration.cancellation?.isCancelled == true { throw .cancelled }
                }
                try migrator.run()
            }
            try HistorySetup.rename(plan.mapping, on: connection)
            if context.layout.hasExternalColumns { try connection.execute(DroppedFiles.creation) }
            try StoreMetadata(identifier: context.old.metadata.identifier, layout: context.layout).write(
                to: connection, objects: context.schema.objects)
            try reconcile(context, on: connection)
        }
        if let stage = leg.stage { try run(stage, context, on: connection) }
        // What is only added refers to nothing that went.
        if leg.stage != nil || plan.steps.contains(where: { !Self.additions.contains($0.kind) }) {
            try verify(context, on: connection)
        }
        migration.onProgress?(MigrationProgress(text: "done", completed: total, total: total))
    }

    private static let additions: Set<MigrationStep.Kind> = [
        .addEntity, .addAttribute, .addRelationship, .describe, .changeIndexes, .addUniqueness, .recompute,
    ]

    /// Creates indexes; an index that duplicates prevent is reported with its entity.
    private func reconcile(_ context: MigrationContext, on connection: Connection) throws(StoreError) {
        do throws(StoreError) {
            try IndexReconciler.updateInTransaction(context.schema, on: connection)
        } catch {
            guard case .constraint(_, let reason) = error else { throw error }
            throw .migrationFailed(
                path: place.path, step: "create unique indexes",
                reason: "\(reason); make the values unique in a custom stage, or before you migrate")
        }
    }

    /// Checks the references of all tables again. References that were dangling before are not the migration's fault.
    private func verify(_ context: MigrationContext, on connection: Connection) throws(StoreError) {
        let reader = try? open(true)
        defer { reader?.close() }
        func dangling(_ connection: Connection) throws(StoreError) -> Int {
            Int(try connection.integer("SELECT count(*) FROM pragma_foreign_key_check") ?? 0)
        }
        let after = try dangling(connection)
        guard after > 0 else { return }
        let before = try reader.map { (reader) throws(StoreError) in try dangling(reader) } ?? 0
        guard after <= before else {
            throw .migrationFailed(
                path: place.path, step: "check references",
                reason: "\(after - before) references would lead nowhere; nothing was changed")
        }
    }

    // MARK: Stages

    private func run(
        _ stage: MigrationStage, _ context: MigrationContext, on connection: Connection
    ) throws(StoreError) {
        guard place.isFile else {
            throw .unsupported(store: "SQLite", feature: "custom stages for a store in memory")
        }
        // The model of the stage, not the one in the file: classes that were generated for it know the order of its properties.
        let layout = try StoreLayout(model: stage.source, store: "SQLite", recorded: context.old.names)
        let old = try SQLiteStore.snapshot(of: place, schema: Schema(layout: layout), context.old.metadata, open: open)
        let new = try SQLiteStore.within(
            connection, place: place, schema: context.schema, context.old.metadata, options: options)
        defer {
            old.close()
            connection.nesting.usesSavepoints = false
        }
        connection.nesting.usesSavepoints = true
        let onProgress = migration.onProgress
        let cancellation = migration.cancellation
        let session = MigrationSession(
            old: old, new: new,
            report: { onProgress?(MigrationProgress(text: $0, completed: $1, total: $2)) },
            isCancelled: { cancellation?.isCancelled == true })
        do {
            try stage.body(session)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .migrationFailed(
                path: place.path, step: "stage from \(stage.source.name) \(stage.source.versionHash.prefix(8))",
                reason: "\(error)")
        }
    }

    // MARK: Room and originals

    /// Refuses to begin where the disk cannot hold the file a second time, which a rebuild needs in the worst case, with
    /// the log.
    private func checkSpace(_ stored: StoredModel, legs: Int) throws(StoreError) {
        guard place.isFile else { return }
        let plan = MigrationPlan(from: stored.model, to: model)
        let grows = plan.steps.contains { $0.kind != .describe && $0.kind != .addEntity }
        guard grows else { return }
        let size = (try? FileManager.default.attributesOfItem(atPath: place.path)[.size] as? NSNumber)?.int64Value ?? 0
        let needed = size * (migration.keepsOriginal ? 3 : 2)
        guard let free = Self.freeSpace(at: place.path), free < needed else { return }
        throw .diskFull(path: place.path)
    }

    /// The bytes that are free for us on the disk of a path.
    static func freeSpace(at path: String) -> Int64? {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: folder)
        return (attributes?[.systemFreeSize] as? NSNumber)?.int64Value
    }

    /// The name of the file with the data as they were.
    static func originalPath(_ path: String, _ stored: StoredModel) -> String {
        "\(path).before-\(ModelRecord(stored.model).fingerprint.prefix(8))"
    }

    private func keepOriginal(_ stored: StoredModel, on connection: Connection) throws(StoreError) {
        let target = Self.originalPath(place.path, stored)
        guard place.isFile, !FileManager.default.fileExists(atPath: target) else { return }
        let temporary = target + ".part"
        try? FileManager.default.removeItem(atPath: temporary)
        do throws(StoreError) {
            try connection.execute("VACUUM INTO \(Identifiers.literal(temporary))")
        } catch {
            try? FileManager.default.removeItem(atPath: temporary)
            throw error
        }
        guard rename(temporary, target) == 0 else {
            throw .io(path: target, code: Int(errno), reason: String(cString: strerror(errno)))
        }
    }
}
