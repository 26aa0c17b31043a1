import StrataRemote

/// What a device forgets on purpose, at any time, even while it synchronizes.
extension SimulatedClient {
    /// Forgets something at random. What it saved of that and has not sent is lost by its own will.
    func forget() throws {
        // Nobody can use the app meanwhile.
        guard !process.isSaving, !process.tallies.contains(where: \.isSaving) else { return }
        // Refusals are rare, so that they are dropped half of the time when there are some: at once, or later, when others
        // have changed what they were about.
        if try !engine.failedChanges().isEmpty, world.executor.random.chance(0.5) {
            world.executor.after(world.executor.random.unit() * 30) { [self] in
                giveUpFailed()
            }
            return
        }
        switch world.executor.random.below(3) {
        case 0: try reset()
        case 1:
            let entity = entity(world.executor.random.one(of: Self.rootNames))
            world.trace("\(number) purges \(entity.name)")
            world.struck(.purgedEntity)
            discardAll()
            world.forgot(by: number) { self.entity($0.entity).rootName == entity.name }
            try engine.purge(entity)
        default:
            let shown = world.executor.random.chance(0.5) ? anyShown() : nil
            guard let identity = try shown ?? anyIdentity() else { return }
            world.trace("\(number) purges \(identity)")
            world.struck(.purgedObject)
            discardAll()
            let given = ModelServer.given(identity)
            world.forgot(by: number) { $0 == given }
            try engine.purge([identity])
        }
    }

    /// Nobody forgets what is on a device and goes on with unsaved changes of it.
    private func discardAll() {
        for context in process.contexts where context.context.hasChanges { discard(context) }
        for tallies in process.tallies {
            tallies.context.rollback()
            tallies.abandon()
        }
    }

    /// Forgets everything.
    func reset() throws {
        world.trace("\(number) resets")
        world.struck(.reset)
        discardAll()
        world.reset(by: number)
        let names = model.entities.map { "pull/\($0.name)" }
        let cursors = try names.map { ($0, try mirror.state($0)) }
        try engine.reset()
        forgetFailures()
        guard world.defect == .resetKeepsCursors else { return }
        for (name, cursor) in cursors { try mirror.setState(name, cursor) }
    }

    /// Gives up what the server refused.
    func giveUpFailed() {
        do { try dropFailed() } catch { world.violate("client \(number): \(error)") }
    }

    private func dropFailed() throws {
        let failed = try engine.failedChanges()
        guard !failed.isEmpty else { return }
        world.trace("\(number) drops \(failed.map(\.identity))")
        world.struck(.drop)
        let identities = Set(failed.map { ModelServer.given($0.identity) })
        world.forgot(by: number) { identities.contains($0) }
        try engine.drop(failed)
        guard world.defect == .dropKeepsOldState else { return }
        try mirror.store.transaction { (transaction) throws(StoreError) in
            try transaction.connection.execute("DELETE FROM _remote_stale")
        }
    }
}
