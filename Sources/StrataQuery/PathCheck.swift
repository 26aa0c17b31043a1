extension ManagedObjectModel {
    /// What is wrong with a key path of a condition or an order: nil if it leads to something that a store keeps.
    /// - Parameters:
    ///   - path: The components.
    ///   - entity: Where it starts.
    ///   - takesCollections: Whether it may lead through relationships to many, as paths of conditions may.
    public func fault(inPath path: [String], from entity: EntityDescription, takesCollections: Bool) -> String? {
        if path.isEmpty { return "an empty key path names no property" }
        let whole = path.joined(separator: ".")
        var current = entity
        for (position, name) in path.enumerated() {
            if name.hasPrefix("@") {
                guard takesCollections, CollectionOperator(rawValue: name) != nil else {
                    return "\(whole): \(name) is no collection operator that can stand here"
                }
                continue
            }
            let rest = path[position...].joined(separator: ".")
            if let slot = current.slot(named: name) ?? current.slot(named: rest), slot.relationshipIndex == nil {
                return slot.isTransient ? "\(whole) is transient; the store does not know its values" : nil
            }
            if takesCollections, position == path.count - 1, current.attribute(named: name) != nil { return nil }
            guard let relationship = current.relationship(named: name) else {
                return "\(current.name) has no property \(rest)"
            }
            guard !relationship.isToMany || takesCollections else {
                return "\(whole): \(name) leads to many objects; an order needs one value"
            }
            current = destination(of: relationship)
        }
        return nil
    }
}
