import Foundation

extension CoreDataModel {
    /// The model as Core Data compiles it: a keyed archive of `NSManagedObjectModel`, as in `.mom` files and, compressed, in
    /// stores. Fetch requests, configurations, composite types, fetched properties, validation rules, derivations and indexes
    /// with a condition or without a name are left out: Core Data keeps them as objects of other classes, and no store
    /// needs them to be found. Each of them gives a warning.
    /// - Parameter file: The path that warnings name.
    package func compiled(file: String) -> (data: Data, warnings: [CoreDataModelWarning]) {
        var writer = CompiledModelWriter(model: self)
        return (writer.write(), omissions(file: file))
    }

    /// What a compiled model lacks, in the order of the file within each kind.
    private func omissions(file: String) -> [CoreDataModelWarning] {
        var warnings: [CoreDataModelWarning] = []
        func warn(_ source: CoreDataSource, _ what: String) {
            warnings.append(
                CoreDataModelWarning(
                    file: file, line: source.line, message: "\(what) is left out of the compiled model"))
        }
        for request in fetchRequests { warn(request.source, "the fetch request \(request.name)") }
        for configuration in configurations { warn(configuration.source, "the configuration \(configuration.name)") }
        for type in compositeTypes { warn(type.source, "the composite type \(type.name)") }
        for entity in entities {
            for attribute in entity.attributes {
                let subject = "\(entity.name).\(attribute.name)"
                if attribute.derivation != nil { warn(attribute.source, "the derivation of \(subject)") }
                if attribute.validation != CoreDataAttribute.Validation() {
                    warn(attribute.source, "the validation of \(subject)")
                }
            }
            for property in entity.fetchedProperties {
                warn(property.source, "the fetched property \(entity.name).\(property.name)")
            }
            for index in entity.indexes where index.name == nil || index.predicate != nil {
                let names = index.elements.compactMap(\.property).joined(separator: ", ")
                warn(index.source, "the index \(index.name ?? "of \(names)") of \(entity.name)")
            }
        }
        return warnings
    }
}

/// Writes compiled models.
private struct CompiledModelWriter {
    private let model: CoreDataModel
    private var objects: [PropertyList] = [.string("$null")]
    private var strings: [String: PropertyList] = [:]
    private var classes: [String: PropertyList] = [:]
    private var entities: [String: PropertyList] = [:]
    /// The relationships by entity and name, so that inverses can refer to each other.
    private var relationships: [String: PropertyList] = [:]

    private static let null = PropertyList.uid(0)

    init(model: CoreDataModel) { self.model = model }

    mutating func write() -> Data {
        let root = reserve()
        let ordered = model.entitiesInStoreOrder
        for entity in ordered { entities[entity.name] = reserve() }
        for entity in ordered {
            for owner in model.lineage(of: entity) {
                for relationship in owner.relationships {
                    relationships["\(entity.name).\(relationship.name)"] = reserve()
                }
            }
        }
        for entity in ordered { write(entity, root: root) }
        let names = ordered.map(\.name).sorted()
        let all = dictionary(names.map { ($0, entities[$0] ?? Self.null) })
        let versions = model.versionIdentifiers.map { string($0) }
        let set = object("NSSet", ["NSObject"], ["NS.objects": .array(versions)])
        fill(
            root, "NSManagedObjectModel", ["NSObject"],
            ["NSEntities": all, "NSFetchRequestTemplates": Self.null, "NSVersionIdentifiers": set])
        return PropertyList.dictionary([
            "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
            "$top": .dictionary(["root": root]), "$objects": .array(objects),
        ]).binary()
    }

    // MARK: Objects

    private mutating func reserve() -> PropertyList {
        objects.append(.null)
        return .uid(objects.count - 1)
    }

    private mutating func string(_ text: String?) -> PropertyList {
        guard let text else { return Self.null }
        if let known = strings[text] { return known }
        let place = reserve()
        objects[objects.count - 1] = .string(text)
        strings[text] = place
        return place
    }

