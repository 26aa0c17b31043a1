import StrataStore

/// The steps of a plan that only the code of a stage can do: give values of a type for which there is no conversion, and choose
/// the object that stays where a relationship becomes one-to-one.
package struct StageSteps {
    private let context: MigrationContext

    package init(_ context: MigrationContext) { self.context = context }

    /// Whether a step is left to the code of a stage.
    package static func contain(_ step: MigrationStep) -> Bool {
        step.risk == .impossible && (step.kind == .changeType || step.kind == .changeRelationship)
    }

    /// The column that a step left to the stage is about.
    private func place(
        of step: MigrationStep
    ) -> (entity: EntityDescription, slot: SlotDescription, column: String)? {
        guard let entity = context.model.entity(named: step.entity),
            let slot = step.property.flatMap(entity.slot(named:)),
            let column = context.layout.column(entity.index, slot.index)?.quoted
        else { return nil }
        return (entity, slot, column)
    }

    /// Where a relationship becomes one-to-one, no object is linked until the stage has chosen one: links that it does not
    /// choose would lead there from one side only.
    package func forgetLinks() throws(StoreError) {
        for step in context.plan.steps where step.kind == .changeRelationship && Self.contain(step) {
            guard let (entity, _, column) = place(of: step) else { continue }
            let condition = context.layout.entityCondition(entity.index, subentities: true, alias: nil)
            try context.engine.execute(
                "UPDATE \(context.layout.table(entity.index).quoted) SET \(column) = NULL WHERE \(condition ?? "TRUE")")
        }
    }

    /// Checks that the code of the stage has given each object a value where there is no conversion.
    /// - Throws: ``StoreError/migrationFailed(path:step:reason:)`` with the number of objects without one.
    package func checkValues(after stage: MigrationStage) throws(StoreError) {
        for step in context.plan.steps where Self.contain(step) {
            guard let (entity, slot, column) = place(of: step), !slot.isOptional else { continue }
            let rows = context.layout.rows(of: entity)
            let missing =
                try context.engine.integer("SELECT count(*) FROM \(rows) AND \(column) IS NULL") ?? 0
            guard missing == 0 else {
                throw .migrationFailed(
                    path: context.engine.path, step: stage.title,
                    reason: "\(missing) objects have no \(step.id), which is required; set it in the stage")
            }
        }
    }
}

extension MigrationStage {
    /// What errors call the stage.
    package var title: String { "stage from \(source.name) \(source.versionHash.prefix(8))" }

    /// Runs the code of the stage with the stores of both versions.
    /// - Throws: The errors of stores as they are, others as ``StoreError/migrationFailed(path:step:reason:)``.
    package func run(
        old: any PersistentStore, new: any PersistentStore, _ migration: MigrationOptions, path: String
    ) throws(StoreError) {
        let onProgress = migration.onProgress
        let cancellation = migration.cancellation
        let session = MigrationSession(
            old: old, new: new,
            report: { onProgress?(MigrationProgress(text: $0, completed: $1, total: $2)) },
            isCancelled: { cancellation?.isCancelled == true })
        do {
            try body(session)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .migrationFailed(path: path, step: title, reason: "\(error)")
        }
    }
}

extension StoreLayout {
    /// The rows of an entity and those that inherit from it: what follows `FROM`. More conditions may follow.
    package func rows(of entity: EntityDescription) -> String {
        let condition = entityCondition(entity.index, subentities: true, alias: nil)
        return "\(table(entity.index).quoted) WHERE \(condition ?? "TRUE")"
    }
}
