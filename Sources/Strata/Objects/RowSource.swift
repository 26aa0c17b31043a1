import StrataStore

/// What objects that were read together share, so that each of them needs one reference instead of four: their entity,
/// their context's core, the memory of their rows, and the batch whose faults fire together.
final class RowSource {
    let binding: EntityBinding
    /// Nil only for placeholders, which belong to no context.
    let core: ContextCore?
    /// The parts of the core that every write and every relationship asks for.
    let tracker: ChangeTracker?
    let identityMap: IdentityMap?
    /// Where the context finds the objects by key.
    let table: ObjectTable
    /// The memory of the rows, until an object has a row of its own.
    let slab: RowSlab
    let batch: FaultBatch?

    init(binding: EntityBinding, core: ContextCore?, table: ObjectTable, slab: RowSlab, batch: FaultBatch?) {
        self.binding = binding
        self.core = core
        tracker = core?.tracker
        identityMap = core?.identityMap
        self.table = table
        self.slab = slab
        self.batch = batch
    }
}
