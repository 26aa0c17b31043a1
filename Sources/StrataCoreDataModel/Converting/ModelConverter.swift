import Foundation
import StrataModel
import StrataQuery

/// Turns a Core Data model into Strata's declarations.
struct ModelConverter {
    let model: CoreDataModel
    let file: String
    let naming: NamingConvention
    var warnings: [CoreDataModelWarning] = []
    var mapping = CoreDataMapping()
    var transformables = CoreDataTransformables.archives

    init(model: CoreDataModel, file: String, naming: NamingConvention) {
        self.model = model
        self.file = file
        self.naming = naming
    }

    mutating func convert() -> CoreDataConversion {
        mapNames()
        let known = Set(model.entities.map(\.name))
        var formerNames: Set<String> = []
        var entities: [Entity] = []
        for entity in model.entities {
            var made = self.entity(entity, known: known)
            made.formerNames = made.formerNames.filter { formerNames.insert($0).inserted }
            entities.append(made)
        }
        nameClasses(of: &entities)
        let fetches = model.fetchRequests.map { request in
            warnAboutSettings(of: request, "the fetch request \(request.name)")
            let name = Self.memberName(request.name)
            if name != request.name {
                warn(request.source, "the fetch request \(request.name): Strata's name is \(name)")
            }
            return FetchTemplate(
                name: name, entity: mapping.entities[request.entity] ?? request.entity, where: request.predicate,
                sortedBy: [], limit: request.limit, location: location(request.source))
        }
        var conversion = CoreDataConversion(
            name: model.name, entities: entities, fetches: fetches, configurations: configurations(), warnings: [],
            mapping: mapping, naming: naming)
        ConversionRepair.mend(&conversion, file: file)
        conversion.warnings = warnings + conversion.warnings
        return conversion
    }

    /// The configurations. Core Data lets a configuration have a part of a hierarchy; here it has all of it.
    private mutating func configurations() -> [ModelConfiguration] {
        var seen: Set<String> = [ModelConfiguration.defaultName]
        return model.configurations.compactMap { configuration in
            var name = Self.identifier(configuration.name)
            name = name.prefix(1).uppercased() + name.dropFirst()
            guard seen.insert(name).inserted else {
                warn(
                    configuration.source,
                    "the configuration \(configuration.name) is left out: Strata's name, \(name), is already taken")
                return nil
            }
            if name != configuration.name {
                warn(configuration.source, "the configuration \(configuration.name): Strata's name is \(name)")
            }
            func root(_ entity: CoreDataEntity) -> String { model.lineage(of: entity).last?.name ?? entity.name }
            let roots = Set(
                configuration.entities.compactMap { model.entity(named: $0) }.map(root))
            let members = model.entities.filter { roots.contains(root($0)) }.map(\.name)
            let added = members.filter { !configuration.entities.contains($0) }
            if !added.isEmpty {
                warn(
                    configuration.source,
                    "the configuration \(configuration.name): added \(added.joined(separator: ", ")), because a "
                        + "configuration has all of a hierarchy")
            }
            return members.isEmpty
                ? nil
                : ModelConfiguration(
                    name: name, entities: members.map { mapping.entities[$0] ?? $0 },
                    location: location(configuration.source))
        }
    }

    mutating func warn(_ source: CoreDataSource, _ message: String) {
        warnings.append(CoreDataModelWarning(file: file, line: source.line, message: message))
    }

    func location(_ source: CoreDataSource) -> SourceLocation? {
        source.line.map { SourceLocation(file: file, line: $0, column: 1) }
    }

    /// Gives each entity a class that no other one has, and that hides nothing.
    private mutating func nameClasses(of entities: inout [Entity]) {
        var classes: Set<String> = []
        for (index, entity) in model.entities.enumerated() {
            let made = entities[index]
            var name = made.className ?? made.name
            if classes.contains(name) {
                warn(entity.source, "\(entity.name): the class \(name) is that of another entity, too; it is left out")
                name = made.name
            }
            let names = [name, name + "Keys"] + (made.generatesBaseClass ? [name + "Base"] : [])
            if !ReservedNames.types.isDisjoint(with: names) {
                let other = name + "Object"
                warn(
                    entity.source,
                    "\(entity.name): the class is named \(other), because \(name) is a type of Strata or Swift")
                name = other
            }
            classes.insert(name)
            entities[index].className = name == made.name ? nil : name
        }
    }

