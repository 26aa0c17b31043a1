import StrataStore

extension FetchAdvisor {
    /// The property at the end of a path through to-one relationships.
    package struct Place {
        package let path: [String]
        package let entity: EntityDescription
        package let slot: SlotDescription
        package let model: ManagedObjectModel

        /// Whether it belongs to the object itself.
        package var isOwn: Bool { path.joined(separator: ".") == slot.name }
        /// The name for messages.
        package var name: String { "\(entity.name).\(slot.name)" }

        /// Whether an index begins with it.
        package var leadsIndex: Bool {
            entity.indexes.contains { index in
                (index.kind == .ordered || index.kind == .unique)
                    && (index.properties.first == slot.name || index.properties.first == "-" + slot.name)
            }
        }

        package func has(_ kind: Index.Kind) -> Bool {
            entity.indexes.contains { $0.kind == kind && $0.properties.contains(slot.name) }
        }

        package var hasFullTextIndex: Bool { has(.fullText) }

        private var attribute: AttributeDescription? { slot.attributeIndex.map { entity.attributes[$0] } }

        /// The same attribute with an index; an index of its own for the element of a composite.
        package func indexed() -> FetchAdvice.ModelChange? {
            guard var declaration = attribute?.declaration, let owner = attribute?.declaringEntity else { return nil }
            guard declaration.name == slot.name else { return index(.ordered) }
            declaration.isIndexed = true
            return .attribute(declaration, entity: owner)
        }

        /// An index of this property.
        package func index(_ kind: Index.Kind) -> FetchAdvice.ModelChange? {
            guard let owner = attribute?.declaringEntity else { return nil }
            return .index(Index([slot.name], kind: kind, location: nil), entity: owner)
        }

        /// The attribute that keeps this text without case and accents.
        package var canonical: Place? {
            entity.slots.first { $0.derivation == .canonical(slot.name) }.map {
                Place(path: Array(path.dropLast()) + [$0.name], entity: entity, slot: $0, model: model)
            }
        }

        /// An attribute that would keep this text without case and accents, with an index.
        package func canonicalAttribute() -> FetchAdvice.ModelChange? {
            guard let attribute, attribute.name == slot.name, attribute.derivation == nil else { return nil }
            var name = attribute.name + "Canonical"
            while entity.slot(named: name) != nil || entity.relationship(named: name) != nil { name += "Text" }
            var declaration = Attribute(name, .string, optional: attribute.isOptional)
            declaration.derivation = .canonical(attribute.name)
            declaration.isIndexed = true
            declaration.location = nil
            return .attribute(declaration, entity: attribute.declaringEntity)
        }

        /// Whether a column compares with a constant as it is: only decimal columns do with decimal numbers.
        package func converts(_ constant: FetchExpression) -> Bool {
            guard slot.storage != .decimal, case .constant(let value) = constant.node else { return true }
            switch value {
            case .decimal: return false
            case .list(let values): return values.allSatisfy { if case .decimal = $0 { false } else { true } }
            default: return true
            }
        }
    }

    /// What a path leads to; nil if it is not a stored value or leads to many.
    package func place(of path: [String]) -> Place? {
        var current = entity
        var rest = path[...]
        while let first = rest.first {
            if let slot = current.slot(named: rest.joined(separator: ".")) {
                return Place(path: path, entity: current, slot: slot, model: model)
            }
            guard let relationship = current.relationship(named: first), !relationship.isToMany else { return nil }
            current = model.destination(of: relationship)
            rest = rest.dropFirst()
        }
        return nil
    }

    /// Whether a path passes a to-many relationship.
    package func leadsToMany(_ path: [String]) -> Bool {
        var current = entity
        for name in path {
            guard let relationship = current.relationship(named: name) else { return false }
            if relationship.isToMany { return true }
            current = model.destination(of: relationship)
        }
        return false
    }
}
