import StrataSQL
import StrataStore

/// The model that a file was made with, as the file itself describes it, with the tables and columns that keep its objects.
struct StoredModel {
    let metadata: StoreMetadata
    let model: ManagedObjectModel
    let layout: StoreLayout
    /// The names of tables and columns.
    let names: RecordedNames
    /// The entries of `_metadata` that all of this was read from.
    let entries: [String: String]

    /// The entry of `_metadata` with the complete model.
    static let recordKey = "declarations"
    /// The entry with a fingerprint of the model.
    static let fingerprintKey = "fingerprint"
    /// The entry with a fingerprint of each entity.
    static let entityFingerprintsKey = "entity_fingerprints"
    /// The minimum version of the format that a program must know in order to write the file.
    static let minimumWriterKey = "minimum_writer"

    /// Reads the model of a file and looks at its tables; nil if the file is empty.
    /// - Parameter hint: A model that may help with a file of the first format, which does not describe everything.
    static func read(on connection: Connection, hint: ManagedObjectModel? = nil) throws(StoreError) -> StoredModel? {
        // Another process may migrate the file meanwhile. Its tables must be those that the description is about.
        try connection.readingOneState { () throws(StoreError) in
            guard let found = try StoreMetadata.find(on: connection) else { return nil }
            return try StoredModel(found, hint: hint, on: connection)
        }
    }

    private init(_ found: FoundMetadata, hint: ManagedObjectModel?, on connection: Connection) throws(StoreError) {
        let metadata = found.metadata
        self.metadata = metadata
        entries = found.entries
        let path = connection.path
        if let text = entries[Self.recordKey] {
            guard let record = ModelRecord(text: text) else {
                throw .corrupt(path: path, reason: "the entry \(Self.recordKey) of _metadata cannot be read")
            }
            let declarations = try Self.declarations(record, path: path)
            do throws(ModelError) {
                model = try record.model(of: declarations)
            } catch {
                throw .corrupt(path: path, reason: "the model in _metadata has faults: \(error)")
            }
        } else {
            do {
                model = try FirstFormatModel(metadata: metadata, hint: hint).model()
            } catch let unknown as UnknownDeclaration {
                throw Self.error(unknown, path)
            } catch {
                throw .incompatibleModel(
                    path: path, differences: ["its model cannot be told from the names in the file: \(error)"])
            }
        }
        names = RecordedNames(metadata)
        layout = try StoreLayout(model: model, dialect: SQLiteDialect(), recorded: names)
        try checkShape(on: connection)
    }

    /// What a record declares. Refuses declarations of a newer version of Strata, which would be lost otherwise.
    private static func declarations(_ record: ModelRecord, path: String) throws(StoreError) -> [Entity] {
        do throws(UnknownDeclaration) {
            return try record.declarations()
        } catch {
            throw Self.error(error, path)
        }
    }

    /// Refuses a file with declarations of a newer version of Strata, before its description is written again.
    static func checkKnown(on connection: Connection) throws(StoreError) {
        guard let text = try StoreMetadata.get(recordKey, on: connection), let record = ModelRecord(text: text) else {
            return
        }
        _ = try declarations(record, path: connection.path)
    }

    private static func error(_ unknown: UnknownDeclaration, _ path: String) -> StoreError {
        .unknownDeclaration(
            path: path, entity: unknown.entity, property: unknown.property, declaration: unknown.declaration)
    }

    /// Believes the tables, not what is written about them: a migration must not begin if a column is missing.
    private func checkShape(on connection: Connection) throws(StoreError) {
        func check(_ table: String, _ columns: [String]) throws(StoreError) {
            let present = Set(
                try connection.texts("SELECT lower(name) FROM pragma_table_info(\(Identifiers.literal(table)))"))
            guard let missing = columns.first(where: { !present.contains($0.lowercased()) }) else { return }
            let what = present.isEmpty ? "the table \(table) is" : "the column \(missing) of \(table) is"
            throw .corrupt(
                path: connection.path,
                reason: "\(what) missing, so that the data cannot be migrated; nothing was changed")
        }
        for table in layout.tables {
            try check(table.name, ["_id", "_version"] + table.columns.map(\.name) + table.orderColumns)
        }
        for pairs in layout.pairTables {
            try check(pairs.name, [pairs.ownerColumn, pairs.memberColumn].map(Identifiers.unquoted))
        }
    }

    /// Writes what a file says about its model.
    static func write(_ model: ManagedObjectModel, on connection: Connection) throws(StoreError) {
        let record = ModelRecord(model).encoded
        try StoreMetadata.set(recordKey, record.text, on: connection)
        try StoreMetadata.set(fingerprintKey, record.fingerprint, on: connection)
        let entities = record.entityFingerprints.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        try StoreMetadata.set(entityFingerprintsKey, entities.joined(separator: "\n"), on: connection)
        try StoreMetadata.set(minimumWriterKey, String(StoreMetadata.minimumWriterVersion), on: connection)
        try connection.execute("PRAGMA user_version = \(StoreMetadata.currentFormatVersion)")
    }

    /// The fingerprint of the model of a file; nil in a file of the first format.
    static func fingerprint(on connection: Connection) throws(StoreError) -> String? {
        try StoreMetadata.get(fingerprintKey, on: connection)
    }
}

