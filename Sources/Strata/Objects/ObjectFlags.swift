/// The states of an object, several at once.
@usableFromInline
struct ObjectFlags: OptionSet, Sendable {
    @usableFromInline let rawValue: UInt32
    @usableFromInline init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The row has not been read yet.
    @usableFromInline static let fault = ObjectFlags(rawValue: 1 << 0)
    /// Reads are reported to the observation registrar.
    @usableFromInline static let observed = ObjectFlags(rawValue: 1 << 1)
    /// New, not saved yet.
    @usableFromInline static let inserted = ObjectFlags(rawValue: 1 << 2)
    /// Changed since the last fetch, save or refresh.
    @usableFromInline static let updated = ObjectFlags(rawValue: 1 << 3)
    /// Deleted, not saved yet.
    @usableFromInline static let deleted = ObjectFlags(rawValue: 1 << 4)
    /// The row belongs to this object only and may be written in place.
    @usableFromInline static let ownsRow = ObjectFlags(rawValue: 1 << 5)
    /// The row no longer exists in the store, or never did.
    @usableFromInline static let missing = ObjectFlags(rawValue: 1 << 6)
    /// Is in the context's list of changed objects.
    @usableFromInline static let listed = ObjectFlags(rawValue: 1 << 7)
    /// No context knows the object any more.
    @usableFromInline static let detached = ObjectFlags(rawValue: 1 << 8)
    /// The delete hook is running or has run; cycles of cascades end here.
    @usableFromInline static let deleting = ObjectFlags(rawValue: 1 << 9)
    /// The row was deleted elsewhere; the object is kept because it has unsaved changes.
    @usableFromInline static let deletedElsewhere = ObjectFlags(rawValue: 1 << 11)
    /// The context has a recorder, which is to know before the whole object changes.
    static let recorded = ObjectFlags(rawValue: 1 << 10)
    /// The ID was read before the first save.
    @usableFromInline static let idTaken = ObjectFlags(rawValue: 1 << 12)
    /// An attribute was changed by an operation that has not been saved.
    static let operated = ObjectFlags(rawValue: 1 << 13)

    /// Somebody may want to know which relationships are read.
    static let readsRecorded = ObjectFlags(rawValue: 1 << 14)

    /// A fault of which some slots are known.
    static let partial = ObjectFlags(rawValue: 1 << 15)

    // Sets that are asked for at each access are constants: a literal allocates an array in debug builds.

    /// A read of a property must take the long way.
    @usableFromInline static let slowAccess = ObjectFlags(rawValue: 0b11)
    /// No relationship shows the object: it is deleted or missing.
    @usableFromInline static let hidden = ObjectFlags(rawValue: 1 << 4 | 1 << 6)
    /// The object has changes that a save would write: it is inserted, updated or deleted.
    @usableFromInline static let changed = ObjectFlags(rawValue: 1 << 2 | 1 << 3 | 1 << 4)
    /// A change does not make the object an updated one: it is inserted, updated already, or missing.
    static let notUpdatable = ObjectFlags(rawValue: 1 << 2 | 1 << 3 | 1 << 6)
    /// The row has not been read, or there is none.
    static let unread = ObjectFlags(rawValue: 1 << 0 | 1 << 6)
    /// The store has no row for the object, or none that it is to keep.
    static let withoutRow = ObjectFlags(rawValue: 1 << 0 | 1 << 2 | 1 << 4 | 1 << 6)
    /// A new object with a row of its own.
    static let new = ObjectFlags(rawValue: 1 << 2 | 1 << 5)
    /// The flags that a save removes.
    static let unsaved = ObjectFlags(rawValue: 1 << 2 | 1 << 3 | 1 << 5 | 1 << 12)
    /// The row is read, or the object has been found missing or deleted elsewhere: flags that a row removes.
    static let beforeRow = ObjectFlags(rawValue: 1 << 0 | 1 << 5 | 1 << 6 | 1 << 11)
    /// A recorder may need to know before the whole object changes.
    static let watched = ObjectFlags(rawValue: 1 << 1 | 1 << 10)
    /// No flags.
    static let none: ObjectFlags = []
}
