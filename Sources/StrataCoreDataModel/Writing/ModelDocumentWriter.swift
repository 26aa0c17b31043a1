import Foundation

extension CoreDataModel {
    /// The model as the XML of a `contents` file, in the order that Xcode writes.
    public func contents() -> String { ModelDocumentWriter(model: self).text() }

    /// Writes the model as a versioned bundle with one version, and the file that names it.
    ///
    ///     let file = CoreDataModelFile(describing: GazetteerModel.model)
    ///     try file.model.write(toBundle: "Gazetteer.xcdatamodeld")
    ///
    /// - Throws: ``CoreDataModelError`` if there is something at the path already, or the folder cannot be written.
    public func write(toBundle path: String) throws(CoreDataModelError) {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw CoreDataModelError(
                file: path, message: "there is something already; remove it, or choose another name")
        }
        let version = "\(name.replacingOccurrences(of: "/", with: "_")).xcdatamodel"
        do {
            let folder = URL(fileURLWithPath: path).appendingPathComponent(version)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(contents().utf8).write(to: folder.appendingPathComponent("contents"))
            let current = PropertyList.dictionary(["_XCCurrentVersionName": .string(version)])
            try Data(current.xml().utf8).write(
                to: URL(fileURLWithPath: path).appendingPathComponent(".xccurrentversion"))
        } catch {
            throw CoreDataModelError(
                file: path, message: "cannot be written; check that its folder exists and may be written")
        }
    }
}

/// Writes the XML of a `contents` file.
struct ModelDocumentWriter {
    let model: CoreDataModel

    func text() -> String {
        var attributes = model.documentAttributes
        attributes["type"] = attributes["type"] ?? "com.apple.IDECoreDataModeler.DataModel"
        attributes["documentVersion"] = attributes["documentVersion"] ?? "1.0"
        attributes["userDefinedModelVersionIdentifier"] = model.versionIdentifiers.first
        var root = XMLNode(name: "model", attributes: attributes)
        root.children += model.entities.map { entityNode($0) }
        root.children += model.compositeTypes.map { compositeNode($0) }
        root.children += model.fetchRequests.map { requestNode($0) }
        root.children += model.configurations.map { configurationNode($0) }
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
        Self.append(root, to: &text, indent: "")
        return text
    }

    /// Appends an element; `name` comes first, then the other attributes in alphabetical order.
    private static func append(_ node: XMLNode, to text: inout String, indent: String) {
        text += "\(indent)<\(node.name)"
        let sorted = node.attributes.sorted { ($0.key == "name" ? "" : $0.key) < ($1.key == "name" ? "" : $1.key) }
        for (key, value) in sorted { text += " \(key)=\"\(XMLText.escaped(value))\"" }
        guard !node.children.isEmpty else {
            text += "/>\n"
            return
        }
        text += ">\n"
        for child in node.children { append(child, to: &text, indent: indent + "    ") }
        text += "\(indent)</\(node.name)>\n"
    }

    private func entityNode(_ entity: CoreDataEntity) -> XMLNode {
        var attributes = entity.other
        attributes["name"] = entity.name
        attributes["representedClassName"] = entity.className
        attributes["parentEntity"] = entity.parent
        if entity.isAbstract { attributes["isAbstract"] = "YES" }
        attributes["elementID"] = entity.elementID
        attributes["versionHashModifier"] = entity.versionHashModifier
        var node = XMLNode(name: "entity", attributes: attributes)
        node.children += entity.attributes.map { attributeNode($0) }
        node.children += entity.relationships.map { relationshipNode($0) }
        node.children += entity.fetchedProperties.map { fetchedNode($0) }
        node.children += entity.indexes.filter { $0.name != nil }.map { indexNode($0) }
        let compound = entity.indexes.filter { $0.name == nil }.map { index in
            XMLNode(
                name: "compoundIndex",
                children: index.elements.map { XMLNode(name: "index", attributes: ["value": $0.property ?? ""]) })
        }
        if !compound.isEmpty { node.children.append(XMLNode(name: "compoundIndexes", children: compound)) }
        let constraints = entity.uniquenessConstraints.map { constraint in
            XMLNode(
                name: "uniquenessConstraint",
                children: constraint.map { XMLNode(name: "constraint", attributes: ["value": $0]) })
        }
        if !constraints.isEmpty { node.children.append(XMLNode(name: "uniquenessConstraints", children: constraints)) }
        node.children += userInfo(entity.userInfo)
        return node
    }

