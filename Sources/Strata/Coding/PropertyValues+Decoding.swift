import Foundation

extension JSONDecoder {
    /// Dates in ISO 8601, with or without fractions of a second; bytes in Base64.
    static var interchange: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let date = ImportedValue.date(text) else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "\(text) is not a date in ISO 8601")
            }
            return date
        }
        return decoder
    }

    /// Reads everything that ``Foundation/JSONEncoder/exact`` writes.
    static var exact: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return decoder
    }
}

extension JSONEncoder {
    /// Loses nothing of a value: dates are written as numbers in full precision.
    static var exact: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return encoder
    }
}

extension PropertyValues {
    /// Reads JSON: an array of objects of an entity, or one object.
    /// - Throws: ``PersistenceError/invalidUpsert(entity:reason:)`` with the place of what is wrong;
    ///   ``PersistenceError/wrongType(entity:property:expected:value:)`` for a value that does not fit.
    static func decode(
        _ json: Data, _ entity: EntityDescription, _ model: ManagedObjectModel, _ decoder: JSONDecoder
    ) throws(PersistenceError) -> [PropertyValues] {
        decoder.userInfo[.entityToDecode] = EntityToDecode(model: model, entity: entity)
        do {
            return try decoder.decode(DecodedObjects.self, from: json).values
        } catch let error as PersistenceError {
            throw error
        } catch let error as DecodingError {
            throw .invalidUpsert(entity: entity.name, reason: error.place)
        } catch {
            throw .invalidUpsert(entity: entity.name, reason: "\(error)")
        }
    }
}

extension CodingUserInfoKey {
    fileprivate static let entityToDecode: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "strata.entity") else {
            fatalError("a raw value makes a key of user info; this one did not")
        }
        return key
    }()
}

/// The entity that a decoder is to read objects of.
private struct EntityToDecode: Sendable {
    let model: ManagedObjectModel
    let entity: EntityDescription
}

/// One object, or several.
private struct DecodedObjects: Decodable {
    var values: [PropertyValues] = []

    init(from decoder: any Decoder) throws {
        guard let target = decoder.userInfo[.entityToDecode] as? EntityToDecode else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no entity is given"))
        }
        let reader = ObjectDecoder(model: target.model)
        guard var list = try? decoder.unkeyedContainer() else {
            values = [try reader.decode(target.entity, from: decoder)]
            return
        }
        while !list.isAtEnd { values.append(try reader.decode(target.entity, from: try list.superDecoder())) }
    }
}

/// Reads the values of objects by the model.
private struct ObjectDecoder {
    let model: ManagedObjectModel

    func decode(_ entity: EntityDescription, from decoder: any Decoder) throws -> PropertyValues {
        var result = PropertyValues(entity: entity)
        let container = try decoder.container(keyedBy: PropertyCodingKey.self)
        let names = PropertyValueReader(model: model)
        for key in container.allKeys {
            let name = names.propertyName(key.stringValue, entity)
            if let attribute = entity.attribute(named: name) {
                // What a back end derives comes back with the rest.
                guard attribute.derivation == nil else { continue }
                try decode(attribute, key, container, entity, into: &result)
            } else if let relationship = entity.relationship(named: name) {
                result.relationships.append((relationship, try decode(relationship, key, container, entity)))
            }
        }
        return result
    }

    private func decode(
        _ attribute: AttributeDescription, _ key: PropertyCodingKey,
        _ container: KeyedDecodingContainer<PropertyCodingKey>, _ entity: EntityDescription,
        into result: inout PropertyValues
    ) throws {
        guard case .composite = attribute.type else {
            let slot = entity.slots[attribute.slots.lowerBound]
            result.values.append((slot.index, try value(slot, key, container, entity)))
            return
        }
        if try container.decodeNil(forKey: key) {
            for index in attribute.slots { result.values.append((index, .null)) }
            return
        }
        let elements = try container.nestedContainer(keyedBy: PropertyCodingKey.self, forKey: key)
        for index in attribute.slots {
            let slot = entity.slots[index]
            let element = PropertyCodingKey(String(slot.name.dropFirst(attribute.name.count + 1)))
            result.values.append(
                (index, elements.contains(element) ? try value(slot, element, elements, entity) : .null))
        }
    }

