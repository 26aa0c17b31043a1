import Foundation
import StrataSQL
import StrataStore

extension SQLiteStore {
    /// Prepares the file of a store for a model that has all that its present one has, and more: entities, attributes and
    /// relationships are added; an `integer64` may become a `double`. Creates the file if there is none. Open stores of the
    /// file keep the model that they were opened with.
    ///
    /// All of it is one transaction. The next ``open(model:location:options:)`` creates the indexes.
    /// - Parameters:
    ///   - notes: Texts by name that are kept in the file together with the model; see ``note(named:at:)``.
    /// - Throws: ``StoreError/incompatibleModel(path:differences:)`` with what is not an addition, or needs values for the
    ///   rows that exist: a derived attribute, the first entity that inherits from another. The file is unchanged then.
    package static func grow(
        to model: ManagedObjectModel, at path: String, notes: [String: String] = [:],
        options: Options = Options()
    ) throws(StoreError) {
        if !FileManager.default.fileExists(atPath: path) {
            try open(model: model, location: .file(path: path), options: options).close()
        }
        let place = try ResolvedLocation(.file(path: path), options: options)
        let connection = try Connection(
            filename: place.filename, path: place.path, readOnly: false, create: false, options: options)
        defer { connection.close() }
        try connection.begin()
        defer { connection.rollback() }
        guard let found = try StoreMetadata.read(from: connection) else {
            throw .notAStore(path: place.path, reason: "the file is empty")
        }
        let schema = Schema(
            layout: try StoreLayout(model: model, dialect: SQLiteDialect(), recorded: RecordedNames(found)))
        let grown = StoreMetadata(identifier: found.identifier, layout: schema.layout)
        let differences =
            found.obstacles(to: grown) + found.derivedAdditions(of: model)
        guard differences.isEmpty else { throw .incompatibleModel(path: place.path, differences: differences) }
        try addTables(of: schema, on: connection)
        try grown.write(to: connection, objects: schema.objects)
        try StoredModel.write(model, on: connection)
        for (name, text) in notes { try StoreMetadata.set("note_" + name, text, on: connection) }
        try connection.commit()
    }

    /// A text that ``grow(to:at:notes:options:)`` left in the file of a store; nil if there is no file or no such text.
    package static func note(named name: String, at path: String) throws(StoreError) -> String? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try inspect(path) { (connection, _) throws(StoreError) in
            guard try StoreMetadata.read(from: connection) != nil else { return nil }
            return try StoreMetadata.get("note_" + name, on: connection)
        }
    }

    private static func addTables(of schema: Schema, on connection: Connection) throws(StoreError) {
        let tables = Set(try connection.texts("SELECT name FROM sqlite_master WHERE type = 'table'"))
        for pairs in schema.layout.pairTables where !tables.contains(pairs.name) {
            try connection.execute(schema.statement(of: pairs))
        }
        for table in schema.layout.tables {
            guard tables.contains(table.name) else {
                try connection.execute(schema.statement(of: table))
                continue
            }
            let present = Set(
                try connection.texts("SELECT lower(name) FROM pragma_table_info(\(Identifiers.literal(table.name)))"))
            func add(_ name: String, _ definition: String) throws(StoreError) {
                if present.contains(name.lowercased()) { return }
                try connection.execute("ALTER TABLE \(table.quoted) ADD COLUMN \(definition)")
            }
            for column in table.columns { try add(column.name, schema.definition(of: column)) }
            for name in table.orderColumns { try add(name, Identifiers.quote(name) + " INTEGER") }
        }
    }
}

extension StoreMetadata {
    /// What keeps a file from being grown to another model: all differences other than additions of entities and properties.
    fileprivate func obstacles(to other: StoreMetadata) -> [String] {
        var result: [String] = []
        for (entity, properties) in entities.sorted(by: { $0.key < $1.key }) {
            guard let grown = other.entities[entity] else {
                result.append("entity \(entity) is missing from the model")
                continue
            }
            for (property, was) in properties.sorted(by: { $0.key < $1.key }) where grown[property] != was {
                let now = grown[property]
                // SQLite keeps numbers with a fraction in a column of whole ones, and reads whole ones as either.
                if let now, was.hasPrefix("integer64 "), now == "double " + was.dropFirst("integer64 ".count) {
                    continue
                }
                result.append("\(entity).\(property) was \(was), is \(now ?? "missing")")
            }
            // What the table itself is like, for instance a column with the names of entities, which rows have no value for.
            for (name, now) in grown.sorted(by: { $0.key < $1.key })
            where name.hasPrefix("_") && properties[name] == nil {
                result.append("\(entity): \(name) was missing, is \(now)")
            }
        }
        return result
    }

    /// The derived attributes that a model adds to entities of the file: its rows would need values for them.
    fileprivate func derivedAdditions(of model: ManagedObjectModel) -> [String] {
        model.entities.flatMap { entity in
            entity.attributes.compactMap { attribute in
                guard attribute.derivation != nil, let properties = entities[entity.name],
                    properties[attribute.name] == nil
                else { return nil }
                return "\(entity.name).\(attribute.name) is derived, and the rows that exist have no value for it"
            }
        }
    }
}
