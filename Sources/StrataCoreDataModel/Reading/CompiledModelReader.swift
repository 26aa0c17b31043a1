import Foundation

/// Reads compiled models: keyed archives of `NSManagedObjectModel`, as in `.mom` files and in the `Z_MODELCACHE` of stores.
struct CompiledModelReader {
    let archive: KeyedArchive
    let file: String
    var warnings: [CoreDataModelWarning] = []
    /// The types of composite attributes, which compiled models do not name.
    private var composites: [CoreDataCompositeType] = []
    /// How many elements of composites may follow. A damaged archive can double their number with each level.
    private var elementBudget = 10_000
    /// Members of archived objects about which there is a warning.
    private var unread: Set<String> = []
    /// How many properties all entities may have, inherited ones counted. The largest models that are known have 10,000; entities
    /// of a damaged archive can share one large dictionary.
    private static let maximumProperties = 200_000

    init(archive: KeyedArchive, file: String) {
        self.archive = archive
        self.file = file
    }

    mutating func read(name: String) throws(CoreDataModelError) -> CoreDataModel {
        guard let root = archive.root, archive.className(of: root) == "NSManagedObjectModel",
            let entities = archive.pairs(archive.member("NSEntities", of: root))
        else { throw CoreDataModelError(file: file, message: "this is not a compiled Core Data model") }
        var model = CoreDataModel(name: name)
        // What ancestors declare is in the archive of each heir, too.
        var parents: [String: String] = [:]
        for (name, value) in entities {
            parents[name] = archive.string(
                archive.member("NSEntityName", of: archive.member("NSSuperentity", of: value)))
        }
        var properties: [String: Set<String>] = [:]
        for (name, value) in entities {
            properties[name] = Set((archive.pairs(archive.member("NSProperties", of: value)) ?? []).map(\.key))
        }
        guard properties.values.reduce(0, { $0 + $1.count }) <= Self.maximumProperties else {
            throw CoreDataModelError(
                file: file, message: "the model is refused: it has more than \(Self.maximumProperties) properties")
        }
        for (name, value) in entities.sorted(by: { $0.key < $1.key }) {
            let inherited = parents[name].flatMap { properties[$0] } ?? []
            model.entities.append(entity(name, value, parent: parents[name], inherited: inherited))
        }
        model.compositeTypes = composites
        let templates = archive.pairs(archive.member("NSFetchRequestTemplates", of: root)) ?? []
        for (name, value) in templates.sorted(by: { $0.key < $1.key }) {
            let found = request(name, value)
            if found.entity.isEmpty {
                warn("the fetch request \(name) names no entity; it is left out")
            } else {
                model.fetchRequests.append(found)
            }
        }
        model.configurations = configurations(archive.member("NSConfigurations", of: root))
        warnAboutMembers(of: root, "the model")
        model.versionIdentifiers =
            (archive.elements(archive.member("NSVersionIdentifiers", of: root)) ?? []).compactMap(archive.string)
            .sorted()
        return model
    }

    /// Configurations list the entities themselves, or their names.
    private mutating func configurations(_ value: PropertyList?) -> [CoreDataConfiguration] {
        guard let value else { return [] }
        guard let pairs = archive.pairs(value) else {
            warn("the configurations are not read: they are of the class \(archive.className(of: value) ?? "nil")")
            return []
        }
        return pairs.sorted { $0.key < $1.key }.map { name, members in
            let names = (archive.elements(members) ?? []).compactMap {
                archive.string($0) ?? archive.string(archive.member("NSEntityName", of: $0))
            }
            if names.count != archive.elements(members)?.count {
                warn("the configuration \(name) has members that are not read")
            }
            return CoreDataConfiguration(name: name, entities: names.sorted())
        }
    }

