/// How a store handles a file that was created with another version of the model.
///
///     var options = SQLiteStore.Options()
///     options.migration.answers = ["City.nickname": .accept]  // a property that the new version lacks
///     options.migration.keepsOriginal = true
///     let container = try PersistentContainer(GazetteerModel.self, at: .file(path: "cities.sqlite"), options: options)
///
/// Without any settings, a file is migrated when it is opened if nothing is lost. Steps that would lose data stop the opening
/// with ``StoreError/migrationNeedsAnswers(path:steps:)`` until ``answers`` has an answer for each of them. A migration
/// is one transaction, and each stage with code is one: after an error, the file is as it was before.
///
/// Set ``stages`` for conversions in code, and ``versions`` so that users who skip updates get the same result. A large file
/// takes a while: call `SQLiteStore.migrate(_:to:options:onProgress:)` before you open it, so that the main thread does not
/// wait.
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

/// How far a migration is, for a progress bar.
///
///     try await SQLiteStore.migrate("cities.sqlite", to: model) { progress in
///         print(Int(progress.fraction * 100), "%", progress.text)
///     }
///
/// ``MigrationOptions/onProgress`` and `PersistentContainer.finishDeferredMigration(onProgress:)` are called with it, on the
/// thread that does the work; send it to the main actor to show it. ``fraction`` counts parts, not seconds: a part with many
/// objects takes longer than one with few. ``text`` describes the present part in English and is meant for logs.
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

/// A part of a migration that leads from one version of the model to another, with code of its own if you need it.
///
///     let stage = MigrationStage.custom(from: version1, to: version2) { migration in
///         try migration.forEach("Contact") { old, new in
///             new?["firstName"] = (old["name"] as? String ?? "").split(separator: " ").first.map(String.init)
///         }
///     }
///     var options = SQLiteStore.Options()
///     options.migration.stages = [stage]
///     options.migration.versions = [version1, version2]
///
/// Most changes of a model need no stage: they are inferred. Write one to split or combine values, to choose between objects,
/// or where types have no conversion. `import Strata` declares `custom(from:to:_:)`, which runs during the migration after the
/// inferred steps, and `deferred(_:from:to:forEach:classes:batchSize:_:)`, which runs later in batches.
///
/// A file goes through each stage that begins at its version or at a later one. If the code throws, its stage is rolled back,
/// and the file keeps the version of the stage before. ``init(from:to:)`` makes a stage without code: a version to stop at.
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

/// What a migration did, how long it took, and what is left to do.
///
///     let report = try SQLiteStore.migrate("cities.sqlite", to: model)
///     for step in report.steps { print(step.id, step.text, step.rows ?? 0) }
///     print(report.seconds, "s,", report.deferredSteps.count, "deferred steps")
///
/// `SQLiteStore.migrate(_:to:options:)` and `SQLiteStore.dryRun(_:to:options:)` return it. ``plans`` is empty if the file had
/// the version of the model already. If ``deferredSteps`` is not empty, call
/// `PersistentContainer.finishDeferredMigration(onProgress:)` when the app has time.
///
/// Opening a store migrates it without a report. To learn what a migration would do before it runs, ask
/// `SQLiteStore.migrationPlan(for:to:options:)`.
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
