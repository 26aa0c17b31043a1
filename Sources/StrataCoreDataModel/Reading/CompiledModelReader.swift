import Foundation

/// Reads compiled models: keyed archives of `NSManagedObjectModel`, as in `.mom` files and in the `Z_MODELCACHE` of stores.
struct CompiledModelReader {
    let archive: KeyedArchive
    let file: String
    var warnings: [CoreDataModelWarning] = []

    mutating func read(name: String) throws(CoreDataModelError) -> CoreDataModel {
        guard let root = archive.root, archive.className(of: root) == "NSManagedObjectModel",
            let entities = archive.pairs(archive.member("NSEntities", of: root))
        else { throw CoreDataModelError(file: file, message: "this is not a compiled Core Data model") }
        var model = CoreDataModel(name: name)
        // What ancestors declare stands in the archive of each heir, too.
        var parents: [String: String] = [:]
        for (name, value) in entities {
            parents[name] = archive.string(
                archive.member("NSEntityName", of: archive.member("NSSuperentity", of: value)))
        }
        var properties: [String: Set<String>] = [:]
        for (name, value) in entities {
            properties[name] = Set((archive.pairs(archive.member("NSProperties", of: value)) ?? []).map(\.key))
        }
        for (name, value) in entities.sorted(by: { $0.key < $1.key }) {
            let inherited = parents[name].flatMap { properties[$0] } ?? []
            model.entities.append(entity(name, value, parent: parents[name], inherited: inherited))
        }
        let templates = archive.pairs(archive.member("NSFetchRequestTemplates", of: root)) ?? []
        for (name, value) in templates.sorted(by: { $0.key < $1.key }) {
            model.fetchRequests.append(request(name, value))
        }
        model.versionIdentifiers =
            (archive.elements(archive.member("NSVersionIdentifiers", of: root)) ?? []).compactMap(archive.string)
            .sorted()
        return model
    }

    private mutating func entity(
        _ name: String, _ value: PropertyList, parent: String?, inherited: Set<String>
    ) -> CoreDataEntity {
        var entity = CoreDataEntity(name: name)
        let className = archive.string(archive.member("NSClassNameForEntity", of: value))
        entity.className = className == "NSManagedObject" ? nil : className
        entity.parent = parent
        entity.isAbstract = archive.member("NSIsAbstract", of: value)?.boolean ?? false
        entity.elementID = renaming(of: value, name: name)
        entity.versionHashModifier = archive.string(archive.member("NSVersionHashModifier", of: value))
        entity.userInfo = userInfo(of: value)
        let properties = (archive.pairs(archive.member("NSProperties", of: value)) ?? [])
            .filter { !inherited.contains($0.key) }.sorted { $0.key < $1.key }
        for (name, property) in properties {
            switch archive.className(of: property) {
            case "NSRelationshipDescription": entity.relationships.append(relationship(name, property))
            case "NSFetchedPropertyDescription": entity.fetchedProperties.append(fetched(name, property))
            case "NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription":
                entity.attributes.append(attribute(name, property, of: entity.name))
            case let other:
                warn("\(entity.name).\(name): properties of the class \(other ?? "nil") are not read")
            }
        }
        for tuple in archive.elements(archive.member("NSUniqueTuples", of: value)) ?? [] {
            let names = (archive.elements(tuple) ?? []).compactMap {
                archive.string($0) ?? archive.string(archive.member("NSPropertyName", of: $0))
            }
            if !names.isEmpty { entity.uniquenessConstraints.append(names) }
        }
        for index in archive.elements(archive.member("NSFetchIndexDescriptions", of: value)) ?? [] {
            if let found = self.index(index) { entity.indexes.append(found) }
        }
        for index in archive.elements(archive.member("NSCompoundIndexes", of: value)) ?? [] {
            let elements = (archive.elements(index) ?? []).compactMap {
                archive.string($0) ?? archive.string(archive.member("NSPropertyName", of: $0))
            }
            if !elements.isEmpty {
                entity.indexes.append(
                    CoreDataFetchIndex(name: nil, elements: elements.map { .init(property: $0) }))
            }
        }
        return entity
    }

