import Foundation
import Strata
import Testing

extension WorldDriver {
    /// Saves with a random policy.
    func save(_ context: WorldContext) throws {
        let policy = MergePolicy.allCases[random.below(MergePolicy.allCases.count)]
        try save(context, policy: breaksUnique(context) ? .error : policy)
    }

    /// Whether two objects would have the same code: what policies make of that is a matter of ``upsert``.
    private func breaksUnique(_ context: WorldContext) -> Bool {
        var seen: Set<Cell> = []
        return
            (context.view.rows.values.map { $0.cells["code"] }
            + store.world.rows.filter { !context.touches($0.key) }.values.map { _ in nil })
            .contains { $0.map { !seen.insert($0).inserted } ?? false }
            || !root(of: context).isSynced && hasStaleCode(context)
    }

    private func hasStaleCode(_ context: WorldContext) -> Bool {
        // An overwriting save writes codes that it read long ago.
        let mine =
            (Array(context.updates.mapValues { $0.values["code"] ?? $0.snapshot.cells["code"] })
            + Array(context.inserted.mapValues { $0.cells["code"] }))
            .compactMap { id, cell in cell.map { (id, $0) } }
        return mine.contains { id, cell in store.world.rows.contains { $0.key != id && $0.value.cells["code"] == cell }
        }
    }

    /// Saves by a policy.
    /// - Parameter attempted: How the save ended, if it was made already.
    func save(_ context: WorldContext, policy: MergePolicy, attempted: Outcome? = nil) throws {
        context.context.mergePolicy = policy
        let wasClean = context.isClean
        if let parent = context.parent {
            // What one child makes of an object that another one deleted is a matter of tests of its own.
            let cousins = parent.descendants.filter { cousin in
                cousin !== context && !context.descendants.contains { $0 === cousin }
            }
            guard !cousins.contains(where: { cousin in context.deleted.keys.contains(where: cousin.touches) }) else {
                return
            }
            let expected = store.apply(context, to: parent)
            note(context, "save to parent: \(expected)")
            let actual = try outcome(context)
            try require(actual, is: expected, context)
            guard case .saved = expected else { return try check(context) }
            forgetSaved(context)
            for child in parent.children where child !== context {
                try child.context.refreshAllObjects()
                child.rebase()
                try refreshDescendants(child)
            }
            return
        }
        let before = Set(store.world.rows.keys)
        context.settleNullifications()
        let expected = store.save(context, policy: policy)
        note(context, "save \(policy): \(expected)")
        let actual = try attempted ?? outcome(context)
        try require(actual, is: expected, context)
        guard case .saved(let hasConflicts) = expected else {
            try checkPending(context)
            return
        }
        if context.context.hasChanges { throw Difference("changes are left after a save") }
        forgetSaved(context)
        if wasClean { return }
        try readBack(exactly: !hasConflicts, versions: false)
        if hasConflicts { try checkVersions(context) }
        if !context.isSynced || hasConflicts {
            context.held = [:]
            try context.context.refreshAllObjects()
            context.isSynced = true
        }
        try refreshDescendants(context)
        for other in roots where other !== context {
            if other.context.automaticallyMergesChanges {
                other.context.processPendingChanges()
                let gone = before.subtracting(store.world.rows.keys)
                other.forgetReferences(to: gone)
                other.rebase(gone: gone)
                try refreshDescendants(other)
            } else {
                other.isSynced = false
            }
        }
    }

    private func forgetSaved(_ context: WorldContext) {
        for id in context.deleted.keys { context.held[id] = nil }
        context.forget()
    }

    /// How a save ends.
    func outcome(_ context: WorldContext) throws -> Outcome {
        do throws(PersistenceError) {
            try context.context.save()
            return .saved(withConflicts: false)
        } catch {
            switch error {
            case .validation(let failures):
                note(context, "refused: \(failures)")
                return .invalid
            case .conflicts: return .conflicts
            case .objectNotFound: return .notFound
            case .store(.constraint): return .dangling
            case .store(.locked), .store(.diskFull), .store(.io): return .failed
            default: throw error
            }
        }
    }

