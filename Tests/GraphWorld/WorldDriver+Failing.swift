import Foundation
import Strata
import StrataStore
import StrataTesting

/// A store that fails for a while: busy, full, broken.
extension WorldDriver {
    /// What the store says when it fails.
    private var failure: StoreError {
        switch random.below(3) {
        case 0: .locked(path: path)
        case 1: .diskFull(path: path)
        default: .io(path: path, code: 10, reason: "disk I/O error")
        }
    }

    /// Lets calls fail after the next few.
    private func fail() -> Guarded<Int> {
        let (error, first, calls) = (failure, random.below(6), Guarded(0))
        faults.fail { _ in
            calls.withLock {
                $0 += 1
                return $0 > first ? error : nil
            }
        }
        return calls
    }

    /// Changes objects; now and then while the store fails. What could not be evaluated then is evaluated afterwards.
    func changing(_ context: WorldContext, _ change: () throws -> Void) throws {
        guard failsNextChange else { return try change() }
        failsNextChange = false
        note(context, "failing: the store fails during this change")
        let calls = fail()
        defer { faults.recover() }
        try change()
        faults.recover()
        guard calls.withLock(\.self) > 0 else { return }
        context.context.processPendingChanges()
        // Others may save before the row is read. The model takes it as it is now.
        for object in context.context.updatedObjects where object.isFault { _ = try object.value(forKey: "name") }
    }

    /// A save that the store does not take leaves everything as it was.
    func saveFailing(_ context: WorldContext) throws {
        guard context.parent == nil, !context.isClean else { return }
        note(context, "saveFailing")
        _ = fail()
        context.context.mergePolicy = .error
        let attempted: Outcome
        do {
            defer { faults.recover() }
            attempted = try outcome(context)
        }
        guard attempted == .failed else { return try save(context, policy: .error, attempted: attempted) }
        try check(context)
        try readBack(exactly: true, versions: true)
    }

    /// A fetch fails, or finds what is there.
    func fetchFailing(_ context: WorldContext) throws {
        guard let kind = random.pick(WorldSchema.kinds) else { return }
        note(context, "fetchFailing \(kind.name)")
        let expected = Set(context.view.all(kind.name))
        _ = fail()
        var found: Set<Ident>?
        do throws(PersistenceError) {
            defer { faults.recover() }
            found = Set(
                try context.context.fetch(FetchRequest<ManagedObject>(entity: kind.name)).map { Ident($0.objectID) })
        } catch {
            guard case .store = error else { throw error }
        }
        if let found, found != expected {
            throw Difference("\(context.name): the fetch found \(found.sorted()), should find \(expected.sorted())")
        }
        try check(context)
    }
}
