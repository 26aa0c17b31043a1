import StrataStore

/// Computes an answer of values again when something changes that it depends on.
final class LiveValues: BoundaryListener {
    private(set) var values: [[Value]]
    /// Counts the states.
    private(set) var number = 0
    private(set) var failure: PersistenceError?
    private(set) var hasEnded = false
    private let region: LiveRegion
    private let compute: (ContextCore) throws(PersistenceError) -> [[Value]]
    private var signals: [Entry] = []
    private var hasNews = false
    /// Called when the values are others, after all listeners of the context have taken the boundary.
    var onStep: (() -> Void)?

    private struct Entry {
        weak var signal: ChangeSignal?
    }

    init(
        _ values: [[Value]], region: LiveRegion,
        compute: @escaping (ContextCore) throws(PersistenceError) -> [[Value]]
    ) {
        self.values = values
        self.region = region
        self.compute = compute
    }

    var needsSettledReferences: Bool { true }

    func boundaryReached(_ changes: BoundaryChanges, _ core: ContextCore) {
        guard failure == nil, region.isTouched(by: changes, core.model) else { return }
        do throws(PersistenceError) {
            let next = try compute(core)
            guard next != values else { return }
            values = next
            number += 1
            hasNews = true
        } catch {
            fail(error)
        }
    }

    func boundaryPassed() {
        guard hasNews else { return }
        hasNews = false
        if failure == nil { onStep?() }
        raise()
    }

    func contextEnded() {
        hasEnded = true
        raise()
    }

    func fail(_ error: PersistenceError) {
        failure = error
        hasNews = true
    }

    func makeSignal() -> ChangeSignal {
        let signal = ChangeSignal()
        signals.removeAll { $0.signal == nil }
        signals.append(Entry(signal: signal))
        return signal
    }

    private func raise() {
        for entry in signals { entry.signal?.raise() }
    }
}

extension LiveRegion {
    /// What an answer of values depends on: all that its columns, groups and conditions look at.
    init(_ plan: ValuePlan, model: ManagedObjectModel) {
        let expressions = plan.columns.map(\.expression) + plan.groupBy
        self.init(
            plan.fetch, paths: expressions.flatMap(\.keyPaths) + (plan.having?.keyPaths ?? []) + plan.fetch.keyPaths,
            model: model)
        let isVolatile = expressions.contains(where: \.isVolatile) || plan.having?.isVolatile == true
        ownSlots = isVolatile ? nil : ownSlots
    }

    /// Whether changes may matter: of an object in the own hierarchy all that came or went, and what is looked at; of related
    /// ones anything.
    func isTouched(by changes: BoundaryChanges, _ model: ManagedObjectModel) -> Bool {
        if changes.isEverything || !changes.pairs.isEmpty { return true }
        func isLookedAt(_ root: Int, _ slots: SlotSet?, cameOrWent: Bool) -> Bool {
            guard hierarchies.contains(root) else { return false }
            guard root == rootIndex, watches[root] == nil, !needsStore, !cameOrWent, let slots, let ownSlots else {
                return true
            }
            return !slots.intersection(ownSlots).isEmpty
        }
        return changes.objects.contains { touch in
            isLookedAt(
                touch.object.binding.entity.rootIndex, touch.toManys.isEmpty ? touch.changedSlots : nil,
                cameOrWent: touch.wasShown != touch.object.isShown || touch.key != touch.object.key)
        }
            || changes.rows.contains { touch in
                isLookedAt(
                    model.entities[touch.identity.entityIndex].rootIndex, touch.toManyIndex == nil ? touch.slots : nil,
                    cameOrWent: touch.kind == .inserted || touch.kind == .deleted)
            }
    }
}
