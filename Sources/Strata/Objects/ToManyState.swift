/// A to-many relationship of one object that was touched: the members if they were loaded, and what has changed.
///
/// Adding and removing loads nothing. Where the other end is a to-one, its rows say who belongs here, and it is only
/// noted that something changed; pairs and orders are noted in full until the save. A rollback forgets the members of a
/// changed relationship, so that they are loaded anew.
final class ToManyState {
    /// The members as the application sees them; nil while they have not been loaded.
    var members: MemberStorage?
    /// Whether members came or went since the last save.
    var isTouched = false
    /// Pairs that the next save adds, by the key of the other end.
    var added: [Int64: ManagedObject] = [:]
    /// Pairs that the next save removes.
    var removed: [Int64: ManagedObject] = [:]
    /// Members that were put last, in this order, since the last save.
    var appended: [ManagedObject] = []
    /// Whether the order was changed in another way than by appending.
    var isRearranged = false
    /// The order that the application made. Members that are not there at the moment keep their place in it.
    var arrangement: [ManagedObject] = []

    deinit {
        if members != nil { DeepRelease.clear(&members, to: nil) }
        if !added.isEmpty { DeepRelease.clear(&added, to: [:]) }
    }

    var hasChanges: Bool { isTouched || isRearranged }

    /// Forgets changes: they were saved.
    func clearChanges() {
        isTouched = false
        isRearranged = false
        added = [:]
        removed = [:]
        appended = []
        arrangement = []
    }

    /// Forgets members, but not what is pending, nor an order that the application made.
    func forgetLoaded() { members = nil }

    /// Forgets members and changes.
    func unload() {
        clearChanges()
        members = nil
    }
}
