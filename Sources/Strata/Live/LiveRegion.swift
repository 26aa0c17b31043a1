import StrataStore

/// What a live list depends on: properties of its own entity and of related ones, each with the way that leads there.
struct LiveRegion {
    /// A property on a way.
    struct Watch {
        /// The relationships from the list's entity to the one of the property; none for its own.
        let way: [RelationshipDescription]
        /// The entity that has the property, or those that inherit from it.
        let entityIndex: Int
        /// The slots of the property, or none for a to-many relationship.
        let slots: SlotSet
        /// The number of the property among the to-many relationships.
        let toManyIndex: Int?
        /// The path, as the list's readers know it: `author.name`.
        let name: String

        /// Whether it is only about who is at the other end of a relationship of the list's own objects.
        var isOwnRelationship: Bool { way.count == 1 && name == way[0].name }
    }

    /// The topmost entity of the list's own hierarchy.
    let rootIndex: Int
    /// The hierarchies that matter.
    private(set) var hierarchies: Set<Int>
    /// What related objects must not change without notice, by the topmost entity of their hierarchy.
    private(set) var watches: [Int: [Watch]] = [:]
    /// The slots of the list's own objects that matter; nil for all.
    var ownSlots: SlotSet? = SlotSet()
    /// The to-many relationships of the list's own objects that matter, by their number.
    private(set) var ownToManys: Set<Int> = []
    /// Whether only the store can say what changes: the condition looks at values that it derives, or over a relationship
    /// without a way back, or at the time.
    private(set) var needsStore: Bool

    init(_ plan: FetchPlan, paths: [[String]], model: ManagedObjectModel) {
        let entity = model.entities[plan.entityIndex]
        rootIndex = entity.rootIndex
        hierarchies = [entity.rootIndex]
        needsStore = plan.isVolatile
        for path in paths { add(path, from: entity, model) }
    }

    private mutating func add(_ path: [String], from entity: EntityDescription, _ model: ManagedObjectModel) {
        var current = entity
        var way: [RelationshipDescription] = []
        for (position, name) in path.enumerated() where !name.hasPrefix("@") {
            let whole = path[...position].joined(separator: ".")
            guard let relationship = current.relationship(named: name) else {
                let rest = path[position...].joined(separator: ".")
                let slots =
                    current.slot(named: rest).map { [$0.index] }
                    ?? current.attribute(named: name).map { Array($0.slots) }
                for slot in slots ?? [] { addDerivation(current.slots[slot].derivation, of: current, model) }
                if slots == nil, way.isEmpty { ownSlots = nil }
                add(
                    Watch(
                        way: way, entityIndex: current.index, slots: SlotSet(slots ?? []), toManyIndex: nil,
                        name: whole),
                    model)
                return
            }
            add(
                Watch(
                    way: way, entityIndex: current.index, slots: SlotSet(relationship.slot.map { [$0] } ?? []),
                    toManyIndex: relationship.toManyIndex, name: whole),
                model)
            if model.inverse(of: relationship) == nil { needsStore = true }
            way.append(relationship)
            current = model.destination(of: relationship)
            hierarchies.insert(current.rootIndex)
            if position == path.count - 1 || path[(position + 1)...].allSatisfy({ $0.hasPrefix("@") }) {
                // Who is at the end matters, though nothing of them does.
                add(Watch(way: way, entityIndex: current.index, slots: SlotSet(), toManyIndex: nil, name: whole), model)
            }
        }
    }

    /// Whether the condition, the order or the sections look at any of these properties of an own object.
    func looksAt(_ slots: SlotSet, toManys: some Sequence<Int>) -> Bool {
        guard let ownSlots else { return true }
        return !slots.intersection(ownSlots).isEmpty || toManys.contains(where: ownToManys.contains)
    }

    private mutating func add(_ watch: Watch, _ model: ManagedObjectModel) {
        if watch.way.isEmpty {
            ownSlots?.formUnion(watch.slots)
            if let index = watch.toManyIndex { ownToManys.insert(index) }
        }
        if !watch.way.isEmpty { watches[model.entities[watch.entityIndex].rootIndex, default: []].append(watch) }
    }

    /// Values that the store derives are not known here until the row is read again.
    private mutating func addDerivation(
        _ derivation: Derivation?, of entity: EntityDescription, _ model: ManagedObjectModel
    ) {
        let path: [String]
        switch derivation {
        case .count(let name)?: path = [name]
        case .sum(let name, let attribute)?: path = [name, attribute]
        case .path(let names)?: path = names
        default: return
        }
        needsStore = true
        var current = entity
        for name in path {
            guard let relationship = current.relationship(named: name) else { return }
            current = model.destination(of: relationship)
            hierarchies.insert(current.rootIndex)
        }
    }
}
