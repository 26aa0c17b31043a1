import Foundation
import StrataSQL
import StrataStore

/// The deferred steps that a file notes: an entry of `_metadata` for each, until it is done.
enum DeferredSteps {
    private static let prefix = "deferred:"

    /// All steps, in the order in which they were noted.
    static func read(on connection: Connection) throws(StoreError) -> [DeferredMigrationStep] {
        // The character after the colon ends the range.
        let texts = try connection.texts("SELECT value FROM _metadata WHERE key >= 'deferred:' AND key < 'deferred;'")
        var result: [DeferredMigrationStep] = []
        for text in texts { result.append(try step(text, connection)) }
        return result.sorted { $0.number < $1.number }
    }

    /// A step by name; nil if it is done.
    static func read(_ name: String, on connection: Connection) throws(StoreError) -> DeferredMigrationStep? {
        try StoreMetadata.get(prefix + name, on: connection).map { (text) throws(StoreError) in
            try step(text, connection)
        }
    }

    private static func step(_ text: String, _ connection: Connection) throws(StoreError) -> DeferredMigrationStep {
        guard let step = try? JSONDecoder().decode(DeferredMigrationStep.self, from: Data(text.utf8)) else {
            throw .corrupt(path: connection.path, reason: "a deferred step in _metadata cannot be read: \(text)")
        }
        return step
    }

    /// Notes how far a step is.
    static func write(_ step: DeferredMigrationStep, on connection: Connection) throws(StoreError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(step) else {
            throw .corrupt(path: connection.path, reason: "the deferred step \(step.name) cannot be written")
        }
        try StoreMetadata.set(prefix + step.name, String(decoding: data, as: UTF8.self), on: connection)
    }

    /// Notes that a step is done.
    static func remove(_ step: DeferredMigrationStep, on connection: Connection) throws(StoreError) {
        let statement = try connection.prepare("DELETE FROM _metadata WHERE key = ?", persistent: false)
        statement.bind(prefix + step.name, at: 1)
        try statement.run()
    }

    // MARK: Migrating

    /// The steps that must be done before a migration: all, unless it only adds something. A step sees the version that it was
    /// written for, or one that has all of it.
    static func blocking(
        _ plan: MigrationPlan, _ stages: [MigrationStage], on connection: Connection
    ) throws(StoreError) -> [DeferredMigrationStep] {
        let pending = try read(on: connection)
        guard !pending.isEmpty else { return [] }
        let isAddition = plan.steps.allSatisfy { $0.risk == .safe && additions.contains($0.kind) }
        if !isAddition { return pending }
        // A name that is used again would be noted over.
        let names = Set(stages.compactMap(\.deferred?.name))
        return pending.filter { names.contains($0.name) }
    }

    private static let additions: Set<MigrationStep.Kind> = [
        .addEntity, .addAttribute, .addRelationship, .describe, .changeIndexes,
    ]

    /// Notes the steps of stages as a part of the migration to their version.
    static func record(
        _ stages: [MigrationStage], _ context: MigrationContext, _ options: SQLiteStore.Options, isFile: Bool,
        on connection: Connection
    ) throws(StoreError) {
        guard !stages.isEmpty else { return }
        guard isFile else {
            throw .unsupported(store: "SQLite", feature: "deferred stages for a store in memory")
        }
        guard !options.isMirror else {
            throw .unsupported(store: "remote", feature: "deferred stages, because the server has its own objects")
        }
        var number = (try read(on: connection).last?.number ?? 0) + 1
        for work in stages.compactMap(\.deferred) {
            guard let entity = context.model.entity(named: work.entity) else { continue }
            let rows = context.layout.rows(of: entity)
            let total = try connection.integer("SELECT count(*) FROM \(rows)") ?? 0
            guard total > 0, let last = try connection.integer("SELECT max(_id) FROM \(rows)") else { continue }
            let step = DeferredMigrationStep(
                name: work.name, entity: work.entity, total: Int(total),
                version: context.model.fingerprint,
                number: number, last: last)
            try write(step, on: connection)
            number += 1
        }
    }

    /// The stage with the code of a step.
    /// - Throws: ``StoreError/deferredStepPending(path:step:reason:)`` if there is none.
    static func stage(
        for step: DeferredMigrationStep, in migration: MigrationOptions, path: String, why: String
    ) throws(StoreError) -> MigrationStage {
        guard let stage = migration.stages.first(where: { $0.deferred?.name == step.name }) else {
            throw .deferredStepPending(
                path: path, step: step.name,
                reason: "\(why), and no stage in options.migration.stages has its name; add the stage")
        }
        return stage
    }
}
