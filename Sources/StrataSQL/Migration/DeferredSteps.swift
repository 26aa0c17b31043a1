import Foundation
import StrataStore

/// Where a store notes its deferred steps: in entries of `_metadata`.
package protocol DeferredNotes {
    /// The place of the store, for errors.
    var path: String { get }
    /// The values of the entries whose keys begin with a prefix.
    func notes(from prefix: String) throws(StoreError) -> [String]
    /// The value of an entry; nil if there is none.
    func note(_ key: String) throws(StoreError) -> String?
    /// Sets the value of an entry; nil removes it.
    func setNote(_ key: String, _ value: String?) throws(StoreError)
}

/// The deferred steps that a store notes: an entry for each, until it is done.
package enum DeferredSteps {
    /// What the keys of the entries begin with.
    package static let prefix = "deferred:"

    /// All steps, in the order in which they were noted.
    package static func read(in notes: some DeferredNotes) throws(StoreError) -> [DeferredMigrationStep] {
        try steps(notes.notes(from: prefix), path: notes.path)
    }

    /// The steps of entries, in the order in which they were noted.
    /// - Parameter path: The place of the store, for errors.
    package static func steps(_ entries: [String], path: String) throws(StoreError) -> [DeferredMigrationStep] {
        var result: [DeferredMigrationStep] = []
        for text in entries { result.append(try step(text, path)) }
        return result.sorted { $0.number < $1.number }
    }

    /// A step by name; nil if it is done.
    static func read(_ name: String, in notes: some DeferredNotes) throws(StoreError) -> DeferredMigrationStep? {
        try notes.note(prefix + name).map { (text) throws(StoreError) in try step(text, notes.path) }
    }

    private static func step(_ text: String, _ path: String) throws(StoreError) -> DeferredMigrationStep {
        guard let step = try? JSONDecoder().decode(DeferredMigrationStep.self, from: Data(text.utf8)) else {
            throw .corrupt(path: path, reason: "a deferred step in _metadata cannot be read: \(text)")
        }
        return step
    }

    /// Notes how far a step is.
    static func write(_ step: DeferredMigrationStep, in notes: some DeferredNotes) throws(StoreError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(step) else {
            throw .corrupt(path: notes.path, reason: "the deferred step \(step.name) cannot be written")
        }
        try notes.setNote(prefix + step.name, String(decoding: data, as: UTF8.self))
    }

    /// Notes that a step is done.
    static func remove(_ step: DeferredMigrationStep, in notes: some DeferredNotes) throws(StoreError) {
        try notes.setNote(prefix + step.name, nil)
    }

    // MARK: Migrating

    /// The steps that must be done before a migration: all, unless it only adds something. A step sees the version that it was
    /// written for, or one that has all of it.
    package static func blocking(
        _ plan: MigrationPlan, _ stages: [MigrationStage], in notes: some DeferredNotes
    ) throws(StoreError) -> [DeferredMigrationStep] {
        let pending = try read(in: notes)
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
    /// - Parameter extent: How many rows a table with a condition gives, and the last key of them; nil if there are none.
    package static func record(
        _ stages: [MigrationStage], _ context: MigrationContext, in notes: some DeferredNotes,
        extent: (String) throws(StoreError) -> (count: Int, last: Int64)?
    ) throws(StoreError) {
        guard !stages.isEmpty else { return }
        var number = (try read(in: notes).last?.number ?? 0) + 1
        for work in stages.compactMap(\.deferred) {
            guard let entity = context.model.entity(named: work.entity),
                let (count, last) = try extent(context.layout.rows(of: entity))
            else { continue }
            let step = DeferredMigrationStep(
                name: work.name, entity: work.entity, total: count, version: context.model.fingerprint, number: number,
                last: last)
            try write(step, in: notes)
            number += 1
        }
    }

    /// The stage with the code of a step.
    /// - Throws: ``StoreError/deferredStepPending(path:step:reason:)`` if there is none.
    package static func stage(
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
