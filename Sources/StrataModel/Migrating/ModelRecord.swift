import Foundation

/// A model in the form in which files keep it: everything that is declared about stored data, in an order that does not
/// depend on the order of the declarations, so that equal models have equal texts.
///
/// Fetched properties, fetch templates, user info and documentation are left out: no data depends on them.
package struct ModelRecord: Codable, Sendable, Hashable {
    /// The name of the model.
    package var name: String
    /// The spelling of property names in the store, and of entity names.
    package var naming: [String]
    /// The entities by name.
    package var entities: [EntityRecord]

    /// Describes a model.
    package init(_ model: ManagedObjectModel) {
        name = model.name
        naming = [model.naming.properties.rawValue, model.naming.entities.rawValue]
        entities = model.entities.map { EntityRecord($0.declaration) }.sorted { Self.precedes($0.name, $1.name) }
    }

    /// Reads a text that ``text`` gave.
    /// - Returns: nil if it cannot be read.
    package init?(text: String) {
        guard let record = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
        self = record
    }

    /// The record as JSON with sorted keys.
    package var text: String { encoded.text }

    /// A fingerprint of all that the record says.
    package var fingerprint: String { encoded.fingerprint }

    /// A record as text, with fingerprints of the text and its parts.
    package struct Encoded: Sendable {
        /// The record as JSON with sorted keys.
        package let text: String
        /// A fingerprint of the text.
        package let fingerprint: String
        /// A fingerprint of each entity, so that differences can be told by entity.
        package let entityFingerprints: [String: String]
    }

    /// The record as text with all fingerprints. Each entity is encoded once. Use this where more than one of them is needed.
    package var encoded: Encoded {
        var texts: [String] = []
        var fingerprints: [String: String] = [:]
        for entity in entities {
            let text = Self.text(of: entity)
            texts.append(text)
            if fingerprints[entity.name] == nil { fingerprints[entity.name] = StableHash.text(of: text) }
        }
        // The keys of the record are in their order.
        let text =
            "{\"entities\":[\(texts.joined(separator: ","))],\"name\":\(Self.text(of: name)),"
            + "\"naming\":\(Self.text(of: naming))}"
        return Encoded(text: text, fingerprint: StableHash.text(of: text), entityFingerprints: fingerprints)
    }

    /// The model that the record describes.
    /// - Throws: ``ModelError`` if the record has been tampered with, or declares what this version of Strata does not know.
    package func model() throws(ModelError) -> ManagedObjectModel {
        let declared: [Entity]
        do throws(UnknownDeclaration) {
            declared = try declarations()
        } catch {
            throw ModelError(
                model: name,
                faults: [ModelFault(entity: error.entity, property: error.property, message: error.message)])
        }
        return try model(of: declared)
    }

    /// The model of what ``declarations()`` gave.
    /// - Throws: ``ModelError`` if the record has been tampered with.
    package func model(of declared: [Entity]) throws(ModelError) -> ManagedObjectModel {
        let styles = naming.compactMap(NamingConvention.Style.init(rawValue:))
        return try ManagedObjectModel(
            name: name,
            naming: styles.count == 2
                ? NamingConvention(properties: styles[0], entities: styles[1]) : NamingConvention.snakeCase,
            entities: declared)
    }

    /// The entities that the record describes.
    /// - Throws: The first declaration that this version of Strata does not know.
    package func declarations() throws(UnknownDeclaration) -> [Entity] {
        var result: [Entity] = []
        for entity in entities { result.append(try entity.declaration()) }
        return result
    }

    private static func text(of value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // None of the values is one that JSON cannot hold.
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// Compares bytes, so that the order does not depend on the locale or the Unicode version.
    static func precedes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }
}

/// An entity of a ``ModelRecord``. What has its ordinary value is nil, so that the text is short and stays the same when
/// later versions can declare more.
package struct EntityRecord: Codable, Sendable, Hashable {
    package var name: String
    var parent: String?
    var abstract: Bool?
    var user: Bool?
    var primaryKey: String?
    var renamedFrom: [String]?
    package var attributes: [AttributeRecord]?
    package var relationships: [RelationshipRecord]?
    var indexes: [[String]]?

    init(_ entity: Entity) {
        name = entity.name
        parent = entity.parent
        abstract = entity.isAbstract ? true : nil
        user = entity.isUser ? true : nil
        primaryKey = entity.primaryKey
        renamedFrom = entity.formerNames.nilIfEmpty
        attributes =
            entity.attributes.map(AttributeRecord.init).sorted { ModelRecord.precedes($0.name, $1.name) }.nilIfEmpty
        relationships =
            entity.relationships.map(RelationshipRecord.init).sorted { ModelRecord.precedes($0.name, $1.name) }
            .nilIfEmpty
        indexes =
            entity.indexes.map { [$0.kind.rawValue] + $0.properties }
            .sorted { ModelRecord.precedes($0.joined(separator: " "), $1.joined(separator: " ")) }.nilIfEmpty
    }

    func declaration() throws(UnknownDeclaration) -> Entity {
        var entity = Entity(name: name, location: nil)
        entity.parent = parent
        entity.isAbstract = abstract ?? false
        entity.isUser = user ?? false
        entity.primaryKey = primaryKey
        entity.formerNames = renamedFrom ?? []
        for attribute in attributes ?? [] { entity.attributes.append(try attribute.declaration(of: name)) }
        for relationship in relationships ?? [] {
            entity.relationships.append(try relationship.declaration(of: name))
        }
        for words in indexes ?? [] {
            guard let kind = words.first.flatMap(Index.Kind.init(rawValue:)) else {
                throw UnknownDeclaration(
                    entity: name, property: nil, declaration: "the index \(words.joined(separator: " "))")
            }
            entity.indexes.append(Index(Array(words.dropFirst()), kind: kind, location: nil))
        }
        return entity
    }
}

/// A relationship of a ``ModelRecord``.
package struct RelationshipRecord: Codable, Sendable, Hashable {
    package var name: String
    var to: String
    var many: Bool?
    var ordered: Bool?
    var required: Bool?
    var inverse: String?
    var delete: String?
    var minimumCount: Int?
    var maximumCount: Int?
    var renamedFrom: [String]?

    init(_ relationship: Relationship) {
        name = relationship.name
        to = relationship.destination
        many = relationship.isToMany ? true : nil
        ordered = relationship.isOrdered ? true : nil
        required = relationship.isOptional ? nil : true
        inverse = relationship.inverse
        delete = relationship.deleteRule == .nullify ? nil : relationship.deleteRule.rawValue
        minimumCount = relationship.minimumCount == 0 ? nil : relationship.minimumCount
        maximumCount = relationship.maximumCount == 0 ? nil : relationship.maximumCount
        renamedFrom = relationship.formerNames.nilIfEmpty
    }

    func declaration(of entity: String) throws(UnknownDeclaration) -> Relationship {
        var result = Relationship(name, to: to, inverse: inverse)
        result.isToMany = many ?? false
        result.isOrdered = ordered ?? false
        result.isOptional = !(required ?? false)
        if let delete {
            guard let rule = DeleteRule(rawValue: delete) else {
                throw UnknownDeclaration(entity: entity, property: name, declaration: "the delete rule \(delete)")
            }
            result.deleteRule = rule
        }
        result.minimumCount = minimumCount ?? 0
        result.maximumCount = maximumCount ?? 0
        result.formerNames = renamedFrom ?? []
        result.location = nil
        return result
    }
}

extension Array {
    var nilIfEmpty: Self? { isEmpty ? nil : self }
}