    private func options(of property: PropertyList) -> CoreDataPropertyOptions {
        var options: CoreDataPropertyOptions = []
        func add(_ key: String, _ option: CoreDataPropertyOptions) {
            if archive.member(key, of: property)?.boolean ?? false { options.insert(option) }
        }
        add("NSIsOptional", .optional)
        add("NSIsTransient", .transient)
        add("NSIsIndexed", .indexed)
        add("NSIsOrdered", .ordered)
        let flags = archive.member("NSFlagsKey", of: property)?.integer ?? 0
        if flags & 4 != 0 { options.insert(.externalStorage) }
        if flags & 16 != 0 { options.insert(.preservedAfterDeletion) }
        return options
    }

    private mutating func attribute(_ name: String, _ value: PropertyList, of entity: String) -> CoreDataAttribute {
        let number = archive.member("NSAttributeType", of: value)?.integer ?? 0
        let type = Int(exactly: number).flatMap { CoreDataAttributeType(rawValue: $0) }
        if type == nil { warn("\(entity).\(name): the attribute type \(number) is not known") }
        var attribute = CoreDataAttribute(name: name, type: type ?? .undefined)
        attribute.options = options(of: value)
        attribute.defaultValue = defaultValue(archive.member("NSDefaultValue", of: value), type: attribute.type)
        if attribute.type == .transformable {
            attribute.transformerName = archive.string(archive.member("NSValueTransformerName", of: value))
            let className = archive.string(archive.member("NSAttributeValueClassName", of: value))
            attribute.valueClassName = className == "NSObject" ? nil : className
        }
        if archive.className(of: value) == "NSDerivedAttributeDescription" {
            attribute.derivation = keyPath(archive.member("NSDerivationExpression", of: value)) ?? ""
        }
        attribute.elementID = renaming(of: value, name: name)
        attribute.versionHashModifier = archive.string(archive.member("NSVersionHashModifier", of: value))
        attribute.userInfo = userInfo(of: value)
        for predicate in archive.elements(archive.member("NSValidationPredicates", of: value)) ?? [] {
            validate(&attribute, predicate)
        }
        return attribute
    }

    /// The bound that a validation predicate states: `SELF >= 1`, `length <= 20`, `SELF MATCHES "…"`.
    private func validate(_ attribute: inout CoreDataAttribute, _ predicate: PropertyList) {
        let kind = archive.member("NSOperatorType", of: archive.member("NSPredicateOperator", of: predicate))?.integer
        let constant = archive.member("NSConstantValue", of: archive.member("NSRightExpression", of: predicate))
        guard let kind, let constant else { return }
        let value = defaultValue(constant, type: attribute.type == .string ? .integer64 : attribute.type)
        switch (kind, value) {
        case (3, .text(let text)?): attribute.validation.minimum = text
        case (1, .text(let text)?): attribute.validation.maximum = text
        case (3, .date(let seconds)?): attribute.validation.minimumDate = seconds
        case (1, .date(let seconds)?): attribute.validation.maximumDate = seconds
        case (6, _): attribute.validation.pattern = archive.string(constant)
        default: break
        }
    }

