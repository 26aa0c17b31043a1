/// What objects that came together share, so that each of them needs one reference instead of four: their entity, the
/// place where their context knows them, the memory of their rows, and the group whose faults fire together.
final class ObjectOrigin {
    let binding: EntityBinding
    /// The way to the context.
    let home: ContextHome
    /// Where the context finds the objects by key.
    let table: ObjectTable
    /// The memory of the rows, until an object has a row of its own.
    let slab: RowSlab
    let group: FetchGroup?

    init(binding: EntityBinding, home: ContextHome, table: ObjectTable, slab: RowSlab, group: FetchGroup?) {
        self.binding = binding
        self.home = home
        self.table = table
        self.slab = slab
        self.group = group
    }
}

/// The way from objects to their context, which they do not keep alive. A context that goes away, or forgets all that it
/// knows, leaves this empty.
final class ContextHome {
    /// Cleared by the context before it goes, so it never dangles.
    @exclusivity(unchecked) unowned(unsafe) var context: ManagedObjectContext?
    // Unchecked for overlapping accesses because it is loaded and stored as a whole, in one isolation domain.

    /// By position of the entity; those of one hierarchy are the same table.
    let tables: [ObjectTable]

    init(context: ManagedObjectContext?, tables: [ObjectTable]) {
        self.context = context
        self.tables = tables
    }
}