    private func require(_ actual: Outcome, is expected: Outcome, _ context: WorldContext) throws {
        switch (actual, expected) {
        case (.saved, .saved): return
        // Whether validation or the store refuses depends on whether the context knows already that the target is gone.
        case (.invalid, .dangling): return
        // What a stale context takes for deleted may have been created again.
        case (.invalid, .conflicts) where store.leadsNowhere(context) || !root(of: context).isSynced: return
        default: if actual != expected { throw Difference("the save ended as \(actual), should end as \(expected)") }
        }
    }

    /// A save that validation refuses leaves all as it was; with the value repaired it goes through another time.
    func saveInvalid(_ context: WorldContext) throws {
        guard let id = anyObject(context), context.view.rows[id] != nil else { return }
        let object = try object(id, context)
        let before = context.view.value(id, "name")
        note(context, "spoil \(id)")
        try object.setValue(random.oneIn(2) ? nil : "much too long", forKey: "name")
        let error = #expect(throws: PersistenceError.self) { try context.context.save() }
        guard case .validation(let failures)? = error,
            failures.failures.contains(where: { $0.objectID == object.objectID })
        else {
            throw Difference("a save with an invalid name ended with \(WorldReading.text(error))")
        }
        guard case .string(let name) = before else { throw Difference("\(id) has no name") }
        try object.setValue(name, forKey: "name")
        context.write(id, "name", .value(before))
        try check(context)
    }

    // MARK: Contexts that others have overtaken

    /// What an application may do before it has applied the saves of others.
    func runStale(_ context: WorldContext) throws {
        switch random.below(8) {
        case 0, 1: try setStale(context)
        // Deny is judged by what the context knows, so it must know what the model does.
        case 2, 3, 4: try context.deleted.keys.contains { $0.root == "Shop" } ? sync(context) : save(context)
        case 5, 6: try sync(context)
        default:
            note(context, "rollback of a stale context")
            context.context.rollback()
            forget(context)
            try sync(context)
        }
    }

    private func sync(_ context: WorldContext) throws {
        note(context, "sync")
        try context.context.refreshAllObjects()
        context.isSynced = true
        context.rebase()
        try refreshDescendants(context)
        try check(context)
    }

    /// Changes an object whose row may be out of date.
    private func setStale(_ context: WorldContext) throws {
        guard let id = random.pick(store.world.rows.keys.sorted()), !context.touches(id) else { return }
        let object = try object(id, context)
        guard !object.isDeleted else { return }
        let score = Int64(random.below(5))
        let name = WorldSchema.attributes(store.world.rows[id]!.entity).contains("score") ? "score" : "name"
        _ = try object.value(forKey: name)
        guard let row = store.history[id]?[object.version] else {
            throw Difference("\(id) has version \(object.version), which was never saved")
        }
        note(context, "set stale \(id).\(name) of version \(object.version)")
        let cell: Cell = name == "score" ? .value(.integer(score)) : .value(.string("s\(score)"))
        try object.setValue(name == "score" ? score : "s\(score)", forKey: name)
        context.updates[id] = PendingUpdate(snapshot: row, version: object.version, values: [name: cell])
    }

    // MARK: The store

    /// Compares the store with the model, and takes what the model leaves open from there.
    func readBack(exactly: Bool, versions: Bool) throws {
        let context = container.newContext()
        let (world, actual) = try WorldReading.world(context)
        try WorldReading.compare(world, store.world, exactly: exactly, "store")
        if versions, actual != store.versions { throw Difference("the versions in the store are others") }
        store.world = world
        store.world.prune()
        store.versions = actual
        for (id, version) in actual { store.history[id, default: [:]][version] = world.rows[id] }
    }

    /// After a merge: each object that the context knows shows the row of its version.
    private func checkVersions(_ context: WorldContext) throws {
        for object in context.context.registeredObjects where !object.isFault && !object.isDeleted {
            let id = Ident(object.objectID)
            guard let row = store.history[id]?[object.version] else {
                throw Difference("\(id) has version \(object.version), which was never saved")
            }
            for name in WorldSchema.attributes(row.entity) {
                let cell = try WorldReading.cell(object, name)
                if cell != row.cells[name] {
                    throw Difference(
                        "\(context.name): \(id).\(name) is \(WorldReading.text(cell)), but version \(object.version) has \(WorldReading.text(row.cells[name]))"
                    )
                }
            }
        }
    }
}
