import StrataRemote

/// What is forgotten on a device on purpose, at any time, also while it synchronises.
extension SimulatedClient {
    /// Forgets something at random. What it saved of that and has not sent is lost by its own will.
    func forget() throws {
        switch world.executor.random.below(4) {
        case 0:
            world.trace("\(number) resets")
            world.struck(.reset)
            world.forgot(by: number) { _ in true }
            try keepingCursors(if: .resetKeepsCursors) { try engine.reset() }
        case 1:
            let entity = world.model.entities[world.executor.random.below(world.model.entities.count)]
            world.trace("\(number) purges \(entity.name)")
            world.struck(.purgedEntity)
            world.forgot(by: number) { $0.entity == entity.name }
            try keepingCursors(if: .purgeKeepsCursors) { try engine.purge(entity) }
        case 2:
            guard let identity = try anyIdentity() else { return }
            world.trace("\(number) purges \(identity)")
            world.struck(.purgedObject)
            world.forgot(by: number) { $0 == identity }
            try engine.purge([identity])
        default:
            let failed = try engine.failedChanges()
            guard !failed.isEmpty else { return }
            world.trace("\(number) drops \(failed.map(\.identity))")
            world.struck(.drop)
            let identities = Set(failed.map(\.identity))
            world.forgot(by: number) { identities.contains($0) }
            try engine.drop(failed)
            guard world.defect == .dropKeepsOldState else { return }
            try mirror.store.transaction { (transaction) throws(StoreError) in
                try transaction.connection.execute("DELETE FROM _remote_stale")
            }
        }
    }

    private func keepingCursors(if defect: SimulationWorld.Defect, _ body: () throws -> Void) throws {
        guard world.defect == defect else { return try body() }
        let names = world.model.entities.map { "pull/\($0.name)" }
        let cursors = try names.map { ($0, try mirror.state($0)) }
        try body()
        for (name, cursor) in cursors { try mirror.setState(name, cursor) }
    }
}
