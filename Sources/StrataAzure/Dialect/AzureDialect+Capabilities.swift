import Foundation

extension AzureDialect {
    /// The most rows in one answer: what servers of the first two versions allow, and the default of the newer ones.
    var maximumPage: Int { version == .datasync ? 100 : 1000 }

    /// What the services can do. Tables of ``AzureVersion/mobileServices`` with integer ids can do less, and the server
    /// assigns their ids: ``RemoteCapabilities/integerKeyFeatures``. Services of ``AzureVersion/datasync`` take only whole
    /// rows, so that a store compares before it writes, in place of a condition on the version.
    public var capabilities: RemoteCapabilities {
        var features: RemoteCapabilities.Features = [
            .sorting, .paging, .counting, .selecting, .readingMany, .incrementalPull, .calls,
        ]
        if version != .datasync { features.insert(.conditionalWrites) }
        if keepsDeletedRows { features.insert(.deletions) }
        if usesExtensions { features.insert(.idempotencyTokens) }
        // An id takes some four nodes of a filter, and servers count a hundred.
        var result = RemoteCapabilities(features: features, maximumBatch: 1, maximumIDs: 20, maximumPage: maximumPage)
        if version == .mobileServices {
            // Tables with integer ids have no columns of the server's own.
            result.integerKeyFeatures = features.subtracting([.conditionalWrites, .incrementalPull, .deletions])
                .union(.assignsIDs)
        }
        return result
    }

    /// Refuses entities without a primary key that the version has ids for (text, or integers of 64 bits in
    /// ``AzureVersion/mobileServices``), two entities of one table, two properties of one column, columns that are
    /// the server's own, types that are none of JSON, relationships that neither end has as a single value, and ordered ones.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported`` that names the entity and the property.
    public func check(_ model: ManagedObjectModel) throws(RemoteError) {
        var tables: [String: String] = [:]
        for entity in model.entities where !entity.isAbstract {
            let schema = try AzureSchema(entity, self)
            if let other = tables.updateValue(entity.name, forKey: schema.table.lowercased()) {
                throw unsupported(
                    "\(entity.name) and \(other) are one table, \(schema.table); give one of them another in the "
                        + "dialect's names")
            }
            for attribute in entity.attributes { try check(attribute, entity, schema) }
            for relationship in entity.relationships {
                if case .pairs = relationship.storage {
                    throw unsupported(
                        "\(entity.name).\(relationship.name): the service keeps no relationships of many to many; declare an "
                            + "entity between the two, or an inverse that is to one")
                }
                guard relationship.isOrdered else { continue }
                throw unsupported(
                    "\(entity.name).\(relationship.name): the service does not keep the order of members; declare an "
                        + "attribute to sort by, and an unordered relationship")
            }
        }
    }

    private func check(
        _ attribute: AttributeDescription, _ entity: EntityDescription, _ schema: AzureSchema
    ) throws(RemoteError) {
        let path = "\(entity.name).\(attribute.name)"
        switch schema.properties[attribute.name] {
        case .system(let system):
            let expected: AttributeType =
                switch system {
                case .createdAt, .updatedAt: .date
                case .deleted: .boolean
                case .version: .string
                }
            guard attribute.type == expected, attribute.isOptional || system == .deleted else {
                throw unsupported(
                    "\(path) is a column of the server's own; declare it as an optional \(expected.name), or give it "
                        + "another name in the dialect's names")
            }
        case .attribute(.geoPoint, _):
            throw unsupported("\(path): the service keeps no positions; declare two attributes of type double")
        default: break
        }
    }

    /// The code of the client libraries for a save or push of which a part failed.
    public func code(of finding: RemoteError.Finding) -> RemoteError.Code? {
        switch finding {
        case .incompleteSave:
            RemoteError.Code(domain: version.errorDomain, code: AzureError.pushCompleteWithErrors.rawValue)
        case .objectNotHere: nil
        }
    }

    /// The server's clock, from the header `Date`.
    public func time(of response: WireResponse) -> Date? { response.date }
}
