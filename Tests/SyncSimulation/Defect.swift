extension SimulationWorld {
    /// A defect that is put into a client on purpose, to see that the simulation finds it.
    public enum Defect: String, Sendable, CaseIterable {
        /// A reset forgets the objects, but not how far pulls came.
        case resetKeepsCursors
        /// What was given up is not asked for again.
        case dropKeepsOldState
    }
}
