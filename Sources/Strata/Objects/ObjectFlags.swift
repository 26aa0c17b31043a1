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
    /// The row is this object's alone and may be written in place.
    @usableFromInline static let ownsRow = ObjectFlags(rawValue: 1 << 5)
    /// There is no row in the store any more, or never was.
    @usableFromInline static let missing = ObjectFlags(rawValue: 1 << 6)
    /// Stands in the context's list of changed objects.
    @usableFromInline static let listed = ObjectFlags(rawValue: 1 << 7)
    /// No context knows the object any more.
    @usableFromInline static let detached = ObjectFlags(rawValue: 1 << 8)
    /// The delete hook is running or has run; cycles of cascades end here.
    @usableFromInline static let deleting = ObjectFlags(rawValue: 1 << 9)
    /// Others deleted the row, and the object lives on for its changes.
    @usableFromInline static let gone = ObjectFlags(rawValue: 1 << 11)

    /// A read of a property must take the long way.
    @usableFromInline static let slowAccess: ObjectFlags = [.fault, .observed]
    /// No relationship shows the object.
    @usableFromInline static let hidden: ObjectFlags = [.deleted, .missing]
    /// The object has changes that a save would write.
    @usableFromInline static let changed: ObjectFlags = [.inserted, .updated, .deleted]
}
