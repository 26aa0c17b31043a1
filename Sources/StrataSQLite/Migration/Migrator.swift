import Foundation
import StrataCSQLite
import StrataSQL
import StrataStore

/// Takes the file of a store from the version that it has to another one: in one transaction, or in one for each stage if there
/// are stages.
struct Migrator {
    /// The model of the application.
    let model: ManagedObjectModel
    let place: ResolvedLocation
    let options: SQLiteStore.Options
    /// Opens further connections to the file, which read it as it was.
    let open: @Sendable (Bool) throws(StoreError) -> Connection

    /// The moment of the migration, the same for all objects.
    private let now = Date()

    private var migration: MigrationOptions { options.migration }

    /// Migrates the file of a connection.
    /// - Parameter first: What was read from the file.
    /// - Returns: The plans that were carried out; empty if somebody else was faster.
    func run(from first: StoredModel, on connection: Connection) throws(StoreError) -> [MigrationPlan] {
        let legs = try legs(from: first)
        let direct = MigrationPlan(from: first.model, to: model)
        try checkSpace(direct)
        if migration.keepsOriginal { try keepOriginal(first, on: connection) }
        MigrationFunctions.register(on: connection, files: place.isFile ? BlobFolder(storePath: place.path) : nil)
        var groups = legs.groups
        var expected = first.entries[StoredModel.fingerprintKey]
        var plans: [MigrationPlan] = []
        while let group = groups.first {
            switch try run(group, from: expected, first, direct, on: connection) {
            case .done(let done):
                plans += done
                groups.removeFirst()
                expected = group.last.map { $0.target.fingerprint }
            case .pending(let steps): try finish(steps, on: connection)
            case .movedOn:
                // Somebody else has migrated the file. The rest of the way begins where they left it.
                guard let now = try StoredModel.read(on: connection, hint: model) else { return plans }
                expected = now.entries[StoredModel.fingerprintKey]
                if expected == model.fingerprint { return plans }
                groups = try self.legs(from: now).groups
            }
        }
        return plans
    }

    /// The way from the version of a file to that of the application.
    func legs(from stored: StoredModel) throws(StoreError) -> MigrationLegs {
        try MigrationLegs(
            from: stored.model, stored.metadata.versionHash, to: model, migration, path: place.path)
    }

    /// What the parts of the migration of a file share. Expressions call functions that the connection gets here.
    func context(
        _ stored: StoredModel, _ schema: Schema, _ plan: MigrationPlan, on connection: Connection
    ) -> MigrationContext {
        MigrationContext(
            old: stored.layout, new: schema.layout,
            engine: SQLiteMigrationEngine(connection, isMirror: options.isMirror), isMirror: options.isMirror,
            plan: plan, answers: migration.answers, now: now)
    }

    private enum Outcome {
        case done([MigrationPlan])
        /// Deferred steps of an earlier migration come first. Nothing was changed.
        case pending([DeferredMigrationStep])
        /// The file no longer has the version that the way begins with. Nothing was changed.
        case movedOn
    }

    /// Carries out a part of the way in one transaction.
    private func run(
        _ legs: [MigrationLegs.Leg], from expected: String?, _ first: StoredModel, _ direct: MigrationPlan,
        on connection: Connection
    ) throws(StoreError) -> Outcome {
        // With foreign keys on, to drop a table would delete what refers to it; inside a transaction the setting is ignored.
        try connection.execute("PRAGMA foreign_keys = OFF")
        defer { restore(connection) }
        guard try connection.integer("PRAGMA foreign_keys") == 0 else {
            throw .io(path: place.path, code: 0, reason: "foreign keys cannot be switched off for the migration")
        }
        try connection.begin()
        defer { connection.rollback() }
        var plans: [MigrationPlan] = []
        for (number, leg) in legs.enumerated() {
            let entries = try StoreMetadata.entries(StoreMetadata.modelKeys, on: connection)
            let present = entries[StoredModel.fingerprintKey]
            guard number > 0 || present == expected else { return .movedOn }
            if present == leg.target.fingerprint { continue }
            // Where nothing has changed since, the file need not be understood once more.
            let isKnown = present == first.model.fingerprint && entries == first.entries
            let stored: StoredModel
            if isKnown {
                stored = first
            } else {
                guard let now = try StoredModel.read(on: connection, hint: leg.target) else { return .movedOn }
                stored = now
            }
            var plan =
                isKnown && leg.target === model ? direct : MigrationPlan(from: stored.model, to: leg.target)
            let schema = try schema(of: leg.target, after: stored, plan)
            let pending = try DeferredSteps.blocking(
                plan, leg.deferred, in: FileNotes(connection: connection))
            if !pending.isEmpty { return .pending(pending) }
            let context = context(stored, schema, plan, on: connection)
            plan.steps = try MigrationCounter(context).checked(
                hasStage: leg.stage?.hasCode == true, cancellation: migration.cancellation)
            try carryOut(plan, context, stored, schema, leg, on: connection)
            try StoredModel.write(leg.target, on: connection)
            try note(leg.deferred, context, on: connection)
            plans.append(plan)
        }
        try connection.commit()
        return .done(plans)
    }