    private mutating func entity(
        _ name: String, _ value: PropertyList, parent: String?, inherited: Set<String>
    ) -> CoreDataEntity {
        warnAboutMembers(of: value, name)
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
            if let found = self.index(index, of: name) { entity.indexes.append(found) }
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

    private mutating func attribute(
        _ name: String, _ value: PropertyList, of entity: String, depth: Int = 0
    ) -> CoreDataAttribute {
        warnAboutMembers(of: value, "\(entity).\(name)")
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
        if attribute.type == .composite {
            attribute.compositeName = composite(name, value, of: entity, depth: depth)
        }
        if archive.className(of: value) == "NSDerivedAttributeDescription" {
            do throws(ArchivedPredicate.Unreadable) {
                let expression = archive.member("NSDerivationExpression", of: value)
                attribute.derivation = try ArchivedPredicate.derivation(expression, in: archive)
            } catch {
                attribute.derivation = ""
                warn("\(entity).\(name): the derivation is not read: \(error.reason)")
            }
        }
        attribute.elementID = renaming(of: value, name: name)
        attribute.versionHashModifier = archive.string(archive.member("NSVersionHashModifier", of: value))
        attribute.userInfo = userInfo(of: value)
        for predicate in archive.elements(archive.member("NSValidationPredicates", of: value)) ?? []
        where !validate(&attribute, predicate) {
            let text = try? ArchivedPredicate.format(predicate, in: archive)
            warn("\(entity).\(name): the validation rule \(text ?? "") has no counterpart; it is left out")
        }
        return attribute
    }

    /// The type of a composite attribute: a type of the same elements that has the name, or a new one. The elements are those
    /// attributes that the composite lists, whichever of its members lists them.
    private mutating func composite(_ name: String, _ value: PropertyList, of entity: String, depth: Int) -> String? {
        let lists = (archive.resolve(value)?.dictionary ?? [:]).sorted { $0.key < $1.key }.compactMap {
            member -> [PropertyList]? in
            let values = archive.elements(member.value) ?? archive.pairs(member.value)?.map(\.value) ?? []
            let isList =
                !values.isEmpty && values.allSatisfy { Self.attributeClasses.contains(archive.className(of: $0) ?? "") }
            return isList ? values : nil
        }
        guard let elements = lists.first else {
            warn("\(entity).\(name): the elements of the composite are not found; it has none")
            return nil
        }
        elementBudget -= elements.count
        guard depth < 32, elementBudget >= 0 else {
            warn("\(entity).\(name): the composite is nested too deeply or has too many elements; they are left out")
            return nil
        }
        var type = CoreDataCompositeType(name: "")
        for element in elements {
            guard let elementName = archive.string(archive.member("NSPropertyName", of: element)) else {
                warn("\(entity).\(name): an element of the composite has no name; it is left out")
                continue
            }
            type.attributes.append(attribute(elementName, element, of: "\(entity).\(name)", depth: depth + 1))
        }
        let wanted = name.prefix(1).uppercased() + name.dropFirst()
        var number = 1
        while true {
            type.name = number == 1 ? wanted : "\(wanted)\(number)"
            guard let known = composites.first(where: { $0.name == type.name }) else { break }
            if known == type { return type.name }
            number += 1
        }
        composites.append(type)
        return type.name
    }

    private static let attributeClasses = [
        "NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription",
    ]

    /// Takes the bound that a validation predicate states: `SELF >= 1`, `length <= 20`, `SELF MATCHES "…"`.
    /// - Returns: Whether it states one.
    private func validate(_ attribute: inout CoreDataAttribute, _ predicate: PropertyList) -> Bool {
        let kind = archive.member("NSOperatorType", of: archive.member("NSPredicateOperator", of: predicate))?.integer
        let constant = archive.member("NSConstantValue", of: archive.member("NSRightExpression", of: predicate))
        guard let kind, let constant else { return false }
        let value = defaultValue(constant, type: attribute.type == .string ? .integer64 : attribute.type)
        switch (kind, value) {
        case (3, .text(let text)?): attribute.validation.minimum = text
        case (1, .text(let text)?): attribute.validation.maximum = text
        case (3, .date(let seconds)?): attribute.validation.minimumDate = seconds
        case (1, .date(let seconds)?): attribute.validation.maximumDate = seconds
        case (6, _): attribute.validation.pattern = archive.string(constant)
        default: return false
        }
        return true
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
        warnAboutMembers(of: value, name)
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
        if let value { warnAboutMembers(of: value, "the fetch request \(name)") }
        request.predicate = condition(archive.member("NSPredicate", of: value), "the fetch request \(name)")
        return request
    }

    private mutating func index(_ value: PropertyList, of entity: String) -> CoreDataFetchIndex? {
        let name = archive.string(archive.member("NSIndexName", of: value))
        let subject = "\(entity), index \(name ?? "")"
        guard let elements = archive.elements(archive.member("NSIndexElements", of: value)) else {
            warn("\(subject): its elements are not read; it is left out")
            return nil
        }
        warnAboutMembers(of: value, subject)
        var index = CoreDataFetchIndex(name: name, elements: [])
        index.predicate = condition(archive.member("NSPartialIndexPredicate", of: value), subject)
        for element in elements {
            warnAboutMembers(of: element, subject)
            let property = archive.string(archive.member("NSPropertyName", of: element))
            var found = CoreDataFetchIndex.Element(property: property)
            if archive.member("NSFetchIndexElementType", of: element)?.integer == 1 { found.kind = "RTree" }
            found.isDescending = archive.member("NSAscending", of: element)?.boolean == false
            index.elements.append(found)
        }
        return index
    }

    /// A condition in the format language.
    private mutating func condition(_ value: PropertyList?, _ subject: String) -> String? {
        guard let value else { return nil }
        do throws(ArchivedPredicate.Unreadable) {
            return try ArchivedPredicate.format(value, in: archive)
        } catch {
            warn("\(subject): its condition is not read: \(error.reason)")
            return nil
        }
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

    /// Warns about members that this reader does not know, once for each class.
    private mutating func warnAboutMembers(of value: PropertyList, _ subject: String) {
        let name = archive.className(of: value) ?? ""
        for (key, member) in (archive.resolve(value)?.dictionary ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard !Self.knownMembers.contains(key), let member = archive.resolve(member) else { continue }
            // Switches that are off, empty collections, and what the reader of composites found.
            if member.boolean == false || archive.elements(member)?.isEmpty == true { continue }
            if name == "NSCompositeAttributeDescription", archive.elements(member) != nil { continue }
            if unread.insert("\(name).\(key)").inserted {
                warn("\(subject): \(key) of \(name) is not known and not read, here and elsewhere in the file")
            }
        }
    }

    /// The members that are read, that repeat others, or that mean nothing outside of Core Data's memory.
    private static let knownMembers: Set<String> = [
        "$class", "NSEntities", "NSFetchRequestTemplates", "NSVersionIdentifiers", "NSConfigurations", "NSEntityName",
        "NSClassNameForEntity", "NSUserInfo", "NSSubentities", "NSVersionHashModifier", "NSProperties",
        "NSRenamingIdentifier", "NSManagedObjectModel", "NSSuperentity", "NSFetchIndexDescriptions",
        "NSCompoundIndexes",
        "NSUniqueTuples", "NSIsAbstract", "_P", "NSAttributeValueClassName", "NSAttributeType", "NSEntity",
        "NSDefaultValue", "NSPropertyName", "NSValueTransformerName", "NSFlagsKey", "NSIsOptional", "NSIsTransient",
        "NSIsIndexed", "NSIsReadOnly", "NSIsOrdered", "NSValidationPredicates", "NSValidationWarnings",
        "NSDerivationExpression", "NSDestinationEntity", "_NSDestinationEntityName", "NSInverseRelationship",
        "_NSInverseRelationshipName", "NSDeleteRule", "NSMaxCount", "NSMinCount", "NSFetchRequest",
        "_NSFetchRequestEntityName", "NSFetchLimit", "NSPredicate", "NSIndexName", "NSIndexElements",
        "NSPartialIndexPredicate", "NSFetchIndexElementType", "NSFetchIndexDescription", "NSAscending",
    ]

    private mutating func warn(_ message: String) {
        warnings.append(CoreDataModelWarning(file: file, line: nil, message: message))
    }
}
