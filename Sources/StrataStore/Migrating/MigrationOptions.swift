/// How a store handles a file that was created with another version of the model.
///
///     var options = SQLiteStore.Options()
///     options.migration.answers = ["City.nickname": .accept]  // a property that the new version lacks
///     options.migration.keepsOriginal = true
///     let container = try PersistentContainer(GazetteerModel.self, at: .file(path: "cities.sqlite"), options: options)
public struct MigrationOptions: Sendable {
    /// Whether files are migrated when they are opened.
    public enum Policy: Sendable, Hashable {
        /// A file is migrated if that loses nothing, or if ``MigrationOptions/answers`` allow what it loses. Everything
        /// else is an error.
        case automatic
        /// A file of another version is an error: ``StoreError/incompatibleModel(path:differences:)``.
        case never
    }

    /// Whether files are migrated when they are opened.
    public var policy = Policy.automatic
    /// Answers to steps that are not safe, by ``MigrationStep/id``: `["City.nickname": .accept]`.
    public var answers: [String: MigrationAnswer] = [:]
    /// Stages with code of their own, in any order. A file goes through the stages that lead from its version to the
    /// model of the application; the steps between them are inferred.
    public var stages: [MigrationStage] = []
    /// The versions of the model in their order, the oldest first. They determine which stages a file still has to go
    /// through if no stage begins with its version, and which versions in between would change the result: a migration over
    /// several versions has the same result as one from each version to the next.
    public var versions: [ManagedObjectModel] = []
    /// Whether the file as it was is kept next to the store, as `<name>.before-<fingerprint>`.
    public var keepsOriginal = false
    /// Whether a file that cannot be migrated is renamed to `<name>.erased` and a new one created. For development
    /// only: the app no longer sees the data.
    public var erasesOnMismatch = false
    /// Called with the progress of a migration, on the thread that migrates.
    public var onProgress: (@Sendable (MigrationProgress) -> Void)?
    /// Cancels a migration. The file stays as it was.
    public var cancellation: ReadCancellation?

    /// The defaults: additions are applied, nothing is lost.
    public init() {}
}

/// The progress of a migration.
public struct MigrationProgress: Sendable, Hashable {
    /// What is being done, in words.
    public let text: String
    /// How many of ``total`` parts are done.
    public let completed: Int
    /// How many parts there are in all.
    public let total: Int

    package init(text: String, completed: Int, total: Int) {
        self.text = text
        self.completed = completed
        self.total = total
    }

    /// How much is done, 0 to 1.
    public var fraction: Double { total == 0 ? 1 : Double(completed) / Double(total) }
}

/// A stage of a migration with code of its own: from one version of the model to another.
///
/// The stores of a session exist while the code runs. `import Strata` gives stages whose code works with objects.
public struct MigrationStage: Sendable {
    /// The version that it begins with.
    public let source: ManagedObjectModel
    /// The version that it ends with.
    public let target: ManagedObjectModel
    /// What it does after the inferred part.
    package let body: @Sendable (MigrationSession) throws -> Void
    /// What remains to be done after the opening; nil for a stage whose code runs during the migration.
    package let deferred: DeferredWork?
    /// Whether ``body`` does something.
    package let hasCode: Bool

    /// A stage whose code works with stores.
    package init(
        from source: ManagedObjectModel, to target: ManagedObjectModel,
        body: @escaping @Sendable (MigrationSession) throws -> Void
    ) {
        self.source = source
        self.target = target
        self.body = body
        deferred = nil
        hasCode = true
    }

    /// A stage with work that is done after the opening.
    package init(from source: ManagedObjectModel, to target: ManagedObjectModel, deferred: DeferredWork) {
        self.source = source
        self.target = target
        body = { _ in }
        self.deferred = deferred
        hasCode = false
    }

    /// A stage without code: a version between others.
    public init(from source: ManagedObjectModel, to target: ManagedObjectModel) {
        self.source = source
        self.target = target
        body = { _ in }
        deferred = nil
        hasCode = false
    }
}

/// What the code of a stage works with.
package struct MigrationSession: Sendable {
    /// The data as they were. It can only be read.
    package let old: any PersistentStore
    /// The data as they will be. What is saved here becomes permanent with the stage.
    package let new: any PersistentStore
    /// Says how far the code is.
    package let report: @Sendable (String, Int, Int) -> Void
    /// Whether the migration has been cancelled.
    package let isCancelled: @Sendable () -> Bool

    package init(
        old: any PersistentStore, new: any PersistentStore, report: @escaping @Sendable (String, Int, Int) -> Void,
        isCancelled: @escaping @Sendable () -> Bool
    ) {
        self.old = old
        self.new = new
        self.report = report
        self.isCancelled = isCancelled
    }
}

/// What a migration did, or would do.
public struct MigrationReport: Sendable, Hashable {
    /// The plans that were carried out, one for each stage.
    public let plans: [MigrationPlan]
    /// How long it took, in seconds.
    public let seconds: Double
    /// The file as it was, if it was kept.
    public let original: String?
    /// The steps that are still to be done after the opening.
    public let deferredSteps: [DeferredMigrationStep]

    package init(
        plans: [MigrationPlan], seconds: Double, original: String?, deferredSteps: [DeferredMigrationStep] = []
    ) {
        self.plans = plans
        self.seconds = seconds
        self.original = original
        self.deferredSteps = deferredSteps
    }

    /// The steps of all plans.
    public var steps: [MigrationStep] { plans.flatMap(\.steps) }
}
