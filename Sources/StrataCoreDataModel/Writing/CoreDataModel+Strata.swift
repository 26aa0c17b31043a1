import Foundation
public import StrataModel

extension CoreDataModelFile {
    /// Describes a model of Strata in Core Data's terms. What Core Data has no counterpart for gives a warning.
    ///
    ///     let file = CoreDataModelFile(describing: model)
    ///     try file.model.write(toBundle: "Notes.xcdatamodeld")
    public init(describing model: ManagedObjectModel) {
        var writer = ModelDescriber(file: model.name)
        let described = writer.describe(model)
        self.init(model: described, warnings: writer.warnings, path: model.name)
    }
}

/// Turns Strata's declarations into a Core Data model.
private struct ModelDescriber {
    let file: String
    var warnings: [CoreDataModelWarning] = []
    var composites: [CoreDataCompositeType] = []

    init(file: String) { self.file = file }

    mutating func describe(_ model: ManagedObjectModel) -> CoreDataModel {
        var made = CoreDataModel(name: model.name)
        made.documentAttributes = ["sourceLanguage": "Swift", "type": "com.apple.IDECoreDataModeler.DataModel"]
        made.documentAttributes["documentVersion"] = "1.0"
        made.versionIdentifiers = [""]
        for entity in model.entities { made.entities.append(self.entity(entity.declaration, in: model)) }
        made.compositeTypes = composites
        for template in model.fetchTemplates { made.fetchRequests.append(request(template, named: template.name)) }
        made.configurations = model.configurations.map {
            CoreDataConfiguration(name: $0.name, entities: $0.entities)
        }
        return made
    }

    private mutating func warn(_ location: SourceLocation?, _ message: String) {
        warnings.append(CoreDataModelWarning(file: location?.file ?? file, line: location?.line, message: message))
    }

    private mutating func entity(_ entity: Entity, in model: ManagedObjectModel) -> CoreDataEntity {
        var made = CoreDataEntity(name: entity.name)
        made.className = entity.className ?? entity.name
        made.parent = entity.parent
        made.isAbstract = entity.isAbstract
        made.elementID = entity.formerNames.last
        made.userInfo = entity.userInfo
        made.other["syncable"] = "YES"
        for attribute in entity.attributes {
            let described = self.attribute(attribute, of: entity)
            made.attributes.append(described)
            if attribute.isIndexed {
                let name = "by" + attribute.name.prefix(1).uppercased() + attribute.name.dropFirst() + "Index"
                made.indexes.append(CoreDataFetchIndex(name: name, elements: [.init(property: attribute.name)]))
            }
            if attribute.isUnique { made.uniquenessConstraints.append([attribute.name]) }
        }
        for relationship in entity.relationships { made.relationships.append(self.relationship(relationship)) }
        for property in entity.fetchedProperties {
            let request = self.request(property.request, named: "fetchedPropertyFetchRequest")
            var fetched = CoreDataFetchedProperty(name: property.name, request: request)
            fetched.userInfo = property.userInfo
            made.fetchedProperties.append(fetched)
        }
        for (number, index) in entity.indexes.enumerated() {
            switch index.kind {
            case .unique: made.uniquenessConstraints.append(index.properties)
            case .ordered:
                let elements = index.properties.map { name in
                    let isDescending = name.hasPrefix("-")
                    var element = CoreDataFetchIndex.Element(property: isDescending ? String(name.dropFirst()) : name)
                    element.isDescending = isDescending
                    return element
                }
                made.indexes.append(CoreDataFetchIndex(name: "index\(number + 1)", elements: elements))
            case .spatial, .fullText:
                warn(index.location, "\(entity.name): Core Data has no \(index.kind.rawValue) indexes; it is left out")
            }
        }
        return made
    }