    private mutating func mapNames() {
        var names = ConvertedNames(naming: naming, entities: model.entities.map(\.name))
        for entity in model.entities {
            var name = Self.identifier(entity.name)
            name = names.entity(name.prefix(1).uppercased() + name.dropFirst(), of: entity.name)
            if name != entity.name {
                warn(entity.source, "\(entity.name): Strata's entity is named \(name)")
            }
            mapping.entities[entity.name] = name
        }
        // What an entity inherits is named before what it declares itself, and names that can stay before others.
        for entity in model.entitiesInStoreOrder {
            let lineage = model.lineage(of: entity).map(\.name)
            for isKept in [true, false] {
                for attribute in entity.attributes
                where (Self.propertyName(attribute.name, of: entity.name) == attribute.name) == isKept {
                    let kind = attribute.isTransient ? "" : kind(of: attribute)
                    mapProperty(attribute.name, kind, lineage, attribute.source, &names)
                }
                for relationship in entity.relationships
                where (Self.propertyName(relationship.name, of: entity.name) == relationship.name) == isKept {
                    let target = model.entity(named: relationship.destination)
                    let root = target.flatMap { model.lineage(of: $0).last?.name } ?? relationship.destination
                    let kind = relationship.isToMany ? "" : "to-one \(root)"
                    mapProperty(relationship.name, kind, lineage, relationship.source, &names)
                }
            }
        }
    }

    /// What the column of an attribute holds, as far as entities may share it.
    private func kind(of attribute: CoreDataAttribute) -> String {
        if attribute.type.isInteger { return "integer" }
        if attribute.type == .composite || attribute.type == .transformable {
            return "\(attribute.type.name) \(attribute.compositeName ?? attribute.valueClassName ?? "")"
        }
        return attribute.type.name + (attribute.options.contains(.externalStorage) ? " in files" : "")
    }

    private mutating func mapProperty(
        _ name: String, _ kind: String, _ lineage: [String], _ source: CoreDataSource, _ names: inout ConvertedNames
    ) {
        let owner = lineage[0]
        let spelled = Self.propertyName(name, of: owner)
        let made = names.property(spelled, kind: kind, lineage: lineage)
        if made != name { warn(source, "\(owner).\(name): Strata's name is \(made)") }
        mapping.properties[owner, default: [:]][name] = made
    }

    /// A name with a small first letter.
    private static func memberName(_ name: String) -> String {
        let made = identifier(name)
        return made.first?.isLowercase == true ? made : NamingConvention.lowerCamelCase(made)
    }

    /// A name for a property: `path` of `Note` becomes `notePath`, because every object has a `path`.
    private static func propertyName(_ name: String, of entity: String) -> String {
        let made = memberName(name)
        guard ReservedNames.members.contains(made) || ReservedNames.words.contains(made) else { return made }
        return memberName(entity) + made.prefix(1).uppercased() + made.dropFirst()
    }

    /// A name of letters, digits and underscores that begins with a letter, in composed form.
    private static func identifier(_ name: String) -> String {
        let scalars = name.precomposedStringWithCanonicalMapping.unicodeScalars
            .map { $0.properties.isXIDContinue ? Character($0) : "_" }
        var text = String(scalars)
        while text.hasPrefix("_") { text.removeFirst() }
        return text.unicodeScalars.first?.properties.isXIDStart == true ? text : "x" + text
    }

    private mutating func entity(_ entity: CoreDataEntity, known: Set<String>) -> Entity {
        var made = Entity(name: mapping.entities[entity.name] ?? entity.name, location: location(entity.source))
        if let className = entity.className {
            let last = className.split(separator: ".").last.map(String.init) ?? className
            let legal = Self.identifier(last)
            if legal.first?.isUppercase == true {
                if legal != made.name { made.className = legal }
            } else {
                warn(
                    entity.source,
                    "\(entity.name): the class \(className) does not begin with a capital letter; it is named \(made.name)"
                )
            }
        }
        // The application declares the class, and Xcode its properties.
        made.generatesBaseClass = entity.other["codeGenerationType"] == "category"
        if let parent = entity.parent {
            if known.contains(parent), model.lineage(of: entity).last?.parent == nil {
                made.parent = mapping.entities[parent]
            } else {
                warn(
                    entity.source, "\(entity.name): the parent \(parent) is missing or inherits from it; it is left out"
                )
            }
        }
        made.isAbstract = entity.isAbstract
        made.formerNames = formerNames(entity.elementID, name: entity.name)
        made.userInfo = entity.userInfo
        if entity.other["coreSpotlightDisplayNameExpression"] != nil {
            warn(entity.source, "\(entity.name): Strata has no Spotlight; the display name is left out")
        }
        if entity.versionHashModifier?.isEmpty == false {
            warn(entity.source, "\(entity.name): Strata has no hash modifiers; it is left out")
        }
        for attribute in entity.attributes {
            if let converted = self.attribute(attribute, of: entity) {
                made.attributes.append(converted)
            } else {
                mapping.properties[entity.name]?[attribute.name] = nil
            }
        }
        for relationship in entity.relationships {
            made.relationships.append(self.relationship(relationship, of: entity))
        }
        for property in entity.fetchedProperties {
            warnAboutSettings(of: property.request, "\(entity.name).\(property.name)")
            let name = Self.propertyName(property.name, of: entity.name)
            if name != property.name {
                warn(property.source, "\(entity.name).\(property.name): Strata's name is \(name)")
            }
            let template = FetchTemplate(
                name: name,
                entity: mapping.entities[property.request.entity] ?? property.request.entity,
                where: property.request.predicate, sortedBy: [], limit: property.request.limit,
                location: location(property.source))
            var fetched = FetchedProperty(template)
            fetched.userInfo = property.userInfo
            made.fetchedProperties.append(fetched)
        }
        made.indexes = indexes(of: entity)
        return made
    }

