import Foundation

extension StackMobDialect {
    /// What StackMob can do; more with ``usesExtensions``.
    public var capabilities: RemoteCapabilities {
        var features: RemoteCapabilities.Features = [
            .sorting, .paging, .counting, .selecting, .readingMany, .creatingMany, .increments, .relating,
            .incrementalPull, .files, .calls,
        ]
        if model != nil { features.insert(.expanding) }
        if usesExtensions {
            features.formUnion([.batches, .conditionalWrites, .idempotencyTokens, .arrayOperations, .deletions])
        }
        // An identifier takes some 40 bytes of an address, and servers take addresses of 8 KB. A hundred and fifty objects of
        // ten fields are some 50 KB: what Foundation sends at one go on Linux. After a longer body it spins until the
        // answer.
        return RemoteCapabilities(
            features: features, maximumBatch: usesExtensions ? 150 : 100, maximumIDs: 150,
            integerKeyFeatures: usesExtensions ? features.union(.assignsIDs) : nil)
    }

    /// Refuses entities without a primary key, two entities of one schema, two properties of one field, more than one
    /// position in an entity, and, without ``usesExtensions``, bytes, composites and integers as primary keys.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported`` that names the entity and the property.
    public func check(_ model: ManagedObjectModel) throws(RemoteError) {
        var schemas: [String: String] = [:]
        for entity in model.entities where !entity.isAbstract {
            let schema = try StackMobSchema(entity)
            guard usesExtensions || !schema.hasNumberedKeys else {
                throw StackMobError.unsupported(
                    "\(entity.name).\(schema.primaryKey): StackMob's primary keys are strings; only strata-server assigns "
                        + "integers, which needs usesExtensions")
            }
            if let other = schemas.updateValue(entity.name, forKey: schema.name) {
                throw StackMobError.unsupported(
                    "\(entity.name) and \(other) are one schema in StackMob, \(schema.name); rename one of them")
            }
            var fields: [String: String] = [:]
            for name in schema.properties.keys.sorted() {
                let field = try StackMobNames.field(ofProperty: name)
                if let other = fields.updateValue(name, forKey: field) {
                    throw StackMobError.unsupported(
                        "\(entity.name).\(name) and \(entity.name).\(other) are one field in StackMob, \(field)")
                }
            }
            try check(entity)
        }
    }

    private func check(_ entity: EntityDescription) throws(RemoteError) {
        var place: String?
        for attribute in entity.attributes where !attribute.isTransient {
            switch attribute.type {
            case .geoPoint:
                if let place {
                    throw StackMobError.unsupported(
                        "\(entity.name) has two positions, \(place) and \(attribute.name); StackMob keeps one in a schema"
                    )
                }
                place = attribute.name
            case .binary, .transformable, .composite, .json:
                if !usesExtensions {
                    throw StackMobError.unsupported(
                        "\(entity.name).\(attribute.name): StackMob keeps no values of type \(attribute.type.name); "
                            + "a string can refer to a file")
                }
            default: break
            }
        }
    }

    /// The codes of the old libraries: -108 for a save of which a part failed, -107 for a related object that is neither
    /// here nor to be had.
    public func code(of finding: RemoteError.Finding) -> RemoteError.Code? { Self.code(of: finding) }

    package static func code(of finding: RemoteError.Finding) -> RemoteError.Code {
        let error: StackMobError =
            switch finding {
            case .incompleteSave: .coreDataSave
            case .objectNotHere: .couldNotFillRelationshipFault
            }
        return RemoteError.Code(domain: StackMobError.domain, code: error.rawValue)
    }

    /// The server's clock, from the header `X-StackMob-Time-MS`.
    public func time(of response: WireResponse) -> Date? {
        response[header: "X-StackMob-Time-MS"].flatMap(Double.init).map(StackMobText.date)
    }
}
