import Foundation

extension MaxLeapDialect {
    /// What MaxLeap and Parse can do.
    public var capabilities: RemoteCapabilities {
        var features: RemoteCapabilities.Features = [
            .sorting, .paging, .counting, .selecting, .readingMany, .batches, .increments, .arrayOperations, .relating,
            .incrementalPull, .calls, .files, .memberQueries,
        ]
        if !sendsObjectIds { features.insert(.assignsIDs) }
        if model != nil { features.formUnion([.expanding, .subqueries]) }
        if sendsVersions { features.insert(.conditionalWrites) }
        if usesExtensions { features.insert(.idempotencyTokens) }
        // An identifier takes some 30 bytes of an address when it is encoded, and servers take addresses of 8 KB.
        return RemoteCapabilities(
            features: features, maximumBatch: flavor == .maxLeap ? 100 : 50, maximumIDs: 100,
            maximumPage: Self.maximumPage)
    }

    /// Records list all members except those of relations; see ``MaxLeapNames/relations``.
    public func lists(_ relationship: RelationshipDescription, of entity: EntityDescription) -> Bool {
        names.relations[entity.name]?.contains(relationship.name) != true
    }

    /// Refuses entities without a primary key of type string, two entities of one class, two properties of one field, names
    /// that no class or field has, and more than one position in an entity.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported`` that names the entity and the property.
    public func check(_ model: ManagedObjectModel) throws(RemoteError) {
        var classes: [String: String] = [:]
        for entity in model.entities where !entity.isAbstract {
            let schema = try schema(entity)
            if let other = classes.updateValue(entity.name, forKey: schema.className) {
                throw MaxLeapError.unsupported(
                    "\(entity.name) and \(other) are one class on the server, \(schema.className); name another")
            }
            guard MaxLeapObject.isKey(schema.className, ofClass: true) else {
                throw MaxLeapError.unsupported(
                    "\(entity.name): \"\(schema.className)\" is not a valid class name; use letters, digits and underscores, "
                        + "a letter first")
            }
            try check(entity, schema)
        }
    }

    private func check(_ entity: EntityDescription, _ schema: MaxLeapSchema) throws(RemoteError) {
        guard case .attribute(.string)? = schema.properties[schema.primaryKey] else {
            throw MaxLeapError.unsupported(
                "\(entity.name).\(schema.primaryKey): the server's identifiers are text, so the primary key is a string"
            )
        }
        if schema.className == "_User", schema.primaryKey == "username" {
            throw MaxLeapError.unsupported(
                "\(entity.name) is known by its username here and by its objectId on the server; declare a string "
                    + "attribute objectId and name it as primary key")
        }
        let places = entity.attributes.filter { $0.type == .geoPoint && !$0.isTransient }.map(\.name)
        guard places.count < 2 else {
            throw MaxLeapError.unsupported(
                "\(entity.name) has several positions, \(places.joined(separator: ", ")); a class has one at most")
        }
    }

    /// The code of a cache miss for an object that is neither here nor to be had, and that of other causes for a save of
    /// which a part failed.
    public func code(of finding: RemoteError.Finding) -> RemoteError.Code? {
        let error: MaxLeapError =
            switch finding {
            case .incompleteSave: .other
            case .objectNotHere: .cacheMiss
            }
        return RemoteError.Code(domain: MaxLeapError.domain, code: error.rawValue)
    }

    /// The server's clock, from the header `Date`.
    public func time(of response: WireResponse) -> Date? { response.date }
}