/// The model of a file of the first format, which describes each property in one phrase, such as `string in title`.
///
/// What the phrases do not tell, such as inverses, is taken from the model of the application, where its property has the
/// same phrase.
struct FirstFormatModel {
    let metadata: StoreMetadata
    let hint: ManagedObjectModel?

    /// - Throws: ``UnknownDeclaration`` for a type that is not known, ``ModelError`` for everything else.
    func model() throws -> ManagedObjectModel {
        var entities = try metadata.entities.keys.sorted().map(entity)
        dropFalseInverses(&entities)
        return try ManagedObjectModel(name: metadata.modelName, naming: hint?.naming ?? .snakeCase, entities: entities)
    }

    private func entity(_ name: String) throws(UnknownDeclaration) -> Entity {
        let phrases = metadata.entities[name] ?? [:]
        let known =
            hint?.entity(named: name) ?? hint?.entities.first { $0.declaration.formerNames.contains(name) }
        var result = Entity(name: name, location: nil)
        result.parent = phrases["_parent"]
        result.isAbstract = phrases["_abstract"] != nil
        let inherited = Set(result.parent.flatMap { metadata.entities[$0] }?.keys.map { $0 } ?? [])
        var composites: [String: [CompositeElement]] = [:]
        for (property, phrase) in phrases.sorted(by: { $0.key < $1.key })
        where !property.hasPrefix("_") && !inherited.contains(property) {
            let words = phrase.split(separator: " ").map(String.init)
            if words.first == "to-one" || words.first == "to-many", words.count > 1 {
                let isMany = words[0] == "to-many"
                var relationship = Relationship(property, to: words[1])
                relationship.isToMany = isMany
                relationship.isOrdered = words.contains("ordered")
                if let now = known?.relationship(named: property), now.isToMany == isMany,
                    now.destination == words[1]
                        || hint?.entity(named: now.destination)?.declaration.formerNames.contains(words[1]) == true
                {
                    relationship.inverse = now.inverse
                    relationship.isOptional = now.isOptional
                    relationship.deleteRule = now.deleteRule
                }
                relationship.location = nil
                result.relationships.append(relationship)
                continue
            }
            let parts = property.split(separator: ".").map(String.init)
            if parts.count == 2 {
                let element = known?.slot(named: property)
                composites[parts[0], default: []].append(
                    CompositeElement(
                        parts[1], try type(words.first, element?.type, of: property, name),
                        optional: element?.isOptional ?? true))
            } else {
                result.attributes.append(try attribute(property, words.first, known, of: name))
            }
        }
        for (name, elements) in composites.sorted(by: { $0.key < $1.key }) {
            var attribute = Attribute(
                name, .composite(elements), optional: known?.attribute(named: name)?.isOptional ?? true)
            attribute.location = nil
            result.attributes.append(attribute)
        }
        return result
    }

    private func attribute(
        _ name: String, _ word: String?, _ entity: EntityDescription?, of owner: String
    ) throws(UnknownDeclaration) -> Attribute {
        let known = entity?.attribute(named: name)?.declaration
        let type = try type(word, known?.type, of: name, owner)
        // What the application declares of the same attribute describes the old one, too, but for its constraints.
        if var same = known, same.type == type, !same.isTransient {
            same.formerNames = []
            same.isUnique = false
            same.derivation = same.derivation.flatMap { derivation($0, entity) }
            same.location = nil
            return same
        }
        var result = Attribute(name, type, optional: true)
        result.location = nil
        return result
    }

    /// A derivation with the name that its source has in the file.
    private func derivation(_ derivation: Derivation, _ entity: EntityDescription?) -> Derivation? {
        func past(_ name: String) -> String? {
            let declared = entity?.attribute(named: name)
            let phrases = entity.flatMap { entity in
                metadata.entities[entity.name]
                    ?? entity.declaration.formerNames.lazy.compactMap { metadata.entities[$0] }.first
            }
            return ([name] + (declared?.declaration.formerNames ?? [])).first { phrases?[$0] != nil }
        }
        switch derivation {
        case .lowercase(let name): return past(name).map(Derivation.lowercase)
        case .uppercase(let name): return past(name).map(Derivation.uppercase)
        case .canonical(let name): return past(name).map(Derivation.canonical)
        case .now: return .now
        // These have no column, so that the file does not know them.
        case .count, .sum, .path: return nil
        }
    }

    private func type(
        _ word: String?, _ known: AttributeType?, of property: String, _ entity: String
    ) throws(UnknownDeclaration) -> AttributeType {
        if let known, known.storedName == word { return known }
        guard let type = TypeRecord.type(named: word ?? "") else {
            throw UnknownDeclaration(entity: entity, property: property, declaration: "the type \(word ?? "")")
        }
        return type
    }

    /// An inverse counts only if both ends say so, in the file as in the model.
    private func dropFalseInverses(_ entities: inout [Entity]) {
        func lineage(_ name: String) -> [Entity] {
            var result: [Entity] = []
            var next: String? = name
            while let name = next, let entity = entities.first(where: { $0.name == name }),
                result.count < entities.count
            {
                result.append(entity)
                next = entity.parent
            }
            return result
        }
        for (index, entity) in entities.enumerated() {
            for position in entity.relationships.indices {
                let relationship = entity.relationships[position]
                let back = relationship.inverse.flatMap { inverse in
                    lineage(relationship.destination).flatMap(\.relationships).first { $0.name == inverse }
                }
                if back?.inverse != relationship.name { entities[index].relationships[position].inverse = nil }
            }
        }
    }
}