    private mutating func attribute(_ attribute: Attribute, of entity: Entity) -> CoreDataAttribute {
        let subject = "\(entity.name).\(attribute.name)"
        var made = CoreDataAttribute(name: attribute.name, type: Self.type(attribute.type))
        if attribute.isOptional { made.options.insert(.optional) }
        if attribute.isTransient { made.options.insert(.transient) }
        if attribute.allowsExternalStorage { made.options.insert(.externalStorage) }
        made.elementID = attribute.formerNames.last
        made.userInfo = attribute.userInfo
        made.derivation = attribute.derivation.map(Self.expression)
        switch attribute.type {
        case .transformable(let name): made.valueClassName = name
        case .json, .array, .geoPoint:
            warn(attribute.location, "\(subject): Core Data has no \(attribute.type.name); it becomes transformable")
        case .composite(let elements):
            let name = entity.name + attribute.name.prefix(1).uppercased() + attribute.name.dropFirst()
            var composite = CoreDataCompositeType(name: name)
            for element in elements {
                var inner = CoreDataAttribute(name: element.name, type: Self.type(element.type))
                if element.isOptional { inner.options.insert(.optional) }
                composite.attributes.append(inner)
            }
            composites.append(composite)
            made.compositeName = name
        default: break
        }
        if attribute.enumeration != nil {
            warn(attribute.location, "\(subject): Core Data has no enumerations; it is left out")
        }
        switch attribute.defaultValue {
        case nil: break
        case .value(.date(let date))?: made.defaultValue = .date(date.timeIntervalSinceReferenceDate)
        case .value(let value)?:
            if let text = Self.text(value) {
                made.defaultValue = .text(text)
            } else {
                warn(attribute.location, "\(subject): the default has no place in Core Data's file; it is left out")
            }
        case .now?, .newUUID?:
            warn(attribute.location, "\(subject): Core Data's defaults are constants; it is left out")
        }
        let rules = attribute.rules
        if case .date(let date)? = rules.minimum {
            made.validation.minimumDate = date.timeIntervalSinceReferenceDate
        } else {
            made.validation.minimum = rules.minimum.flatMap(Self.text) ?? rules.minimumLength.map { String($0) }
        }
        if case .date(let date)? = rules.maximum {
            made.validation.maximumDate = date.timeIntervalSinceReferenceDate
        } else {
            made.validation.maximum = rules.maximum.flatMap(Self.text) ?? rules.maximumLength.map { String($0) }
        }
        made.validation.pattern = rules.pattern
        return made
    }

    private static func type(_ type: AttributeType) -> CoreDataAttributeType {
        switch type {
        case .integer16: .integer16
        case .integer32: .integer32
        case .integer64, .integer: .integer64
        case .decimal: .decimal
        case .double: .double
        case .float: .float
        case .string: .string
        case .boolean: .boolean
        case .date: .date
        case .binary: .binary
        case .uuid: .uuid
        case .uri: .uri
        case .transformable, .json, .array, .geoPoint: .transformable
        case .composite: .composite
        }
    }

    private static func text(_ value: Value) -> String? {
        switch value {
        case .integer(let number): String(number)
        case .double(let number): String(number)
        case .decimal(let number): number.description
        case .string(let text): text
        case .boolean(let flag): flag ? "YES" : "NO"
        case .uuid(let uuid): uuid.uuidString
        case .uri(let uri): uri.absoluteString
        default: nil
        }
    }

    private static func expression(_ derivation: Derivation) -> String {
        switch derivation {
        case .lowercase(let name): "lowercase:(\(name))"
        case .uppercase(let name): "uppercase:(\(name))"
        case .canonical(let name): "canonical:(\(name))"
        case .now: "now()"
        case .count(let name): "\(name).@count"
        case .sum(let name, let attribute): "\(name).@sum.\(attribute)"
        case .path(let names): names.joined(separator: ".")
        }
    }

    private func relationship(_ relationship: Relationship) -> CoreDataRelationship {
        var made = CoreDataRelationship(
            name: relationship.name, destination: relationship.destination, isToMany: relationship.isToMany)
        if relationship.isToMany ? relationship.minimumCount == 0 : relationship.isOptional {
            made.options.insert(.optional)
        }
        if relationship.isOrdered { made.options.insert(.ordered) }
        made.inverse = relationship.inverse
        made.inverseEntity = relationship.inverse == nil ? nil : relationship.destination
        made.minimumCount = relationship.minimumCount
        if relationship.isToMany { made.maximumCount = relationship.maximumCount }
        switch relationship.deleteRule {
        case .noAction: made.deleteRule = .noAction
        case .nullify: made.deleteRule = .nullify
        case .cascade: made.deleteRule = .cascade
        case .deny: made.deleteRule = .deny
        }
        made.elementID = relationship.formerNames.last
        made.userInfo = relationship.userInfo
        return made
    }

    private mutating func request(_ template: FetchTemplate, named name: String) -> CoreDataFetchRequest {
        var made = CoreDataFetchRequest(name: name, entity: template.entity)
        made.predicate = template.predicate
        made.limit = template.limit
        if !template.sorts.isEmpty {
            warn(template.location, "the fetch \(template.name): Core Data's file keeps no order; it is left out")
        }
        return made
    }
}
