import StrataStore

/// A step of a migration that is still to be done, as `strata store info --json` prints it.
struct DeferredReport: Encodable, CustomStringConvertible {
    let name: String
    let entity: String
    let completed: Int
    let total: Int

    init(_ step: DeferredMigrationStep) {
        name = step.name
        entity = step.entity
        completed = step.completed
        total = step.total
    }

    var description: String { "\(name): \(completed) of \(total) objects of \(entity)" }
}
