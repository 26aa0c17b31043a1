extension ModelChecker {
    mutating func checkIndexes(of entity: Entity) {
        var seen: Set<Index> = []
        for index in entity.indexes {
            let text = "index (\(index.properties.joined(separator: ", ")))"
            if index.properties.isEmpty {
                report(entity, index, "an index covers at least one property")
                continue
            }
            if !seen.insert(Index(index.properties, kind: index.kind, location: nil)).inserted {
                report(entity, index, "the \(text) is declared twice; remove one")
            }
            let names = index.properties.map { $0.hasPrefix("-") ? String($0.dropFirst()) : $0 }
            if Set(names).count < names.count { report(entity, index, "the \(text) names a property twice") }
            if index.kind == .spatial, names.count != 1 {
                report(
                    entity, index,
                    "a spatial index covers exactly one geo point; the \(text) names \(names.count) properties")
            }
            if index.kind == .spatial || index.kind == .fullText, names != index.properties {
                report(entity, index, "the \(text) is \(index.kind.rawValue) and has no direction; remove the '-'")
            }
            for name in names { checkElement(name, of: index, of: entity) }
        }
    }

    private mutating func report(_ entity: Entity, _ index: Index, _ message: String) {
        found.append(ModelFault(entity: entity.name, message: message, location: index.location ?? entity.location))
    }

    private mutating func checkElement(_ name: String, of index: Index, of entity: Entity) {
        if let relationship = relationship(name, of: entity) {
            if relationship.isToMany {
                report(
                    entity, index, "\(name) leads to many objects; an index covers attributes and to-one relationships")
            } else if index.kind == .spatial || index.kind == .fullText {
                report(entity, index, "\(name) is a relationship; a \(index.kind.rawValue) index covers attributes")
            }
            return
        }
        let path = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard let first = path.first, let attribute = attribute(first, of: entity) else {
            let known = attributeNames(of: entity) + relationshipNames(of: entity)
            report(
                entity, index, "\(name) is not a property of \(entity.name)" + Spelling.suggestion(for: name, in: known)
            )
            return
        }
        var type = attribute.type
        if path.count == 2 {
            guard case .composite(let elements) = type, let element = elements.first(where: { $0.name == path[1] })
            else {
                report(entity, index, "\(first) has no element \(path[1])")
                return
            }
            type = element.type
        }
        if !attribute.hasColumn {
            report(entity, index, "\(name) is not kept by the store and cannot be in an index")
        } else if let advice = Self.unfitness(of: type, for: index.kind) {
            report(entity, index, "\(name) is of type \(type.name); \(advice)")
        }
    }

    /// Why a type cannot be in an index of a kind, or nil if it can.
    static func unfitness(of type: AttributeType, for kind: Index.Kind) -> String? {
        switch (kind, type) {
        case (.spatial, .geoPoint), (.fullText, .string): nil
        case (.spatial, _): "a spatial index covers a geoPoint"
        case (.fullText, _): "a fullText index covers strings"
        case (_, .composite): "an index covers its elements one by one, as in 'address.street'"
        case (_, .geoPoint):
            kind == .unique ? "points have no exact equality; make another attribute unique" : "use a spatial index"
        case (_, .transformable), (_, .binary): "an index covers values that compare; this one is bytes"
        case (_, .array): "an index covers values that compare; this one is an array"
        case (_, .json): "an index covers values that compare; this one has members"
        default: nil
        }
    }
}