    /// The former names of a property as this converter spelled them.
    func formerNames(_ elementID: String?, name: String, of entity: CoreDataEntity) -> [String] {
        formerNames(elementID, name: name).map { Self.propertyName($0, of: entity.name) }
            .filter { $0 != mapping.property(name, of: entity.name) }
    }

    private func formerNames(_ elementID: String?, name: String) -> [String] {
        guard let elementID, elementID != name, !elementID.isEmpty, UUID(uuidString: elementID) == nil else {
            return []
        }
        return [elementID]
    }

    private mutating func relationship(_ relationship: CoreDataRelationship, of entity: CoreDataEntity) -> Relationship
    {
        let name = mapping.property(relationship.name, of: entity.name) ?? relationship.name
        let subject = "\(entity.name).\(relationship.name)"
        let cardinality: Relationship.Cardinality =
            relationship.isToMany
            ? (relationship.isOrdered ? .orderedToMany : .toMany) : relationship.isOptional ? .optionalToOne : .toOne
        var made = Relationship(
            name, to: mapping.entities[relationship.destination] ?? relationship.destination, cardinality)
        made.location = location(relationship.source)
        made.inverse = inverse(of: relationship, of: entity)
        if relationship.isToMany {
            // Xcode leaves out the minimum of required relationships.
            made.minimumCount = relationship.isOptional ? 0 : max(1, relationship.minimumCount)
            made.maximumCount = max(0, relationship.maximumCount)
        }
        switch relationship.deleteRule {
        case .noAction: made.deleteRule = .noAction
        case .nullify: made.deleteRule = .nullify
        case .cascade: made.deleteRule = .cascade
        case .deny: made.deleteRule = .deny
        }
        let isRequired = relationship.isToMany ? made.minimumCount > 0 : !made.isOptional
        if made.deleteRule == .deny, isRequired {
            warn(
                relationship.source,
                "\(subject) is required and denies deletion; it becomes optional, so that it can end")
            made.isOptional = true
            made.minimumCount = 0
        }
        made.formerNames = formerNames(relationship.elementID, name: relationship.name, of: entity)
        made.userInfo = relationship.userInfo
        if relationship.isTransient { warn(relationship.source, "\(subject) is transient; Strata stores it") }
        if relationship.versionHashModifier?.isEmpty == false {
            warn(relationship.source, "\(subject): Strata has no hash modifiers; it is left out")
        }
        return made
    }

    /// The inverse, if it points back.
    private mutating func inverse(of relationship: CoreDataRelationship, of entity: CoreDataEntity) -> String? {
        guard let name = relationship.inverse else { return nil }
        let back = model.entity(named: relationship.destination)?.relationships.first { $0.name == name }
        guard let back, back.inverse == relationship.name, back.destination == entity.name else {
            warn(
                relationship.source,
                "\(entity.name).\(relationship.name): the inverse \(relationship.destination).\(name) does not point "
                    + "back; the relationship has no inverse in Strata")
            return nil
        }
        return mapping.property(name, of: relationship.destination)
    }

    private mutating func warnAboutSettings(of request: CoreDataFetchRequest, _ subject: String) {
        let settings = request.other.keys.filter { $0 != "resultType" || request.other[$0] != "0" }.sorted()
        if !settings.isEmpty {
            warn(
                request.source,
                "\(subject): the settings \(settings.joined(separator: ", ")) are given with the request in Strata; "
                    + "they are left out")
        }
    }
}
