import Foundation

/// Reads the XML of a `contents` file.
struct ModelDocumentReader {
    let file: String
    private(set) var warnings: [CoreDataModelWarning] = []

    init(file: String) { self.file = file }

    static func read(_ data: Data, name: String, file: String) throws(CoreDataModelError) -> CoreDataModelFile {
        let root: XMLNode
        do throws(XMLReadingError) {
            root = try XMLTreeReader.read(data)
        } catch {
            throw CoreDataModelError(file: file, line: error.line, message: error.message)
        }
        var reader = ModelDocumentReader(file: file)
        let model = try reader.model(root, name: name)
        return CoreDataModelFile(model: model, warnings: reader.warnings, path: file)
    }

    mutating func warn(_ node: XMLNode, _ message: String) {
        warnings.append(CoreDataModelWarning(file: file, line: node.line, message: message))
    }

    private mutating func model(_ root: XMLNode, name: String) throws(CoreDataModelError) -> CoreDataModel {
        guard root.name == "model" else {
            throw CoreDataModelError(
                file: file, line: root.line,
                message: "the root element is <\(root.name)>, not <model>; this is not a Core Data model")
        }
        var model = CoreDataModel(name: name)
        var rest = root.attributes
        if let type = rest["type"], type != "com.apple.IDECoreDataModeler.DataModel" {
            warn(root, "the document type '\(type)' is not that of Core Data models")
        }
        if let identifier = rest.removeValue(forKey: "userDefinedModelVersionIdentifier") {
            model.versionIdentifiers = [identifier]
        }
        model.documentAttributes = rest
        var seen: Set<String> = []
        for node in root.children {
            switch node.name {
            case "entity":
                let entity = try self.entity(node)
                guard seen.insert(entity.name).inserted else {
                    throw error(node, "the entity \(entity.name) is declared twice; rename one of them")
                }
                model.entities.append(entity)
            case "composite", "compositeAttribute":
                var composite = CoreDataCompositeType(name: try mandatory("name", node))
                composite.source = CoreDataSource(line: node.line)
                for child in node.children {
                    if child.name == "attribute" {
                        composite.attributes.append(try attribute(child, of: composite.name))
                    } else if child.name != "userInfo" {
                        warnUnknown(child)
                    }
                }
                model.compositeTypes.append(composite)
            case "fetchRequest": model.fetchRequests.append(try fetchRequest(node))
            case "configuration":
                let members = node.children(named: "memberEntity").compactMap { $0.attributes["name"] }
                var configuration = CoreDataConfiguration(name: try mandatory("name", node), entities: members)
                configuration.source = CoreDataSource(line: node.line)
                model.configurations.append(configuration)
            case "elements": break
            default: warnUnknown(node)
            }
        }
        return model
    }

    private mutating func entity(_ node: XMLNode) throws(CoreDataModelError) -> CoreDataEntity {
        var entity = CoreDataEntity(name: try mandatory("name", node))
        entity.source = CoreDataSource(line: node.line)
        var rest = node.attributes
        rest["name"] = nil
        let className = rest.removeValue(forKey: "representedClassName") ?? ""
        entity.className = className.isEmpty || className == "NSManagedObject" ? nil : className
        entity.parent = rest.removeValue(forKey: "parentEntity").flatMap { $0.isEmpty ? nil : $0 }
        entity.isAbstract = boolean(rest.removeValue(forKey: "isAbstract"), node)
        entity.elementID = rest.removeValue(forKey: "elementID")
        entity.versionHashModifier = rest.removeValue(forKey: "versionHashModifier")
        entity.other = rest
        for child in node.children {
            switch child.name {
            case "attribute": entity.attributes.append(try attribute(child, of: entity.name))
            case "relationship": entity.relationships.append(try relationship(child, of: entity.name))
            case "fetchedProperty": entity.fetchedProperties.append(try fetchedProperty(child))
            case "fetchIndex": entity.indexes.append(try fetchIndex(child))
            case "compoundIndexes":
                for index in child.children(named: "compoundIndex") {
                    let names = index.children(named: "index").compactMap { $0.attributes["value"] }
                    var found = CoreDataFetchIndex(name: nil, elements: names.map { .init(property: $0) })
                    found.source = CoreDataSource(line: index.line)
                    entity.indexes.append(found)
                }
            case "uniquenessConstraints":
                for constraint in child.children(named: "uniquenessConstraint") {
                    let names = constraint.children(named: "constraint").compactMap { $0.attributes["value"] }
                    if !names.isEmpty { entity.uniquenessConstraints.append(names) }
                }
            case "userInfo": entity.userInfo = userInfo(child)
            default: warnUnknown(child)
            }
        }
        return entity
    }

