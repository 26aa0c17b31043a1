/// Names that differ in the model may meet in the store: through the naming convention, and because SQLite ignores case
/// in the names of tables and columns.
extension ModelChecker {
    mutating func checkStoredNames() {
        checkTableNames()
        for entity in entities { checkColumnNames(in: entity) }
        for root in entities where root.parent == nil { checkSiblings(under: root) }
    }

    private mutating func checkTableNames() {
        var seen: [String: Entity] = [:]
        for entity in entities {
            let stored = naming.storedName(ofEntity: entity.name)
            if let other = seen[stored.lowercased()], other.name != entity.name {
                report(entity, "is stored as '\(stored)', and so is \(other.name); rename one of them")
            }
            if stored.hasPrefix("_"), !entity.name.hasPrefix("_") {
                report(entity, "is stored as '\(stored)'; names that begin with an underscore are the store's own")
            }
            if stored.lowercased().hasPrefix("sqlite_") {
                report(entity, "is stored as '\(stored)'; names that begin with sqlite_ are SQLite's own")
            }
            seen[stored.lowercased()] = seen[stored.lowercased()] ?? entity
        }
    }

    /// Own properties against each other and against inherited ones.
    private mutating func checkColumnNames(in entity: Entity) {
        var seen: [String: String] = [:]
        for ancestor in lineage(of: entity).reversed() {
            let isOwn = ancestor.name == entity.name
            for column in columns(of: ancestor) {
                let key = column.stored.lowercased()
                if isOwn, let other = seen[key], other != column.name {
                    found.append(
                        ModelFault(
                            entity: entity.name, property: column.property,
                            message:
                                "\(column.name) is stored as '\(column.stored)', and so is \(other); rename one of them",
                            location: column.location))
                }
                if isOwn, key.hasPrefix("_"), !column.property.hasPrefix("_") {
                    found.append(
                        ModelFault(
                            entity: entity.name, property: column.property,
                            message:
                                "is stored as '\(column.stored)'; names that begin with an underscore are the store's own",
                            location: column.location))
                }
                seen[key] = seen[key] ?? column.name
            }
        }
    }

    /// Properties of entities that share a table though neither inherits from the other: one column holds one kind of
    /// value.
    private mutating func checkSiblings(under root: Entity) {
        var owners: [String: [(Entity, Column)]] = [:]
        for entity in entities where lineage(of: entity).last?.name == root.name {
            let ancestors = Set(lineage(of: entity).map(\.name))
            for column in columns(of: entity) {
                guard let kind = column.kind else { continue }
                let key = column.stored.lowercased()
                let clash = owners[key]?.first { other, theirs in
                    theirs.kind != kind && !ancestors.contains(other.name)
                        && !lineage(of: other).contains { $0.name == entity.name }
                }
                if let (other, theirs) = clash {
                    found.append(
                        ModelFault(
                            entity: entity.name, property: column.property,
                            message:
                                "shares the column '\(column.stored)' with \(other.name).\(theirs.name), which holds "
                                + "\(theirs.kind ?? "another kind of value") and not \(kind): all entities under \(root.name) live in one table; "
                                + "rename one of them",
                            location: column.location))
                }
                owners[key, default: []].append((entity, column))
            }
        }
    }

    private struct Column {
        /// The property that it belongs to.
        var property: String
        /// The property, or the path to the element of a composite.
        var name: String
        var stored: String
        /// What the column holds; nil if there is no column, only a name on the wire.
        var kind: String?
        var location: SourceLocation?
    }

    private func columns(of entity: Entity) -> [Column] {
        var result: [Column] = []
        for attribute in entity.attributes {
            func add(_ name: String, _ type: AttributeType?) {
                result.append(
                    Column(
                        property: attribute.name, name: name, stored: naming.storedName(ofProperty: name),
                        kind: attribute.hasColumn
                            ? type.map { Self.kind(of: $0, external: attribute.allowsExternalStorage) } : nil,
                        location: attribute.location ?? entity.location))
            }
            if case .composite(let elements) = attribute.type {
                add(attribute.name, nil)
                var seen: Set<String> = []
                for element in elements where seen.insert(element.name).inserted {
                    add("\(attribute.name).\(element.name)", element.type)
                }
            } else {
                add(attribute.name, attribute.type)
            }
        }
        for relationship in entity.relationships {
            let root = entitiesByName[relationship.destination].flatMap { lineage(of: $0).last?.name }
            result.append(
                Column(
                    property: relationship.name, name: relationship.name,
                    stored: naming.storedName(ofProperty: relationship.name),
                    kind: relationship.isToMany ? nil : "a reference to \(root ?? relationship.destination)",
                    location: relationship.location ?? entity.location))
        }
        return result
    }

    private static func kind(of type: AttributeType, external: Bool) -> String {
        if type.isJSON { return "JSON" }
        return switch type.slotStorage {
        case .integer: "whole numbers"
        case .double: "floating-point numbers"
        case .boolean: "truth values"
        case .date: "dates"
        case .key: "references"
        case .text: "text"
        case .decimal: "decimal numbers"
        case .bytes: external ? "bytes that may be stored in external files" : "bytes"
        case .uuid: "UUIDs"
        case .geoPoint: "geo points"
        }
    }
}