    private mutating func fill(
        _ place: PropertyList, _ name: String, _ parents: [String], _ members: [String: PropertyList]
    ) {
        let known = classes[name] ?? reserve()
        if classes[name] == nil, let uid = known.uid {
            let lineage = ([name] + parents).map { PropertyList.string($0) }
            objects[uid] = .dictionary(["$classname": .string(name), "$classes": .array(lineage)])
            classes[name] = known
        }
        guard let uid = place.uid else { return }
        objects[uid] = .dictionary(members.merging(["$class": known]) { first, _ in first })
    }

    private mutating func object(
        _ name: String, _ parents: [String], _ members: [String: PropertyList]
    ) -> PropertyList {
        let place = reserve()
        fill(place, name, parents, members)
        return place
    }

    private mutating func array(_ elements: [PropertyList]) -> PropertyList {
        object("NSMutableArray", ["NSArray", "NSObject"], ["NS.objects": .array(elements)])
    }

    private mutating func dictionary(_ pairs: [(String, PropertyList)]) -> PropertyList {
        let keys = pairs.map { string($0.0) }
        return object(
            "NSMutableDictionary", ["NSDictionary", "NSObject"],
            ["NS.keys": .array(keys), "NS.objects": .array(pairs.map(\.1))])
    }

    // MARK: The model

    private mutating func write(_ entity: CoreDataEntity, root: PropertyList) {
        guard let place = entities[entity.name] else { return }
        var properties: [(String, PropertyList)] = []
        // What ancestors declare stands with each heir, too.
        for owner in model.lineage(of: entity).reversed() {
            for attribute in owner.attributes { properties.append((attribute.name, write(attribute, of: place))) }
            for relationship in owner.relationships {
                properties.append((relationship.name, write(relationship, of: entity, place)))
            }
        }
        let children = model.entitiesInStoreOrder.filter { $0.parent == entity.name }.map {
            ($0.name, entities[$0.name] ?? Self.null)
        }
        var tuples: [PropertyList] = []
        for constraint in entity.uniquenessConstraints {
            let names = constraint.map { string($0) }
            tuples.append(array(names))
        }
        var indexes: [PropertyList] = []
        for index in entity.indexes where index.name != nil && index.predicate == nil {
            indexes.append(write(index, of: place))
        }
        var members: [String: PropertyList] = [
            "NSEntityName": string(entity.name), "NSClassNameForEntity": string(entity.className),
            "NSProperties": dictionary(properties), "NSSubentities": dictionary(children), "NSManagedObjectModel": root,
            "NSSuperentity": entity.parent.flatMap { entities[$0] } ?? Self.null,
            "NSRenamingIdentifier": string(entity.elementID ?? entity.name),
            "NSVersionHashModifier": string(entity.versionHashModifier), "NSUserInfo": userInfo(entity.userInfo),
            "NSFetchIndexDescriptions": array(indexes),
        ]
        if entity.isAbstract { members["NSIsAbstract"] = .boolean(true) }
        if !tuples.isEmpty { members["NSUniqueTuples"] = array(tuples) }
        fill(place, "NSEntityDescription", ["NSObject"], members)
    }

    private mutating func userInfo(_ info: [String: String]) -> PropertyList {
        let pairs = info.sorted { $0.key < $1.key }.map { ($0.key, string($0.value)) }
        return dictionary(pairs)
    }

    private mutating func property(
        _ name: String, _ options: CoreDataPropertyOptions, _ elementID: String?, _ modifier: String?,
        _ info: [String: String], of entity: PropertyList
    ) -> [String: PropertyList] {
        var members: [String: PropertyList] = [
            "NSPropertyName": string(name), "NSEntity": entity, "NSRenamingIdentifier": string(elementID ?? name),
            "NSVersionHashModifier": string(modifier),
        ]
        if !info.isEmpty { members["NSUserInfo"] = userInfo(info) }
        if options.contains(.optional) { members["NSIsOptional"] = .boolean(true) }
        if options.contains(.transient) { members["NSIsTransient"] = .boolean(true) }
        if options.contains(.indexed) { members["NSIsIndexed"] = .boolean(true) }
        if options.contains(.ordered) { members["NSIsOrdered"] = .boolean(true) }
        return members
    }