    private mutating func attribute(_ node: XMLNode, of owner: String) throws(CoreDataModelError) -> CoreDataAttribute {
        let name = try mandatory("name", node)
        var rest = node.attributes
        rest["name"] = nil
        let typeName = rest.removeValue(forKey: "attributeType") ?? "Undefined"
        let type = CoreDataAttributeType(name: typeName)
        if type == nil {
            warn(node, "\(owner).\(name): the attribute type '\(typeName)' is not known; it is read as Undefined")
        }
        var attribute = CoreDataAttribute(name: name, type: type ?? .undefined)
        attribute.source = CoreDataSource(line: node.line)
        attribute.options = options(&rest, node)
        let isDerived = boolean(rest.removeValue(forKey: "derived"), node)
        let expression = rest.removeValue(forKey: "derivationExpression")
        attribute.derivation = isDerived ? expression ?? "" : nil
        attribute.compositeName = rest.removeValue(forKey: "composite")
        if let scalar = rest.removeValue(forKey: "usesScalarValueType") { attribute.usesScalar = boolean(scalar, node) }
        if let text = rest.removeValue(forKey: "defaultValueString") { attribute.defaultValue = .text(text) }
        if let seconds = number(&rest, "defaultDateTimeInterval", node) { attribute.defaultValue = .date(seconds) }
        attribute.validation.minimum = rest.removeValue(forKey: "minValueString")
        attribute.validation.maximum = rest.removeValue(forKey: "maxValueString")
        attribute.validation.minimumDate = number(&rest, "minDateTimeInterval", node)
        attribute.validation.maximumDate = number(&rest, "maxDateTimeInterval", node)
        attribute.validation.pattern = rest.removeValue(forKey: "regularExpressionString")
        attribute.transformerName = rest.removeValue(forKey: "valueTransformerName")
        attribute.valueClassName = rest.removeValue(forKey: "customClassName")
        attribute.elementID = rest.removeValue(forKey: "elementID")
        attribute.versionHashModifier = rest.removeValue(forKey: "versionHashModifier")
        attribute.other = rest
        for child in node.children {
            if child.name == "userInfo" { attribute.userInfo = userInfo(child) } else { warnUnknown(child) }
        }
        return attribute
    }

    private mutating func relationship(
        _ node: XMLNode, of owner: String
    ) throws(CoreDataModelError) -> CoreDataRelationship {
        var rest = node.attributes
        let name = try mandatory("name", node)
        let destination = try mandatory("destinationEntity", node)
        rest["name"] = nil
        rest["destinationEntity"] = nil
        let maximum = integer(&rest, "maxCount", node)
        let isToMany = boolean(rest.removeValue(forKey: "toMany"), node) || (maximum.map { $0 != 1 } ?? false)
        var relationship = CoreDataRelationship(name: name, destination: destination, isToMany: isToMany)
        relationship.source = CoreDataSource(line: node.line)
        relationship.maximumCount = isToMany ? maximum ?? 0 : 1
        relationship.minimumCount = integer(&rest, "minCount", node) ?? 0
        relationship.inverse = rest.removeValue(forKey: "inverseName")
        relationship.inverseEntity = rest.removeValue(forKey: "inverseEntity")
        relationship.options = options(&rest, node)
        if let rule = rest.removeValue(forKey: "deletionRule") {
            if let known = CoreDataRelationship.DeleteRule.allCases.first(where: { $0.name == rule }) {
                relationship.deleteRule = known
            } else {
                warn(node, "\(owner).\(name): the deletion rule '\(rule)' is not known; it is read as Nullify")
            }
        }
        relationship.elementID = rest.removeValue(forKey: "elementID")
        relationship.versionHashModifier = rest.removeValue(forKey: "versionHashModifier")
        relationship.other = rest
        for child in node.children {
            if child.name == "userInfo" { relationship.userInfo = userInfo(child) } else { warnUnknown(child) }
        }
        return relationship
    }