    private func attributeNode(_ attribute: CoreDataAttribute) -> XMLNode {
        var attributes = attribute.other
        attributes["name"] = attribute.name
        if attribute.type != .undefined { attributes["attributeType"] = attribute.type.name }
        Self.add(attribute.options, to: &attributes)
        if let derivation = attribute.derivation {
            attributes["derived"] = "YES"
            attributes["derivationExpression"] = derivation
        }
        attributes["composite"] = attribute.compositeName
        attributes["usesScalarValueType"] = attribute.usesScalar.map { $0 ? "YES" : "NO" }
        switch attribute.defaultValue {
        case .text(let text)?: attributes["defaultValueString"] = text
        case .date(let seconds)?: attributes["defaultDateTimeInterval"] = Self.number(seconds)
        case .binary?, nil: break
        }
        attributes["minValueString"] = attribute.validation.minimum
        attributes["maxValueString"] = attribute.validation.maximum
        attributes["minDateTimeInterval"] = attribute.validation.minimumDate.map(Self.number)
        attributes["maxDateTimeInterval"] = attribute.validation.maximumDate.map(Self.number)
        attributes["regularExpressionString"] = attribute.validation.pattern
        attributes["valueTransformerName"] = attribute.transformerName
        attributes["customClassName"] = attribute.valueClassName
        attributes["elementID"] = attribute.elementID
        attributes["versionHashModifier"] = attribute.versionHashModifier
        return XMLNode(name: "attribute", attributes: attributes, children: userInfo(attribute.userInfo))
    }

    private func relationshipNode(_ relationship: CoreDataRelationship) -> XMLNode {
        var attributes = relationship.other
        attributes["name"] = relationship.name
        attributes["destinationEntity"] = relationship.destination
        attributes["inverseName"] = relationship.inverse
        attributes["inverseEntity"] = relationship.inverseEntity
        attributes["deletionRule"] = relationship.deleteRule.name
        Self.add(relationship.options, to: &attributes)
        if relationship.isToMany { attributes["toMany"] = "YES" }
        if relationship.maximumCount != 0 { attributes["maxCount"] = String(relationship.maximumCount) }
        if relationship.minimumCount != 0 { attributes["minCount"] = String(relationship.minimumCount) }
        attributes["elementID"] = relationship.elementID
        attributes["versionHashModifier"] = relationship.versionHashModifier
        return XMLNode(name: "relationship", attributes: attributes, children: userInfo(relationship.userInfo))
    }

    private func fetchedNode(_ property: CoreDataFetchedProperty) -> XMLNode {
        var attributes = property.other
        attributes["name"] = property.name
        return XMLNode(
            name: "fetchedProperty", attributes: attributes,
            children: [requestNode(property.request)] + userInfo(property.userInfo))
    }

    private func requestNode(_ request: CoreDataFetchRequest) -> XMLNode {
        var attributes = request.other
        attributes["name"] = request.name
        attributes["entity"] = request.entity
        attributes["predicateString"] = request.predicate
        attributes["fetchLimit"] = request.limit.map(String.init)
        return XMLNode(name: "fetchRequest", attributes: attributes)
    }

    private func indexNode(_ index: CoreDataFetchIndex) -> XMLNode {
        var attributes = ["name": index.name ?? ""]
        attributes["partialIndexPredicate"] = index.predicate
        let elements = index.elements.map { element in
            var attributes = ["type": element.kind, "order": element.isDescending ? "descending" : "ascending"]
            attributes["property"] = element.property
            attributes["expression"] = element.expression
            attributes["expressionType"] = element.expressionType
            return XMLNode(name: "fetchIndexElement", attributes: attributes)
        }
        return XMLNode(name: "fetchIndex", attributes: attributes, children: elements)
    }

    private func compositeNode(_ composite: CoreDataCompositeType) -> XMLNode {
        XMLNode(
            name: "composite", attributes: ["name": composite.name],
            children: composite.attributes.map { attributeNode($0) })
    }

    private func configurationNode(_ configuration: CoreDataConfiguration) -> XMLNode {
        XMLNode(
            name: "configuration", attributes: ["name": configuration.name],
            children: configuration.entities.map { XMLNode(name: "memberEntity", attributes: ["name": $0]) })
    }

    private func userInfo(_ entries: [String: String]) -> [XMLNode] {
        guard !entries.isEmpty else { return [] }
        return [
            XMLNode(
                name: "userInfo",
                children: entries.sorted { $0.key < $1.key }.map {
                    XMLNode(name: "entry", attributes: ["key": $0.key, "value": $0.value])
                })
        ]
    }

    private static func add(_ options: CoreDataPropertyOptions, to attributes: inout [String: String]) {
        for (name, option) in CoreDataPropertyOptions.names where options.contains(option) { attributes[name] = "YES" }
    }

    private static func number(_ seconds: Double) -> String {
        Int64(exactly: seconds).map(String.init) ?? String(seconds)
    }
}