    /// Notes what the migration to a version leaves to be done.
    private func note(
        _ stages: [MigrationStage], _ context: MigrationContext, on connection: Connection
    ) throws(StoreError) {
        guard !stages.isEmpty else { return }
        guard place.isFile else {
            throw .unsupported(store: "SQLite", feature: "deferred stages for a store in memory")
        }
        guard !options.isMirror else {
            throw .unsupported(store: "remote", feature: "deferred stages, because the server has its own objects")
        }
        let notes = FileNotes(connection: connection)
        try DeferredSteps.record(stages, context, in: notes) { (rows) throws(StoreError) in try notes.extent(rows) }
    }

    /// Does what an earlier migration has deferred, because the next one may need it.
    private func finish(_ steps: [DeferredMigrationStep], on connection: Connection) throws(StoreError) {
        guard let stored = try StoredModel.read(on: connection, hint: model) else { return }
        for step in steps {
            let stage = try DeferredSteps.stage(
                for: step, in: migration, path: place.path, why: "the migration to another version comes after it")
            // The model of the stage, not the one in the file: classes that were generated for it know the order of its properties.
            let isSame = stage.target.fingerprint == stored.model.fingerprint
            let layout = try StoreLayout(
                model: isSame ? stage.target : stored.model, dialect: SQLiteDialect(), recorded: stored.names)
            try FilePlace.with(
                connection, place, Schema(layout: layout, isMirror: options.isMirror), stored.metadata, options
            ) { (place) throws(StoreError) in
                _ = try DeferredRunner(place, migration).run(step.name, stage) { _ in }
            }
        }
    }

    private func restore(_ connection: Connection) {
        // Nothing depends on these settings if they fail: the connection is closed then.
        try? connection.execute("PRAGMA legacy_alter_table = OFF")
        try? connection.execute("PRAGMA foreign_keys = ON")
    }

    /// The schema that a file gets: what keeps its name keeps its place.
    func schema(
        of target: ManagedObjectModel, after stored: StoredModel, _ plan: MigrationPlan
    ) throws(StoreError) -> Schema {
        let names = stored.names.carried(by: plan.mapping, from: stored.model, to: target)
        return Schema(
            layout: try StoreLayout(model: target, dialect: SQLiteDialect(), recorded: names),
            isMirror: options.isMirror)
    }

    private func carryOut(
        _ plan: MigrationPlan, _ context: MigrationContext, _ stored: StoredModel, _ schema: Schema,
        _ leg: MigrationLegs.Leg, on connection: Connection
    ) throws(StoreError) {
        let reporter = MigrationReporter(context.layout, migration)
        try connection.read(migration.cancellation) { (connection) throws(StoreError) in
            try HistorySetup.pause(on: connection)
            if !plan.isEmpty {
                try SchemaMigrator(context, reporter).run()
                if leg.stage?.hasCode == true { try StageSteps(context).forgetLinks() }
            }
            try HistorySetup.rename(plan.mapping, on: connection)
            if context.layout.hasExternalColumns { try connection.execute(DroppedFiles.creation) }
            try StoreMetadata(identifier: stored.metadata.identifier, layout: context.layout).write(
                to: connection, objects: schema.objects)
            try reconcile(schema, on: connection)
        }
        if let stage = leg.stage {
            try run(stage, stored, schema, on: connection)
            try StageSteps(context).checkValues(after: stage)
        }
        // What is only added refers to nothing that went.
        if leg.stage != nil || plan.steps.contains(where: { !Self.additions.contains($0.kind) }) {
            try verify(context, on: connection)
        }
        reporter.end()
    }

    private static let additions: Set<MigrationStep.Kind> = [
        .addEntity, .addAttribute, .addRelationship, .describe, .changeIndexes, .addUniqueness, .recompute,
    ]

    /// Creates indexes; an index that duplicates prevent is reported with its entity.
    private func reconcile(_ schema: Schema, on connection: Connection) throws(StoreError) {
        do throws(StoreError) {
            try IndexReconciler.updateInTransaction(schema, on: connection)
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
        _ stage: MigrationStage, _ stored: StoredModel, _ schema: Schema, on connection: Connection
    ) throws(StoreError) {
        guard place.isFile else {
            throw .unsupported(store: "SQLite", feature: "custom stages for a store in memory")
        }
        // The model of the stage, not the one in the file: classes that were generated for it know the order of its properties.
        let layout = try StoreLayout(model: stage.source, dialect: SQLiteDialect(), recorded: stored.names)
        let old = try SQLiteStore.snapshot(of: place, schema: Schema(layout: layout), stored.metadata, open: open)
        let new = try SQLiteStore.within(
            connection, place: place, schema: schema, stored.metadata, options: options)
        defer {
            old.close()
            connection.nesting.usesSavepoints = false
            connection.fetches = PreparedFetches()
        }
        connection.nesting.usesSavepoints = true
        try stage.run(old: old, new: new, migration, path: place.path)
    }

    // MARK: Room and originals

    /// Refuses to begin where the disk cannot hold the file a second time, which a rebuild needs in the worst case, with
    /// the log.
    private func checkSpace(_ plan: MigrationPlan) throws(StoreError) {
        guard place.isFile else { return }
        let grows = plan.steps.contains { $0.kind != .describe && $0.kind != .addEntity }
        guard grows else { return }
        // The attributes that Foundation collects include names of users, which are looked up in files.
        var status = stat()
        let size = stat(place.path, &status) == 0 ? Int64(status.st_size) : 0
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
        "\(path).before-\(stored.model.fingerprint.prefix(8))"
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
