import Foundation
import StrataModel
import Testing

@testable import StrataCoreDataModel

struct ModelFileTests {
    @Test func everySampleIsReadAndReadsBackIdentically() throws {
        #expect(Samples.models.count >= 9)
        for path in Samples.models {
            let file = try CoreDataModelFile.read(path: path)
            let target = Samples.temporary(".xcdatamodeld")
            defer { try? FileManager.default.removeItem(atPath: target) }
            try file.model.write(toBundle: target)
            #expect(try CoreDataModelFile.read(path: target).model == file.model, "\(path)")
        }
    }

    @Test func everySampleBecomesAModelOfStrata() throws {
        for path in Samples.models {
            let conversion = try CoreDataModelFile.read(path: path).converted()
            #expect(throws: Never.self, "\(path)") { _ = try conversion.model() }
        }
    }

    @Test func theSharedCollectionIsWhole() {
        #expect([0, 171].contains(Samples.shared.count))
    }

    @Test func theCurrentVersionIsTheOneThatTheBundleNames() throws {
        let bundle = try CoreDataModelBundle(path: Samples.path("SampleModel.xcdatamodeld"))
        #expect(bundle.versions.map(\.name) == ["SampleModel", "SampleModel2", "SampleModel3"])
        #expect(bundle.warnings.isEmpty)
        #expect(try bundle.read(version: "SampleModel2.xcdatamodel").model.entity(named: "LuxuryCar") != nil)
        #expect(throws: CoreDataModelError.self) { _ = try bundle.read(version: "Other") }
    }

    @Test func xcode3sFormatIsRejectedByName() throws {
        let path = Samples.temporary(".xcdatamodel")
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data("bplist00".utf8).write(to: URL(fileURLWithPath: path + "/elements"))
        let error = #expect(throws: CoreDataModelError.self) { _ = try CoreDataModelFile.read(path: path) }
        #expect(error?.message.contains("Xcode 3's binary format") == true)
    }

    @Test func oddModelsWarnWithTheLineAndKeepTheRest() throws {
        let xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Note" representedClassName=".Note" elementID="Memo">
                    <attribute name="rank" attributeType="Integer 16" defaultValueString="NO" minValueString="-1"/>
                    <attribute name="owner" optional="YES" attributeType="ObjectID"/>
                    <attribute name="made" attributeType="Date" defaultDateTimeInterval="-3.5"/>
                    <relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Note"/>
                </entity>
            </model>
            """
        let conversion = try CoreDataModelFile.read(contents: Data(xml.utf8), name: "Notes", file: "contents")
            .converted()
        let note = try #require(try conversion.model().entity(named: "Note")).declaration
        #expect(note.formerNames == ["Memo"] && note.className == nil)
        #expect(note.attributes.map(\.name) == ["rank", "made"])
        #expect(
            note.attributes[0].defaultValue == .value(.integer(0)) && note.attributes[0].rules.minimum == .integer(-1))
        #expect(note.attributes[1].defaultValue == .value(.date(Date(timeIntervalSinceReferenceDate: -3.5))))
        #expect(conversion.mapping.property("owner", of: "Note") == nil)
        let warning = try #require(conversion.warnings.first { $0.message.contains("ObjectID") })
        #expect(warning.line == 5 && warning.description.hasPrefix("contents:5:1: warning: Note.owner"))
    }

    @Test func documentsWithEntitiesOfTheirOwnAreRefused() {
        let xml = "<?xml version=\"1.0\"?><!DOCTYPE model [<!ENTITY a \"b\">]><model/>"
        #expect(throws: CoreDataModelError.self) {
            _ = try CoreDataModelFile.read(contents: Data(xml.utf8), name: "x", file: "contents")
        }
    }

    @Test("Damaged and hostile documents give errors with the file, and with the line where there is one")
    func hostileDocuments() throws {
        func error(_ data: Data) -> CoreDataModelError? {
            #expect(throws: CoreDataModelError.self) {
                _ = try CoreDataModelFile.read(contents: data, name: "x", file: "contents")
            }
        }
        let whole = try Data(contentsOf: URL(fileURLWithPath: Samples.models[0] + "/contents"))
        for length in stride(from: 0, to: whole.count - 20, by: 211) {
            let error = error(whole.prefix(length))
            #expect(error?.file == "contents" && (error?.line ?? 0) > 0, "\(length)")
        }
        let deep = String(repeating: "<model>", count: 100_000)
        #expect(error(Data(deep.utf8))?.message == "the elements are nested too deeply")
        let laughs = (1...9).map { "<!ENTITY l\($0) \"\(String(repeating: "&l\($0 - 1);", count: 10))\">" }.joined()
        for encoding in [String.Encoding.utf8, .utf16] {
            let bomb = "<!DOCTYPE model [<!ENTITY l0 \"lol\">\(laughs)]><model name=\"&l9;\"/>"
            let data = try #require(bomb.data(using: encoding))
            #expect(error(data)?.message.contains("declares entities") == true)
        }
        let outside = "<!DOCTYPE model SYSTEM \"file:///etc/passwd\"><model type=\"x\">&passwd;</model>"
        _ = try? CoreDataModelFile.read(contents: Data(outside.utf8), name: "x", file: "contents")
        #expect(
            error(Data("<plist/>".utf8))?.description.hasPrefix("contents:1:1: error: the root element is <plist>")
                == true)
        let twice = "<model><entity name=\"A\"/>\n<entity name=\"A\"/></model>"
        #expect(error(Data(twice.utf8))?.line == 2)
    }

    @Test func aModelOfStrataSurvivesTheWayToCoreDataAndBack() throws {
        var note = Entity(name: "Note", location: nil)
        note.attributes = [
            Attribute("title", .string, default: .value(.string("new"))), Attribute("rank", .integer32, optional: true),
        ]
        note.relationships = [Relationship("parts", to: "Part", .orderedToMany, inverse: "note", deleteRule: .cascade)]
        var part = Entity(name: "Part", location: nil)
        part.relationships = [Relationship("note", to: "Note", inverse: "parts")]
        let model = try ManagedObjectModel(name: "Notes", entities: [note, part])
        let back = CoreDataModelFile(describing: model).converted()
        #expect(back.warnings.isEmpty)
        #expect(try back.model().versionHash == model.versionHash)
    }
}
