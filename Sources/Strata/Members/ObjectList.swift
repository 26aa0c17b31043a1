/// Objects in an order, each once. Adding at the end and removing take constant time: a removed object leaves a gap, and
/// gaps are closed when they outnumber the objects or the order is read.
///
/// The ordered set of swift-collections moves everything after a removed element, so that removing 50,000 members one
/// by one would take a billion steps.
struct ObjectList<Object: ManagedObject> {
    private var slots: [Object?] = []
    private var positions: [ObjectIdentifier: Int] = [:]

    init() {}

    init(_ objects: some Sequence<Object>) {
        for object in objects { append(object) }
    }

    var count: Int { positions.count }
    var isEmpty: Bool { positions.isEmpty }

    func contains(_ object: ManagedObject) -> Bool { positions[ObjectIdentifier(object)] != nil }

    /// Adds an object at the end.
    /// - Returns: false if it exists already.
    @discardableResult
    mutating func append(_ object: Object) -> Bool {
        guard !contains(object) else { return false }
        positions[ObjectIdentifier(object)] = slots.count
        slots.append(object)
        return true
    }

    /// Puts an object at the end, whether it is there or not.
    mutating func moveToEnd(_ object: Object) {
        remove(object)
        append(object)
    }

    /// - Returns: false if it is not there.
    @discardableResult
    mutating func remove(_ object: ManagedObject) -> Bool {
        guard let position = positions.removeValue(forKey: ObjectIdentifier(object)) else { return false }
        slots[position] = nil
        if slots.count > 32, slots.count > 2 * positions.count { compact() }
        return true
    }

    /// The objects in order.
    var objects: [Object] { slots.compactMap(\.self) }

    private mutating func compact() {
        slots.removeAll { $0 == nil }
        for (position, object) in slots.enumerated() {
            if let object { positions[ObjectIdentifier(object)] = position }
        }
    }
}