    private func defaultValue(_ value: PropertyList?, type: CoreDataAttributeType) -> CoreDataAttribute.Default? {
        guard let value else { return nil }
        if type == .boolean, let flag = value.boolean { return .text(flag ? "YES" : "NO") }
        switch value {
        case .integer(let number): return .text(String(number))
        case .boolean(let flag): return .text(flag ? "1" : "0")
        case .real(let number): return .text(String(number))
        case .string(let text): return .text(text)
        case .data(let bytes): return .binary([UInt8](bytes))
        case .date(let seconds): return .date(seconds)
        default: break
        }
        if let seconds = archive.member("NS.time", of: value) {
            switch seconds {
            case .real(let number): return .date(number)
            case .integer(let number): return .date(Double(number))
            default: return nil
            }
        }
        if let bytes = archive.member("NS.uuidbytes", of: value)?.data, bytes.count == 16 {
            return .text(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }).uuidString)
        }
        if let text = archive.string(archive.member("NS.relative", of: value)) { return .text(text) }
        if let bytes = archive.member("NS.data", of: value)?.data { return .binary([UInt8](bytes)) }
        if archive.className(of: value)?.hasPrefix("NSDecimalNumber") == true {
            return archive.decimal(value).map { .text($0.description) }
        }
        return archive.string(value).map { .text($0) }
    }

    private mutating func relationship(_ name: String, _ value: PropertyList) -> CoreDataRelationship {
        func count(_ key: String) -> Int {
            Int(Int32(clamping: archive.member(key, of: value)?.integer ?? 0))
        }
        let maximum = count("NSMaxCount")
        let destination =
            archive.string(archive.member("_NSDestinationEntityName", of: value))
            ?? archive.string(archive.member("NSEntityName", of: archive.member("NSDestinationEntity", of: value)))
        var relationship = CoreDataRelationship(name: name, destination: destination ?? "", isToMany: maximum != 1)
        relationship.maximumCount = maximum
        relationship.minimumCount = count("NSMinCount")
        relationship.options = options(of: value)
        relationship.inverse =
            archive.string(archive.member("_NSInverseRelationshipName", of: value))
            ?? archive.string(archive.member("NSPropertyName", of: archive.member("NSInverseRelationship", of: value)))
        relationship.inverseEntity = relationship.inverse == nil ? nil : destination
        relationship.deleteRule = CoreDataRelationship.DeleteRule(rawValue: count("NSDeleteRule")) ?? .nullify
        relationship.elementID = renaming(of: value, name: name)
        relationship.versionHashModifier = archive.string(archive.member("NSVersionHashModifier", of: value))
        relationship.userInfo = userInfo(of: value)
        return relationship
    }

    private mutating func fetched(_ name: String, _ value: PropertyList) -> CoreDataFetchedProperty {
        var request = self.request("fetchedPropertyFetchRequest", archive.member("NSFetchRequest", of: value))
        if let entity = archive.string(archive.member("_NSFetchRequestEntityName", of: value)) {
            request.entity = entity
        }
        var property = CoreDataFetchedProperty(name: name, request: request)
        property.userInfo = userInfo(of: value)
        return property
    }

    private mutating func request(_ name: String, _ value: PropertyList?) -> CoreDataFetchRequest {
        let entity =
            archive.string(archive.member("NSEntityName", of: value))
            ?? archive.string(archive.member("NSEntityName", of: archive.member("NSEntity", of: value)))
        var request = CoreDataFetchRequest(name: name, entity: entity ?? "")
        if let limit = archive.member("NSFetchLimit", of: value)?.integer, limit > 0 { request.limit = Int(limit) }
        if archive.member("NSPredicate", of: value) != nil {
            warn("the condition of the fetch request \(name) is compiled and is not read")
        }
        return request
    }

    private mutating func index(_ value: PropertyList) -> CoreDataFetchIndex? {
        guard let elements = archive.elements(archive.member("NSIndexElements", of: value)) else { return nil }
        let name = archive.string(archive.member("NSIndexName", of: value))
        if archive.member("NSPartialIndexPredicate", of: value) != nil {
            warn("the condition of the index \(name ?? "") is compiled and is not read")
        }
        return CoreDataFetchIndex(
            name: name,
            elements: elements.map { element in
                let property = archive.string(archive.member("NSPropertyName", of: element))
                var found = CoreDataFetchIndex.Element(property: property)
                if archive.member("NSFetchIndexElementType", of: element)?.integer == 1 { found.kind = "RTree" }
                found.isDescending = archive.member("NSAscending", of: element)?.boolean == false
                return found
            })
    }

    private func keyPath(_ expression: PropertyList?) -> String? {
        archive.string(archive.member("NSKeyPath", of: expression))
    }

    private func renaming(of value: PropertyList, name: String) -> String? {
        let identifier = archive.string(archive.member("NSRenamingIdentifier", of: value))
        return identifier == name ? nil : identifier
    }

    private func userInfo(of value: PropertyList) -> [String: String] {
        let pairs = archive.pairs(archive.member("NSUserInfo", of: value)) ?? []
        return Dictionary(
            pairs.compactMap { key, value in archive.string(value).map { (key, $0) } }, uniquingKeysWith: { a, _ in a })
    }

    private mutating func warn(_ message: String) {
        warnings.append(CoreDataModelWarning(file: file, line: nil, message: message))
    }
}
