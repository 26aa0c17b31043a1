extension ManagedObjectModel {
    /// What is wrong with a key path of a condition or an order: nil if it leads to something that a store keeps.
    /// - Parameters:
    ///   - path: The components.
    ///   - entity: Where it starts.
    ///   - takesCollections: Whether it may lead through relationships to many, as paths of conditions may. Those of
    ///     orders may do so if an aggregate such as `@count` makes one value of them.
    ///   - isStored: Whether the store must know the value at its end.
    public func fault(
        inPath path: [String], from entity: EntityDescription, takesCollections: Bool, isStored: Bool = true
    ) -> String? {
        if path.isEmpty { return "an empty key path names no property" }
        // Every fetch passes through here, mostly with the name of an attribute.
        if path.count == 1, entity.hasStoredAttribute(named: path[0]) { return nil }
        let whole = path.joined(separator: ".")
        let takesCollections =
            takesCollections
            || path.contains {
                $0.utf8.first == UInt8(ascii: "@") && CollectionOperator(rawValue: $0)?.isAggregate == true
            }
        var current = entity
        for (position, name) in path.enumerated() {
            if name.hasPrefix("@") {
                guard takesCollections, CollectionOperator(rawValue: name) != nil else {
                    return "\(whole): \(name) is not a collection operator that can be used here"
                }
                if name == CollectionOperator.count.rawValue, position < path.count - 1 {
                    return "\(whole): nothing can follow \(name), which is a number"
                }
                continue
            }
            let rest = path[position...].joined(separator: ".")
            if let slot = current.slot(named: name) ?? current.slot(named: rest), slot.relationshipIndex == nil {
                return slot.isTransient && isStored ? "\(whole) is transient; the store does not know its values" : nil
            }
            if takesCollections, position == path.count - 1, current.attribute(named: name) != nil { return nil }
            guard let relationship = current.relationship(named: name) else {
                let known = current.attributes.map(\.name) + current.relationships.map(\.name)
                return current.fetchedPropertyIndex(named: name) == nil
                    ? "\(current.name) has no property \(rest)" + Spelling.suggestion(for: name, in: known)
                    : "\(whole): \(name) is a fetched property, which conditions and orders cannot look at"
            }
            guard !relationship.isToMany || takesCollections else {
                return "\(whole): \(name) leads to many objects; an order needs one value"
            }
            current = destination(of: relationship)
        }
        return nil
    }

    /// What is wrong with a criterion of an order, as `fault(inPath:from:takesCollections:)` says it.
    public func fault(inOrder sort: FetchSort, from entity: EntityDescription) -> String? {
        if case .keyPath(let path) = sort.expression.node {
            return fault(inPath: path, from: entity, takesCollections: false)
        }
        return sort.expression.keyPaths.lazy.compactMap {
            self.fault(inPath: $0, from: entity, takesCollections: true)
        }.first
    }
}

extension ManagedObjectModel {
    /// The entity of the objects that an expression gives; nil where it gives none, or any.
    public func entity(
        ofObjectsIn expression: FetchExpression, from entity: EntityDescription
    ) -> EntityDescription? {
        switch expression.node {
        case .evaluatedObject: return entity
        case .keyPath(let path): return destination(of: path, from: entity)
        case .path(let base, let path):
            return self.entity(ofObjectsIn: base, from: entity).flatMap { destination(of: path, from: $0) }
        case .index(let base, .first), .index(let base, .last), .index(let base, .at):
            return self.entity(ofObjectsIn: base, from: entity)
        case .subquery(let collection, _, _): return self.entity(ofObjectsIn: collection, from: entity)
        case .ternary(_, let first, let second):
            return self.entity(ofObjectsIn: first, from: entity) ?? self.entity(ofObjectsIn: second, from: entity)
        case .function(let function, let arguments) where function != .count:
            return arguments.first.flatMap { self.entity(ofObjectsIn: $0, from: entity) }
        default: return nil
        }
    }

    private func destination(of path: [String], from entity: EntityDescription) -> EntityDescription? {
        var current = entity
        for name in path where !name.hasPrefix("@") {
            guard let relationship = current.relationship(named: name) else { return nil }
            current = destination(of: relationship)
        }
        return current
    }
}
