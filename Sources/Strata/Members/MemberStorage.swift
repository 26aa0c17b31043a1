/// The loaded members of a to-many relationship. The subclasses know the class of the members, so that a generated
/// accessor gives out its `Set` or array without copying.
@usableFromInline
class MemberStorage {
    var count: Int { 0 }
    func contains(_ object: ManagedObject) -> Bool { false }
    /// Adds a member, at the end if there is an order; does nothing if it is one already.
    func insert(_ object: ManagedObject) {}
    /// Adds members that have just been loaded. Each is of another key, and none is a member already.
    func insert(contentsOf objects: [ManagedObject]) { for object in objects { insert(object) } }
    /// - Returns: false if it was not a member.
    func remove(_ object: ManagedObject) -> Bool { false }
    func forEach(_ body: (ManagedObject) -> Void) {}
    func copy() -> MemberStorage { self }

    final var objects: [ManagedObject] {
        var result: [ManagedObject] = []
        result.reserveCapacity(count)
        forEach { result.append($0) }
        return result
    }
}

/// Members without order.
@usableFromInline
final class MemberSet<D: ManagedObject>: MemberStorage {
    @usableFromInline var members: Set<D> = []
    /// Members that have been loaded or added and are not in ``members`` yet: the set is built where it is asked for first,
    /// which is mostly in the accessor, by code that the compiler made for the class. The code here serves all
    /// classes and is slower: to add members one by one took a fifth of the CPU time for 100,000 new objects.
    @usableFromInline var loaded: [ManagedObject] = []

    /// Whether every object that the container makes for the entity, or one that inherits from it, is of the class.
    @usableFromInline let isClosed: Bool

    init(isClosed: Bool) { self.isClosed = isClosed }

    /// Puts what has been loaded into the set.
    @inlinable
    func settle() {
        guard !loaded.isEmpty else { return }
        // Sound: an array of references has one layout whatever their class, and `isClosed` says what the container found
        // out about the classes when it bound them.
        var rest = isClosed ? unsafeBitCast(loaded, to: [D].self) : loaded.compactMap { $0 as? D }
        loaded = []
        var set = members
        members = []
        set.reserveCapacity(set.count + rest.count)
        // As updates, and out of the array, so that references move without being counted up and down: the objects themselves
        // are not touched. In the array stands an object then that lives for ever and is not counted either.
        let nothing = unsafeBitCast([] as [Never], to: D.self)
        rest.withUnsafeMutableBufferPointer { buffer in
            guard let first = buffer.baseAddress else { return }
            for member in first..<(first + buffer.count) {
                set.update(with: member.move())
                member.initialize(to: nothing)
            }
        }
        members = set
    }

    override var count: Int {
        settle()
        return members.count
    }
    override func contains(_ object: ManagedObject) -> Bool {
        settle()
        return (object as? D).map(members.contains) ?? false
    }
    override func insert(_ object: ManagedObject) { if object is D { loaded.append(object) } }
    override func insert(contentsOf objects: [ManagedObject]) {
        // The first array is taken over as it is.
        if loaded.isEmpty { loaded = objects } else { loaded += objects }
    }
    override func remove(_ object: ManagedObject) -> Bool {
        settle()
        return (object as? D).map { members.remove($0) != nil } ?? false
    }
    override func forEach(_ body: (ManagedObject) -> Void) {
        settle()
        members.forEach(body)
    }
    override func copy() -> MemberStorage {
        let result = MemberSet<D>(isClosed: isClosed)
        result.members = members
        result.loaded = loaded
        return result
    }
}