    private func value(
        _ slot: SlotDescription, _ key: PropertyCodingKey, _ container: KeyedDecodingContainer<PropertyCodingKey>,
        _ entity: EntityDescription
    ) throws -> Value {
        if try container.decodeNil(forKey: key) {
            guard slot.isOptional else {
                throw PersistenceError.wrongType(
                    entity: entity.name, property: slot.name, expected: slot.type?.name ?? "", value: "nil")
            }
            return .null
        }
        let value: Value =
            switch slot.type {
            case .integer16?, .integer32?, .integer64?, .integer?:
                .integer(try container.decode(Int64.self, forKey: key))
            case .double?, .float?: .double(try container.decode(Double.self, forKey: key))
            case .decimal?: try decimal(slot, key, container, entity)
            case .boolean?: .boolean(try container.decode(Bool.self, forKey: key))
            case .date?: .date(try date(key, container))
            case .binary?: .binary(try container.decode(Data.self, forKey: key))
            case .uuid?: .uuid(try container.decode(UUID.self, forKey: key))
            case .uri?: .uri(try container.decode(URL.self, forKey: key))
            case .geoPoint?: .geoPoint(try container.decode(GeoPoint.self, forKey: key))
            case .transformable?: .binary(try container.decode(JSONFragment.self, forKey: key).bytes())
            case .json?, .array?: try container.decode(JSONFragment.self, forKey: key).value
            default: .string(try container.decode(String.self, forKey: key))
            }
        guard Unboxed.fits(value, slot) else {
            throw PersistenceError.wrongType(
                entity: entity.name, property: slot.name, expected: slot.type?.name ?? "", value: "\(value)")
        }
        return value
    }

    /// A date in the form of the decoder. What the decoder says of another one does not say what to do.
    private func date(
        _ key: PropertyCodingKey, _ container: KeyedDecodingContainer<PropertyCodingKey>
    ) throws -> Date {
        do {
            return try container.decode(Date.self, forKey: key)
        } catch let error as DecodingError {
            guard case .dataCorrupted(let context) = error, let text = try? container.decode(String.self, forKey: key)
            else { throw error }
            let advice =
                "\"\(text)\" is not a date in the form that the decoder reads, by default \"2026-05-01T12:00:00Z\"; "
                + "for another form, pass a decoder with a dateDecodingStrategy"
            throw DecodingError.dataCorrupted(.init(codingPath: context.codingPath, debugDescription: advice))
        }
    }

    /// A decimal number, which many services write as text, so that no digit is lost on the way.
    private func decimal(
        _ slot: SlotDescription, _ key: PropertyCodingKey, _ container: KeyedDecodingContainer<PropertyCodingKey>,
        _ entity: EntityDescription
    ) throws -> Value {
        guard let text = try? container.decode(String.self, forKey: key) else {
            return .decimal(try container.decode(Decimal.self, forKey: key))
        }
        // Foundation's own reader of text accepts a number that anything follows.
        guard let number = try? JSONDecoder().decode(Decimal.self, from: Data(text.utf8)) else {
            throw PersistenceError.wrongType(
                entity: entity.name, property: slot.name, expected: "decimal", value: "\"\(text)\"")
        }
        return .decimal(number)
    }

    private func decode(
        _ relationship: RelationshipDescription, _ key: PropertyCodingKey,
        _ container: KeyedDecodingContainer<PropertyCodingKey>, _ entity: EntityDescription
    ) throws -> [PropertyValues.Related] {
        if try container.decodeNil(forKey: key) { return [] }
        let destination = model.destination(of: relationship)
        guard relationship.isToMany else {
            return [try related(destination, relationship, try container.superDecoder(forKey: key), entity)]
        }
        var list = try container.nestedUnkeyedContainer(forKey: key)
        var result: [PropertyValues.Related] = []
        while !list.isAtEnd {
            result.append(try related(destination, relationship, try list.superDecoder(), entity))
        }
        return result
    }

    /// An object is given as such, or by the value of its primary key.
    private func related(
        _ destination: EntityDescription, _ relationship: RelationshipDescription, _ decoder: any Decoder,
        _ entity: EntityDescription
    ) throws -> PropertyValues.Related {
        if (try? decoder.container(keyedBy: PropertyCodingKey.self)) != nil {
            return .values(try decode(destination, from: decoder))
        }
        let container = try decoder.singleValueContainer()
        guard let field = destination.primaryKeyField, let slot = destination.slot(named: field) else {
            throw PersistenceError.noPrimaryKey(entity: destination.name)
        }
        switch slot.type {
        case .integer16?, .integer32?, .integer64?, .integer?: return .key(.integer(try container.decode(Int64.self)))
        case .uuid?: return .key(.uuid(try container.decode(UUID.self)))
        default: return .key(.string(try container.decode(String.self)))
        }
    }
}

extension DecodingError {
    /// The place of the mistake and its description.
    fileprivate var place: String {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
            return path.isEmpty ? context.debugDescription : "at \(path): \(context.debugDescription)"
        @unknown default: return "\(self)"
        }
    }
}