    private mutating func fetchedProperty(_ node: XMLNode) throws(CoreDataModelError) -> CoreDataFetchedProperty {
        let name = try mandatory("name", node)
        guard let child = node.children(named: "fetchRequest").first else {
            throw error(node, "the fetched property \(name) has no fetch request")
        }
        var property = CoreDataFetchedProperty(name: name, request: try fetchRequest(child))
        property.source = CoreDataSource(line: node.line)
        property.other = node.attributes
        property.other["name"] = nil
        for child in node.children where child.name != "fetchRequest" {
            if child.name == "userInfo" { property.userInfo = userInfo(child) } else { warnUnknown(child) }
        }
        return property
    }

    private mutating func fetchRequest(_ node: XMLNode) throws(CoreDataModelError) -> CoreDataFetchRequest {
        var request = CoreDataFetchRequest(name: try mandatory("name", node), entity: try mandatory("entity", node))
        request.source = CoreDataSource(line: node.line)
        var rest = node.attributes
        rest["name"] = nil
        rest["entity"] = nil
        request.predicate = rest.removeValue(forKey: "predicateString")
        request.limit = integer(&rest, "fetchLimit", node)
        request.other = rest
        return request
    }

    private mutating func fetchIndex(_ node: XMLNode) throws(CoreDataModelError) -> CoreDataFetchIndex {
        let elements = node.children(named: "fetchIndexElement").map { child in
            var element = CoreDataFetchIndex.Element(property: child.attributes["property"])
            element.expression = child.attributes["expression"]
            element.expressionType = child.attributes["expressionType"]
            element.kind = child.attributes["type"] ?? "Binary"
            element.isDescending = child.attributes["order"] == "descending"
            return element
        }
        var index = CoreDataFetchIndex(name: try mandatory("name", node), elements: elements)
        index.predicate = node.attributes["partialIndexPredicate"]
        index.source = CoreDataSource(line: node.line)
        return index
    }
}

extension ModelDocumentReader {
    private func error(_ node: XMLNode, _ message: String) -> CoreDataModelError {
        CoreDataModelError(file: file, line: node.line, message: message)
    }

    private func mandatory(_ key: String, _ node: XMLNode) throws(CoreDataModelError) -> String {
        guard let value = node.attributes[key], !value.isEmpty else {
            throw error(node, "the element <\(node.name)> has no \(key)")
        }
        return value
    }

    private mutating func warnUnknown(_ node: XMLNode) {
        warn(node, "the element <\(node.name)> is not known and is left out")
    }

    private mutating func boolean(_ text: String?, _ node: XMLNode) -> Bool {
        switch text?.lowercased() {
        case nil, "no", "false", "0", "": return false
        case "yes", "true", "1": return true
        default:
            warn(node, "'\(text ?? "")' is neither YES nor NO; it is read as NO")
            return false
        }
    }

    private mutating func integer(_ rest: inout [String: String], _ key: String, _ node: XMLNode) -> Int? {
        guard let text = rest.removeValue(forKey: key), !text.isEmpty else { return nil }
        guard let number = Int32(text) else {
            warn(node, "\(key) is '\(text)', which is not a whole number; it is left out")
            return nil
        }
        return Int(number)
    }

    private mutating func number(_ rest: inout [String: String], _ key: String, _ node: XMLNode) -> Double? {
        guard let text = rest.removeValue(forKey: key), !text.isEmpty else { return nil }
        guard let number = Double(text), number.isFinite else {
            warn(node, "\(key) is '\(text)', which is not a number; it is left out")
            return nil
        }
        return number
    }

    private mutating func options(_ rest: inout [String: String], _ node: XMLNode) -> CoreDataPropertyOptions {
        var options: CoreDataPropertyOptions = []
        for (name, option) in CoreDataPropertyOptions.names where boolean(rest.removeValue(forKey: name), node) {
            options.insert(option)
        }
        return options
    }

    private func userInfo(_ node: XMLNode) -> [String: String] {
        Dictionary(
            node.children(named: "entry").compactMap { entry in
                entry.attributes["key"].map { ($0, entry.attributes["value"] ?? "") }
            }, uniquingKeysWith: { _, last in last })
    }
}
