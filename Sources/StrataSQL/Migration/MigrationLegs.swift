import StrataStore

/// The way of a store from the version that it has to that of the application.
package struct MigrationLegs {
    /// A part of the way: from one version to another.
    package struct Leg {
        package let target: ManagedObjectModel
        /// The code that runs after the inferred part.
        package let stage: MigrationStage?
        /// What remains to be done afterwards.
        package let deferred: [MigrationStage]
    }

    private let goal: ManagedObjectModel
    private let path: String
    private let migration: MigrationOptions
    private let order: [String]
    package private(set) var legs: [Leg] = []

    /// Finds the way through the stages that begin with the version of a file or with a later one, and through those of
    /// `options.migration.versions` without which the result would be different.
    /// - Throws: ``StoreError/migrationFailed(path:step:reason:)`` if it is not known where the version of the file belongs.
    package init(
        from stored: ManagedObjectModel, _ versionHash: String, to goal: ManagedObjectModel,
        _ migration: MigrationOptions, path: String
    ) throws(StoreError) {
        self.goal = goal
        self.path = path
        self.migration = migration
        order = migration.versions.map { $0.fingerprint }
        try checkStages()
        try find(stored, versionHash)
    }

    /// The parts that share a transaction. A stage reads the file as it was before, and so begins with a transaction of its own;
    /// a step that is deferred belongs to the version after which it was noted.
    package var groups: [[Leg]] {
        var result: [[Leg]] = []
        var isOpen = false
        for leg in legs {
            if isOpen, leg.stage == nil, let last = result.indices.last {
                result[last].append(leg)
            } else {
                result.append([leg])
            }
            isOpen = leg.stage == nil && leg.deferred.isEmpty
        }
        return result
    }

    /// What versions lose at which the data stop, if the last version does not.
    /// - Parameters:
    ///   - model: The version that the data have.
    ///   - plan: The plan straight to the last version.
    package func furtherSteps(from model: ManagedObjectModel, _ plan: MigrationPlan) -> [MigrationStep] {
        var known = Set(plan.steps.map { "\($0.kind) \($0.id)" })
        var steps: [MigrationStep] = []
        var last = model
        for leg in legs where legs.count > 1 {
            for step in MigrationPlan(from: last, to: leg.target).steps where step.risk == .lossy {
                if known.insert("\(step.kind) \(step.id)").inserted { steps.append(step) }
            }
            last = leg.target
        }
        return steps
    }

    private mutating func find(_ stored: ManagedObjectModel, _ versionHash: String) throws(StoreError) {
        let goal = self.goal.fingerprint
        var model = stored
        var current = stored.fingerprint
        var currentHash = versionHash
        let end = order.lastIndex(of: goal)
        // Stages of versions after that of the application do not concern it.
        var rest = migration.stages.filter { stage in
            guard let end, let target = order.firstIndex(of: stage.target.fingerprint) else { return true }
            return target <= end
        }
        while current != goal, !rest.isEmpty {
            guard let next = next(rest, current, currentHash) else {
                let isKnown =
                    order.contains(current)
                    || migration.stages.contains { $0.target.fingerprint == current }
                guard isKnown else {
                    throw .migrationFailed(
                        path: path, step: "find the way to the present version",
                        reason: "no stage begins with the version \(current.prefix(8)) of the file, and "
                            + "options.migration.versions does not say where it belongs; add the version")
                }
                break
            }
            let source = rest[next].source.fingerprint
            if source != current, rest[next].source.versionHash != currentHash {
                addInferred(from: model, to: rest[next].source)
            }
            let target = rest[next].target.fingerprint
            // Code and deferred steps between the same two versions belong together.
            func belongs(_ stage: MigrationStage) -> Bool {
                stage.source.fingerprint == source && stage.target.fingerprint == target
            }
            let stages = rest.filter(belongs)
            rest.removeAll(where: belongs)
            model = stages[0].target
            legs.append(
                Leg(
                    target: model, stage: stages.first { $0.deferred == nil },
                    deferred: stages.filter { $0.deferred != nil }))
            current = target
            currentHash = model.versionHash
        }
        if current != goal || legs.isEmpty { addInferred(from: model, to: self.goal) }
    }

    /// The stage that comes next: one that begins with the version, or else the first one after it.
    private func next(_ stages: [MigrationStage], _ current: String, _ hash: String) -> Int? {
        // A file of the first format is known by its version hash.
        let own =
            stages.firstIndex { $0.source.fingerprint == current }
            ?? stages.firstIndex { $0.source.versionHash == hash }
        guard own == nil, let place = order.firstIndex(of: current) else { return own }
        func position(_ index: Int) -> Int? { order.firstIndex(of: stages[index].source.fingerprint) }
        return stages.indices.filter { position($0).map { $0 > place } ?? false }
            .min { (position($0) ?? 0) < (position($1) ?? 0) }
    }

    /// Adds the versions at which data must stop on the way from one version to another.
    private mutating func addInferred(from source: ManagedObjectModel, to target: ManagedObjectModel) {
        let start = order.firstIndex(of: source.fingerprint)
        // A version that declares the same as an earlier one is reached by way of those in between.
        let end = order.lastIndex(of: target.fingerprint) ?? order.count
        var way = [source]
        if let start, start < end { way += migration.versions[(start + 1)..<end] }
        way.append(target)
        let route = MigrationRoute(way, answers: migration.answers)
        legs += route.stops.map { Leg(target: $0, stage: nil, deferred: []) }
    }

    private func checkStages() throws(StoreError) {
        var names: Set<String> = []
        for stage in migration.stages {
            guard let work = stage.deferred else { continue }
            guard names.insert(work.name).inserted else {
                throw .invalidOption(
                    name: "migration.stages", value: work.name, reason: "give each deferred stage a name of its own")
            }
            guard stage.target.entity(named: work.entity) != nil else {
                throw .invalidOption(
                    name: "migration.stages", value: work.name,
                    reason: "its model \(stage.target.name) has no entity \(work.entity)")
            }
        }
    }
}
