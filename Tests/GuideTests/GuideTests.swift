import Foundation
import GuidePages
import Strata
import StrataModelFiles
import Testing

/// The code of the guides is in files of this target, or of RemoteGuideTests, so the compiler reads it.
@Suite struct GuideTests {
    /// The first lines of blocks that are parts of a manifest.
    private static let fragments = [
        "Models": ".executableTarget("
    ]

    @Test(
        "Every example of a guide is in a file that is compiled",
        arguments: [
            "BulkOperations", "ComingFromCoreData", "ComingFromGRDB", "ComingFromSwiftData", "Concurrency", "Conflicts",
            "Contexts", "Cookbook",
            "Fetching",
            "History", "LiveResults", "Migration", "Models", "Performance", "Predicates", "SeveralStores",
            "Troubleshooting", "Undo", "WebServers",
        ])
    func compiled(name: String) throws {
        let page = try GuidePage(name)
        let fragment = Self.fragments[name]
        let missing = try page.uncompiledBlocks(except: fragment.map { [$0] } ?? [])
        #expect(missing.isEmpty, "\(name) has examples that no \(name)Guide.swift has")
        #expect(page.blocks.contains { $0.language == "swift" && $0.firstLine != fragment })
        #expect(try page.unreadModels().isEmpty, "\(name) has models that no model file of the tests has")
    }

    @Test("What the guide shows of a manifest names products and traits of this package")
    func manifests() throws {
        let page = try GuidePage("Models")
        let blocks = page.blocks.filter { $0.firstLine == Self.fragments["Models"] }
        #expect(blocks.count == 2)
        for block in blocks {
            #expect(block.text.contains(#".product(name: "Strata", package: "strata")"#))
            #expect(try PackageManifest().unknownNames(in: block.text) == [])
        }
    }

    @Test("The traits that the tutorial lists are those of the package")
    func traits() throws {
        let manifest = try PackageManifest()
        let table = try GuidePage("GettingStarted").text.components(separatedBy: "| trait |")[1].components(
            separatedBy: "\n\n")[0]
        let rows = table.matches(of: /\n\| `(\w+)`/).map { String($0.1) }
        #expect(Set(rows) == manifest.traits)
        #expect(
            manifest.unknownNames(in: #".product(name: "Nothing", package: "strata"), traits: ["None"]"#).count == 2)
    }

    @Test("The targets of make that the pages name exist")
    func makeTargets() throws {
        let makefile = try String(contentsOf: GuidePage.root.appending(path: "Makefile"), encoding: .utf8)
        let text = try GuidePage.allNames().map { try GuidePage($0).text }.joined(separator: "\n")
        let named = Set(text.matches(of: /(?:`|\n)make ([a-z-]+)/).map { String($0.1) })
        #expect(named.count > 10)
        for target in named { #expect(makefile.contains("\n\(target):"), "make \(target)") }
    }

    @Test("The table of typed keys has only what compiles")
    func typedKeys() throws {
        let page = try GuidePage("Predicates")
        #expect(page.spans(beginning: "$0").count > 30)
        #expect(try page.uncompiledSpans(beginning: "$0") == [])
        #expect(try page.uncompiledSpans(beginning: "FetchRequest<") == [])
    }

    @Test("The grammar's table has only what can be parsed")
    func grammar() throws {
        let page = try GuidePage("Predicates")
        let conditions =
            ["ANY cities", "SUBQUERY(", "near(", "withinKilometers(", "name != nil", "NOT (", "text MATCHESTEXT"]
            .flatMap(page.spans)
        #expect(conditions.count >= 7)
        for text in conditions { #expect(throws: Never.self, "\(text)") { try FetchPredicate(format: text) } }
        let expressions = ["distance(", "TERNARY(", "CAST(", "FUNCTION(name"].flatMap(page.spans)
        #expect(expressions.count >= 4)
        for text in expressions { #expect(throws: Never.self, "\(text)") { try FetchExpression(format: text) } }
    }

    @Test("A mistake in the model of the guide is reported as the guide says")
    func mistake() throws {
        let page = try GuidePage("Models")
        let yaml = try #require(page.blocks.first { $0.language == "yaml" }).text
            .replacing("country: {to: Country,", with: "country: {to: Contry,")
        let error = #expect(throws: ModelError.self) {
            try ModelFile.read(yaml: yaml, path: "Models/atlas.strata.yaml")
        }
        let lines = try #require(error).faults.map { "\($0)" }
        #expect(
            lines.contains { page.text.contains("\n    \($0)\n") || page.text.contains("error: \($0)") }, "\(lines)")
    }

    @Test("The table of types has all types of attributes")
    func types() throws {
        let text = try GuidePage("Models").text
        let all: [AttributeType] = [
            .integer, .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binary,
            .uuid,
            .uri, .geoPoint, .json(JSONType("A")), .transformable("A"), .composite([]),
        ]
        let row = try #require(text.split(separator: "\n").first { $0.hasPrefix("| `type` |") })
        for type in all { #expect(row.contains("`\(type.name)`"), "\(type)") }
        #expect(row.contains("`[string]`"))
        #expect(row.matches(of: /`/).count == 2 * (all.count + 3))
    }
}
