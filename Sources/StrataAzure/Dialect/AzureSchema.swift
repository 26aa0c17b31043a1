import Foundation

/// What the dialect knows of one entity: its table, how its properties are spelt, and what they hold.
struct AzureSchema {
    /// What a property holds.
    enum Property {
        /// The name of the object: the column `id`.
        case primaryKey
        /// A column that the server keeps by itself, and nobody sends.
        case system(AzureSystemProperty)
        /// A value.
        case attribute(AttributeType, isOptional: Bool)
        /// The id of an object of another table.
        case toOne(isOptional: Bool, AzureKeys)
    }

    let entity: String
    let table: String
    let version: AzureVersion
    /// The ids of the table.
    let keys: AzureKeys
    /// What each property holds that is sent or told, by name.
    let properties: [String: Property]
    /// The column of each property.
    private let columns: [String: String]
    private let propertiesByColumn: [String: String]

    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported`` that names entity and property.
    init(_ entity: EntityDescription, _ dialect: AzureDialect) throws(RemoteError) {
        guard let key = entity.primaryKeyField else {
            throw dialect.unsupported(
                "\(entity.name) has no primary key; declare a string attribute \(entity.name.lowercased())Id")
        }
        guard let keys = AzureKeys(entity.primaryKeyType, dialect.version) else {
            throw dialect.unsupported(
                "\(entity.name).\(key): only tables of Mobile Services have integers as ids, and the dialect's version is "
                    + "\(dialect.version); declare the primary key as a string")
        }
        var properties: [String: Property] = [:]
        var columns: [String: String] = [:]
        var owners: [String: String] = [:]
        func add(_ name: String, _ property: Property, _ column: String) throws(RemoteError) {
            // Databases do not tell capitals apart in names of columns.
            if let other = owners.updateValue(name, forKey: column.lowercased()) {
                throw dialect.unsupported(
                    "\(entity.name).\(name) and \(entity.name).\(other) are one column, \(column); give one of them another "
                        + "name in the dialect's names")
            }
            properties[name] = property
            columns[name] = column
        }
        try add(key, .primaryKey, "id")
        for attribute in entity.attributes where !attribute.isTransient && attribute.name != key {
            let name = attribute.name
            let given = dialect.names.columns["\(entity.name).\(name)"]
            if given == nil, keys == .text, let system = AzureSystemProperty(rawValue: name) {
                try add(name, .system(system), system.column(in: dialect.version))
            } else {
                let column = try Self.checked(given ?? name, "\(entity.name).\(name)", keys, dialect)
                try add(name, .attribute(attribute.type, isOptional: attribute.isOptional), column)
            }
        }
        for relationship in entity.relationships where relationship.slot != nil {
            let path = "\(entity.name).\(relationship.name)"
            let column = try Self.checked(dialect.names.columns[path] ?? relationship.name, path, keys, dialect)
            let ids = AzureKeys(relationship.destinationKeyType, dialect.version) ?? .text
            try add(relationship.name, .toOne(isOptional: relationship.isOptional, ids), column)
        }
        self.entity = entity.name
        self.keys = keys
        self.properties = properties
        self.columns = columns
        table = dialect.names.table(ofEntity: entity.name, in: dialect.version)
        version = dialect.version
        propertiesByColumn = Dictionary(columns.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
    }

    private static func checked(
        _ column: String, _ path: String, _ keys: AzureKeys, _ dialect: AzureDialect
    ) throws(RemoteError) -> String {
        let isName =
            column.utf8.first.map { !(0x30...0x39).contains($0) } ?? false
            && column.utf8.allSatisfy { PercentEncoding.Characters.alphanumerics.union("_").contains($0) }
        let isSystem = AzureSystemProperty.allCases.contains { $0.rawValue.lowercased() == column.lowercased() }
        guard isName, !column.hasPrefix("__"), column.lowercased() != "id", keys == .integers || !isSystem else {
            throw dialect.unsupported(
                "\(path): \"\(column)\" cannot be a column of an application; columns have letters, digits and "
                    + "underscores, and id, createdAt, updatedAt, version, deleted and names that begin with __ are the "
                    + "server's own. Give it another name in the dialect's names")
        }
        return column
    }

    /// The column of a property; nil if there is none.
    func column(of property: String) -> String? { columns[property] }

    /// The property of a column; nil if there is none, and the column is nothing to us.
    func property(ofColumn column: String) -> String? { propertiesByColumn[column] }

    /// The column with the given name in an order or a choice of properties.
    func column(named name: String, _ dialect: AzureDialect) throws(RemoteError) -> String {
        guard let column = columns[name] else {
            throw dialect.unsupported("\(entity) has no property \(name) that is a column of the table \(table)")
        }
        return column
    }
}
