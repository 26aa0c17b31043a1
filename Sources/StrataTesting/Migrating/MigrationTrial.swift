import Foundation
import Strata

/// Checks that a store of an earlier version migrates as it should: with your assertions, and with those that hold for every
/// migration.
///
///     let trial = MigrationTrial(versions: [version1, version2, version3], stages: [split])
///     try await trial.run(fixture: "Fixtures/contacts-1.sqlite") { migrated in
///         let count = try migrated.container.newContext().count(FetchRequest<ManagedObject>(entity: "Person"))
///         #expect(count == 3)
///     }
///
/// A run migrates copies of the fixture, with its deferred steps, and throws ``MigrationTrialError`` if
/// - a version is not among ``versions``,
/// - a migrated store is damaged or has references that lead nowhere,
/// - a migration from each version to the next has another result than one to the last version,
/// - a migrated store can be migrated again,
/// - the fixture has changed.
public struct MigrationTrial: Sendable {
    /// The versions of the model, the oldest first. The last one is that of the app.
    public var versions: [ManagedObjectModel]
    /// The stages that the app has.
    public var stages: [MigrationStage]
    /// The answers that the app gives.
    public var answers: [String: MigrationAnswer]
    /// Properties whose values are different each time, such as new UUIDs, as `Person.token`. They are not compared.
    public var ignoredProperties: Set<String>

    /// A trial of the migrations of an app.
    public init(
        versions: [ManagedObjectModel], stages: [MigrationStage] = [], answers: [String: MigrationAnswer] = [:],
        ignoredProperties: Set<String> = []
    ) {
        self.versions = versions
        self.stages = stages
        self.answers = answers
        self.ignoredProperties = ignoredProperties
    }

    /// A store that was migrated to the last version.
    public struct Migrated: Sendable {
        /// What the migration did.
        public let report: MigrationReport
        /// The migrated store. The run closes it.
        public let container: PersistentContainer
    }

    /// Migrates copies of a file.
    /// - Parameters:
    ///   - path: The store of an earlier version. It is only read.
    ///   - classes: Classes of the last version, if the assertions need them.
    ///   - check: Your assertions.
    /// - Throws: ``MigrationTrialError``, the errors of the migration, and those of the closure.
    public nonisolated(nonsending) func run(
        fixture path: String, classes: [ManagedObject.Type] = [], _ check: (Migrated) async throws -> Void
    ) async throws {
        guard let goal = versions.last else { throw MigrationTrialError.noVersions }
        let folder = FileManager.default.temporaryDirectory.appending(path: "strata-trial-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let before = try StoreFiles(path)
        let direct = folder.appending(path: "direct.sqlite").path
        try before.copy(to: direct)
        let start = try position(of: direct, named: path)
        let report = try SQLiteStore.migrate(direct, to: goal, options: options(upTo: versions.count - 1))
        let container = try PersistentContainer(
            model: goal, classes: classes, at: .file(path: direct), options: options(upTo: versions.count - 1))
        defer { container.close() }
        try await container.finishDeferredMigration()
        try checkSoundness(direct)
        let contents = try StoreContents(container, ignoring: ignoredProperties)

        let stepwise = folder.appending(path: "stepwise.sqlite").path
        try before.copy(to: stepwise)
        try await compare(contents, with: stepwise, from: start)
        try checkRepetition(of: direct, goal)
        guard try StoreFiles(path) == before else { throw MigrationTrialError.fixtureChanged(path: path) }
        try await check(Migrated(report: report, container: container))
    }

    /// Makes a store of an earlier version, and migrates copies of it.
    /// - Parameters:
    ///   - version: The position of the version in ``versions``.
    ///   - fill: Makes objects of that version. They are saved afterwards.
    ///   - classes: Classes of the last version, if the assertions need them.
    ///   - check: Your assertions.
    /// - Throws: As the other form.
    public nonisolated(nonsending) func run(
        version: Int = 0, making fill: (ManagedObjectContext) throws -> Void, classes: [ManagedObject.Type] = [],
        _ check: (Migrated) async throws -> Void
    ) async throws {
        guard versions.indices.contains(version) else { throw MigrationTrialError.noVersions }
        let folder = FileManager.default.temporaryDirectory.appending(path: "strata-fixture-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "fixture.sqlite").path
        let container = try PersistentContainer(model: versions[version], at: .file(path: path))
        do {
            defer { container.close() }
            let context = container.newContext()
            try fill(context)
            if context.hasChanges { try await context.save() }
        }
        try await run(fixture: path, classes: classes, check)
    }

    // MARK: Parts

    private func options(upTo version: Int) -> SQLiteStore.Options {
        var options = SQLiteStore.Options()
        options.migration.answers = answers
        options.migration.versions = Array(versions[...version])
        let known = Set(versions[...version].map(Self.fingerprint))
        options.migration.stages = stages.filter { known.contains(Self.fingerprint($0.target)) }
        return options
    }

    private static func fingerprint(_ model: ManagedObjectModel) -> String {
        MigrationPlan(from: model, to: model).source.fingerprint
    }

    /// Where the version of a file is among the versions.
    private func position(of copy: String, named path: String) throws -> Int {
        guard let goal = versions.last else { throw MigrationTrialError.noVersions }
        let version = try SQLiteStore.migrationPlan(for: copy, to: goal).source.fingerprint
        guard let position = versions.firstIndex(where: { Self.fingerprint($0) == version }) else {
            throw MigrationTrialError.unknownVersion(path: path, fingerprint: version)
        }
        return position
    }

    private func checkSoundness(_ path: String) throws {
        let report = try SQLiteStore.integrityReport(at: path)
        guard report.isSound else { throw MigrationTrialError.notSound(report) }
    }

    /// Opens a copy with each version in turn, as the devices of users who install every update do.
    private nonisolated(nonsending) func compare(_ contents: StoreContents, with path: String, from start: Int)
        async throws
    {
        for index in versions.indices where index > start {
            let container = try PersistentContainer(
                model: versions[index], at: .file(path: path), options: options(upTo: index))
            defer { container.close() }
            try await container.finishDeferredMigration()
            try checkSoundness(path)
            guard index == versions.count - 1 else { continue }
            let differences = contents.differences(from: try StoreContents(container, ignoring: ignoredProperties))
            guard differences.isEmpty else { throw MigrationTrialError.stepwiseDiffers(differences) }
        }
    }

    private func checkRepetition(of path: String, _ goal: ManagedObjectModel) throws {
        let again = try SQLiteStore.migrate(path, to: goal, options: options(upTo: versions.count - 1))
        guard again.plans.isEmpty else { throw MigrationTrialError.notFinished(again.steps) }
    }
}
