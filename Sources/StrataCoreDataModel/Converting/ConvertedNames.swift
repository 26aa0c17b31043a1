import StrataModel

/// Gives out the names of a converted model: none meets another one, in the model or among stored names.
///
/// Core Data tells `title` from `Title`, and lets entities that share a table have properties of one name and different
/// kinds; Strata does neither.
struct ConvertedNames {
    private let naming: NamingConvention
    /// Stored names of entities in small letters.
    private var entities: Set<String> = []
    /// The names that the file has, which are not given to others.
    private let original: Set<String>
    /// What a stored name of each hierarchy is for: the kind of value, and who declares it.
    private var columns: [String: [String: [(owner: String, kind: String)]]] = [:]

    init(naming: NamingConvention, entities: [String]) {
        self.naming = naming
        original = Set(entities)
    }

    /// A name for an entity.
    mutating func entity(_ wanted: String, of old: String) -> String {
        // SQLite reserves such names of tables.
        let isReserved = naming.storedName(ofEntity: wanted).lowercased().hasPrefix("sqlite_")
        var name = isReserved ? "X" + wanted : wanted
        while entities.contains(naming.storedName(ofEntity: name).lowercased())
            || name != old && original.contains(name)
        {
            name += "X"
        }
        entities.insert(naming.storedName(ofEntity: name).lowercased())
        return name
    }

    /// A name for a property.
    /// - Parameters:
    ///   - kind: What a column holds; entities of a hierarchy may share one for values of one kind. Empty if there is none.
    ///   - lineage: The entity that declares the property, and those that it inherits from.
    mutating func property(_ wanted: String, kind: String, lineage: [String]) -> String {
        let root = lineage[lineage.count - 1]
        var name = wanted
        var number = 0
        while isTaken(name, kind, lineage, root) {
            number += 1
            name = number == 1 ? wanted + lineage[0].filter { $0.isLetter || $0.isNumber } : wanted + "\(number)"
        }
        let stored = naming.storedName(ofProperty: name).lowercased()
        columns[root, default: [:]][stored, default: []].append((owner: lineage[0], kind: kind))
        return name
    }

    private func isTaken(_ name: String, _ kind: String, _ lineage: [String], _ root: String) -> Bool {
        let stored = naming.storedName(ofProperty: name).lowercased()
        return (columns[root]?[stored] ?? []).contains { entry in
            lineage.contains(entry.owner) || !kind.isEmpty && !entry.kind.isEmpty && entry.kind != kind
        }
    }
}

extension CoreDataAttributeType {
    /// Whether values are whole numbers.
    package var isInteger: Bool { (100...300).contains(rawValue) }
}
