import StrataModel
import StrataModelExport
import StrataModelFiles
import Testing

/// Array attributes in model files.
@Suite struct ArrayTypeTests {
    @Test("A model declares arrays in YAML as in Swift, and writes them back as they were")
    func declarations() throws {
        let text = """
            model: Albums
            entities:
              Photo:
                attributes:
                  tags: [string]
                  sizes: {type: [integer], default: [640, 1280], maxLength: 4}
                  names: {type: [string], optional: true, default: [a, "b, c", "now()"]}
            """
        let read = try ModelFile.read(yaml: text, path: "Albums.strata.yaml")
        let built = try ManagedObjectModel(name: "Albums") {
            Entity("Photo") {
                Attribute("tags", .array(.string))
                Attribute("sizes", .array(.integer), default: .value([640, 1280])).length(...4)
                Attribute("names", .array(.string), optional: true, default: .value(["a", "b, c", "now()"]))
            }
        }
        func defaults(_ model: ManagedObjectModel) -> [AttributeDefault?] {
            model.entities[0].attributes.map(\.declaration.defaultValue)
        }
        #expect(try read.model().versionHash == built.versionHash)
        #expect(try defaults(read.model()) == defaults(built))
        let written = read.yaml()
        #expect(written.contains("tags: [string]"))
        let again = try ModelFile.read(yaml: written, path: "Albums.strata.yaml")
        #expect(try again.model().versionHash == built.versionHash)
        #expect(try defaults(again.model()) == defaults(built))
        #expect(again.yaml() == written)
    }

    @Test("A type of elements is part of the version hash, a default is not")
    func versionHash() throws {
        func hash(_ attribute: String) throws -> String {
            try ModelFile.read(yaml: "entities: {A: {attributes: {a: \(attribute)}}}", path: "A.strata.yaml").model()
                .versionHash
        }
        #expect(try hash("[string]") != hash("[integer]"))
        #expect(try hash("[string]") == hash("{type: [string], default: [a]}"))
    }

    @Test(
        "What is no array type is a fault that says what to write",
        arguments: [
            ("[string?]", "optional: true"), ("[string, integer]", "tags: [string]"), ("[]", "tags: [string]"),
            ("[[string]]", "tags: [string]"), ("[date]", "elements of type date"), ("[strin]", "string"),
            ("{type: [string], indexed: true}", "array"), ("{type: [string], unique: true}", "array"),
            ("{type: [string], default: a}", "list"), ("{type: [integer], default: [x]}", "integer"),
            ("{type: [integer], default: [1, [2]]}", "single word"), ("{type: [string], pattern: a}", "array"),
            ("{type: [string], codable: Tags}", "json"), ("{elements: {a: [string]}}", "array"),
        ])
    func mistakes(_ attribute: String, _ advice: String) {
        let found = faults(in: "entities:\n  A:\n    attributes:\n      a: \(attribute)\n")
        #expect(found.contains { $0.contains(advice) }, "\(found)")
    }
}
