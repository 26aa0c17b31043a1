import Foundation
import StrataModel
import StrataModelFiles
import Testing

@testable import StrataCoreDataModel

/// Core Data models as sources of generated classes.
struct GeneratedClassTests {
    private static func conversion(_ body: String) throws -> CoreDataConversion {
        let xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            \(body)
            </model>
            """
        return try CoreDataModelFile.read(contents: Data(xml.utf8), name: "Notes", file: "contents").converted()
    }

    private static func source(_ conversion: CoreDataConversion) throws -> String {
        let file = ModelFile(
            name: conversion.name, naming: conversion.naming, entities: conversion.entities,
            fetches: conversion.fetches, path: "Notes.xcdatamodeld")
        return try CodeGenerator(file: file).files().map(\.text).joined()
    }

    @Test("Every sample model has generated classes")
    func samples() throws {
        for path in Samples.models {
            let conversion = try CoreDataModelFile.read(path: path).converted()
            #expect(throws: Never.self, "\(path)") { _ = try Self.source(conversion) }
        }
    }

    @Test("Names that generated code cannot have get others, everywhere in the model, with a warning and the line")
    func reservedNames() throws {
        let conversion = try Self.conversion(
            """
            <entity name="Entity" representedClassName="Entity">
                <attribute name="path" optional="YES" attributeType="String"/>
                <attribute name="title" optional="YES" attributeType="String" elementID="keys"/>
                <attribute name="search" optional="YES" attributeType="String" derived="YES" derivationExpression="canonical:(path)"/>
                <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>
                <relationship name="object" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Entity" inverseName="container" inverseEntity="Entity"/>
                <relationship name="container" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Entity" inverseName="object" inverseEntity="Entity"/>
                <fetchIndex name="byPath"><fetchIndexElement property="path" type="Binary" order="ascending"/></fetchIndex>
            </entity>
            <composite name="Place"><attribute name="hash" optional="YES" attributeType="String"/></composite>
            """)
        let entity = try #require(try conversion.model().entity(named: "Entity")).declaration
        #expect(entity.className == "EntityObject")
        #expect(entity.attributes.map(\.name) == ["entityPath", "title", "search", "place"])
        #expect(entity.attributes[1].formerNames == ["entityKeys"])
        #expect(entity.attributes[2].derivation == .canonical("entityPath"))
        #expect(entity.relationships.map(\.name) == ["entityObject", "entityContainer"])
        #expect(entity.relationships.map(\.inverse) == ["entityContainer", "entityObject"])
        #expect(entity.indexes.map(\.properties) == [["entityPath"]])
        #expect(conversion.mapping.property("path", of: "Entity") == "entityPath")
        let messages = conversion.warnings.map(\.description)
        #expect(messages.contains("contents:4:1: warning: Entity.path: Strata's name is entityPath"), "\(messages)")
        #expect(
            messages.contains {
                $0.hasPrefix("contents:3:1: warning: Entity: the class is named EntityObject, because Entity is a type")
            }, "\(messages)")
        #expect(entity.attributes[3].type.elementNames == ["hashElement"])
        let source = try Self.source(conversion)
        #expect(source.contains("class EntityObject: ManagedObject") && source.contains("var entityPath: String?"))
    }

    @Test("Class names keep their last part; Category/Extension leaves the class to the application")
    func classNames() throws {
        let conversion = try Self.conversion(
            """
            <entity name="Note" representedClassName="Notebook.CDNote" codeGenerationType="class"/>
            <entity name="Part" representedClassName=".Part" codeGenerationType="category"/>
            <entity name="Plain" representedClassName="NSManagedObject"/>
            <entity name="Twin" representedClassName="CDNote"/>
            <entity name="Small" representedClassName="small_object"/>
            """)
        #expect(conversion.entities.map(\.className) == ["CDNote", nil, nil, nil, nil])
        #expect(conversion.entities.map(\.generatesBaseClass) == [false, true, false, false, false])
        #expect(
            conversion.warnings.map(\.line) == [7, 6]
                && conversion.warnings[1].message.contains("CDNote is that of another"),
            "\(conversion.warnings)")
        let source = try Self.source(conversion)
        for line in ["class CDNote: ManagedObject", "class PartBase: ManagedObject", "class Plain: ManagedObject"] {
            #expect(source.contains(line))
        }
    }
}
