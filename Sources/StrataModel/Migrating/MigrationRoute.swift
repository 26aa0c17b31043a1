/// The way of data through versions of a model.
///
/// A migration from the first version to the last one at once is faster than one from each version to the next, but does not
/// always have the same result: a value that only a version in between requires is filled in only there. A route skips a version
/// where that makes no difference, and stops at it otherwise.
package struct MigrationRoute {
    /// The versions at which data stop, without the one that they have; the last one is always among them.
    package let stops: [ManagedObjectModel]

    /// - Parameters:
    ///   - versions: The version that the data have, those after it in their order, and the one that they get.
    ///   - answers: The answers to steps, which decide what is filled in.
    package init(_ versions: [ManagedObjectModel], answers: [String: MigrationAnswer]) {
        guard versions.count > 2 else {
            stops = Array(versions.dropFirst())
            return
        }
        var stops: [ManagedObjectModel] = []
        var plans: [MigrationPlan] = []
        for index in versions.indices.dropFirst() {
            plans.append(MigrationPlan(from: versions[index - 1], to: versions[index]))
        }
        var place = 0
        while place < versions.count - 1 {
            let way = Way(versions: versions, plans: plans, answers: answers, start: place)
            let next = (place + 1..<versions.count).last { way.canSkip(to: $0) } ?? versions.count - 1
            stops.append(versions[next])
            place = next
        }
        self.stops = stops
    }

    /// The part of a route that begins with one version.
    private struct Way {
        let versions: [ManagedObjectModel]
        /// The plan from each version to the next.
        let plans: [MigrationPlan]
        let answers: [String: MigrationAnswer]
        let start: Int

        /// Whether a migration straight to a later version has the same result as one from version to version.
        func canSkip(to end: Int) -> Bool {
            if end == start + 1 { return true }
            let legs = plans[start..<end]
            let direct = MigrationPlan(from: versions[start], to: versions[end])
            func isImpossible(_ plan: MigrationPlan) -> Bool { plan.steps.contains { $0.risk == .impossible } }
            // Where no inferred migration goes from version to version, there is nothing to compare with.
            if legs.contains(where: isImpossible) { return !isImpossible(direct) }
            guard !isImpossible(direct), hasSameLinks(legs, direct, end) else { return false }
            let first = MigrationTrace(of: versions[start])
            var stepwise = first
            for index in start..<end {
                stepwise = stepwise.advanced(by: plans[index], to: versions[index + 1], answers: answers)
            }
            let skipping = first.advanced(by: direct, to: versions[end], answers: answers)
            return stepwise.concrete(in: versions[end]) == skipping.concrete(in: versions[end])
        }

        /// Whether at most one of the legs changes which objects and links there are, and the direct way does the same.
        private func hasSameLinks(_ legs: ArraySlice<MigrationPlan>, _ direct: MigrationPlan, _ end: Int) -> Bool {
            let changing = legs.indices.filter { index in
                legs[index].steps.contains { changesLinks($0, legs[index], versions[index], versions[index + 1]) }
            }
            func changes(_ plan: MigrationPlan, _ old: ManagedObjectModel, _ new: ManagedObjectModel) -> Set<String> {
                Set(
                    plan.steps.filter { changesLinks($0, plan, old, new) }.map {
                        "\($0.kind) \($0.risk) \($0.id) \($0.text)"
                    }
                )
            }
            let total = changes(direct, versions[start], versions[end])
            guard let only = changing.first else { return total.isEmpty }
            guard changing.count == 1 else { return false }
            // Which objects are duplicates may depend on values that a later version changes.
            if only != end - 1, legs[only].steps.contains(where: { $0.kind == .addUniqueness }) { return false }
            return changes(legs[only], versions[only], versions[only + 1]) == total
        }

        private func changesLinks(
            _ step: MigrationStep, _ plan: MigrationPlan, _ old: ManagedObjectModel, _ new: ManagedObjectModel
        ) -> Bool {
            func isRelationship(_ model: ManagedObjectModel) -> Bool {
                step.property.flatMap { model.entity(named: step.entity)?.relationship(named: $0) } != nil
            }
            switch step.kind {
            case .removeEntity, .changeRelationship, .removeRelationship, .addUniqueness: return true
            case .changeHierarchy: return step.risk != .safe
            case .moveProperty, .changeOptionality: return isRelationship(new)
            case .addRelationship:
                // A relationship with a new inverse begins empty; an older inverse has links already.
                guard let entity = new.entity(named: step.entity),
                    let inverse = step.property.flatMap(entity.relationship(named:)).flatMap(new.inverse(of:))
                else { return false }
                return !plan.steps.contains {
                    $0.kind == .addRelationship && $0.id == "\(inverse.declaringEntity).\(inverse.name)"
                }
            default: return false
            }
        }
    }
}