    private mutating func write(_ attribute: CoreDataAttribute, of entity: PropertyList) -> PropertyList {
        var members = property(
            attribute.name, attribute.options, attribute.elementID, attribute.versionHashModifier, attribute.userInfo,
            of: entity)
        var flags: Int64 = 0
        if attribute.options.contains(.externalStorage) { flags |= 4 }
        if attribute.options.contains(.preservedAfterDeletion) { flags |= 16 }
        members["NSFlagsKey"] = .integer(flags)
        members["NSAttributeType"] = .integer(Int64(attribute.type.rawValue))
        members["NSAttributeValueClassName"] = string(attribute.valueClassName)
        members["NSValueTransformerName"] = string(attribute.transformerName)
        members["NSDefaultValue"] = defaultValue(of: attribute)
        return object("NSAttributeDescription", ["NSPropertyDescription", "NSObject"], members)
    }

    private mutating func defaultValue(of attribute: CoreDataAttribute) -> PropertyList {
        let value: PropertyList
        switch (attribute.defaultValue, attribute.type) {
        case (.text(let text)?, .boolean): value = .boolean(["YES", "TRUE", "1"].contains(text.uppercased()))
        case (.text(let text)?, .string): return string(text)
        case (.text(let text)?, .double), (.text(let text)?, .float):
            guard let number = Double(text) else { return Self.null }
            value = .real(number)
        case (.text(let text)?, .integer16), (.text(let text)?, .integer32), (.text(let text)?, .integer64):
            guard let number = Int64(text) else { return Self.null }
            value = .integer(number)
        case (.date(let seconds)?, _):
            return object("NSDate", ["NSObject"], ["NS.time": .real(seconds)])
        default: return Self.null
        }
        let place = reserve()
        objects[objects.count - 1] = value
        return place
    }

    private mutating func write(
        _ relationship: CoreDataRelationship, of entity: CoreDataEntity, _ place: PropertyList
    ) -> PropertyList {
        let own = relationships["\(entity.name).\(relationship.name)"] ?? Self.null
        var members = property(
            relationship.name, relationship.options, relationship.elementID, relationship.versionHashModifier,
            relationship.userInfo, of: place)
        members["NSMaxCount"] = .integer(Int64(relationship.maximumCount))
        members["NSMinCount"] = .integer(Int64(relationship.minimumCount))
        members["NSDeleteRule"] = .integer(Int64(relationship.deleteRule.rawValue))
        members["NSDestinationEntity"] = entities[relationship.destination] ?? Self.null
        members["_NSDestinationEntityName"] = string(relationship.destination)
        if let inverse = relationship.inverse {
            members["_NSInverseRelationshipName"] = string(inverse)
            members["NSInverseRelationship"] = relationships["\(relationship.destination).\(inverse)"] ?? Self.null
        }
        fill(own, "NSRelationshipDescription", ["NSPropertyDescription", "NSObject"], members)
        return own
    }

    private mutating func write(_ index: CoreDataFetchIndex, of entity: PropertyList) -> PropertyList {
        let place = reserve()
        var elements: [PropertyList] = []
        for element in index.elements {
            elements.append(
                object(
                    "NSFetchIndexElementDescription", ["NSObject"],
                    [
                        "NSPropertyName": string(element.property), "NSFetchIndexDescription": place,
                        "NSFetchIndexElementType": .integer(element.kind == "RTree" ? 1 : 0),
                        "NSAscending": .boolean(!element.isDescending),
                    ]))
        }
        let list = array(elements)
        fill(
            place, "NSFetchIndexDescription", ["NSObject"],
            ["NSIndexName": string(index.name), "NSIndexElements": list, "NSEntity": entity])
        return place
    }
}
