import Foundation
import StrataModel
import StrataQuery
import Testing

@testable import StrataCoreDataModel

/// What compiled models archive as objects of Foundation: predicates, composites and configurations. No sample has them, so
/// that the archives are built here.
struct CompiledModelTests {
    /// Reads a model with the entities `Note` (title, rank, done, tags) and `Tag` (name), whose only fetch request has the
    /// condition.
    private static func request(_ condition: (inout ArchiveBuilder) -> PropertyList) throws -> CoreDataModelFile {
        var builder = ArchiveBuilder()
        let predicate = condition(&builder)
        let entityName = builder.text("Note")
        let request = builder.object(
            "NSFetchRequest", ["NSEntityName": entityName, "NSPredicate": predicate, "NSFetchLimit": .integer(5)])
        let templates = builder.dictionary([("found", request)])
        return try CoreDataModelFile(
            compiled: builder.model(Self.entities(&builder), ["NSFetchRequestTemplates": templates]), name: "Notes")
    }

    private static func entities(_ builder: inout ArchiveBuilder) -> [(String, PropertyList)] {
        let destination = builder.text("Tag")
        let tags = builder.object(
            "NSRelationshipDescription",
            [
                "NSPropertyName": builder.text("tags"), "_NSDestinationEntityName": destination,
                "NSIsOptional": .boolean(true),
            ])
        let note = builder.entity(
            "Note",
            [
                ("title", builder.attribute("title", 700)), ("rank", builder.attribute("rank", 200)),
                ("done", builder.attribute("done", 800)), ("made", builder.attribute("made", 900)), ("tags", tags),
            ])
        return [("Note", note), ("Tag", builder.entity("Tag", [("name", builder.attribute("name", 700))]))]
    }

    @Test("Conditions of fetch requests are read into the format language, and the converted model has the request")
    func predicates() throws {
        let cases: [(String, (inout ArchiveBuilder) -> PropertyList)] = [
            ("rank >= $minimum", { $0.comparison($0.keyPath("rank"), 3, $0.variable("minimum")) }),
            ("title != nil", { $0.comparison($0.keyPath("title"), 5, $0.constant(.uid(0))) }),
            (
                "title BEGINSWITH[cd] 'it\\'s'",
                { $0.comparison($0.keyPath("title"), 8, $0.constant($0.text("it's")), options: 3) }
            ),
            (
                "NOT (done == TRUE) AND (rank < 3 OR rank > 1.5)",
                { b in
                    let done = b.comparison(b.keyPath("done"), 4, b.constant(b.value(.boolean(true))))
                    let low = b.comparison(b.keyPath("rank"), 0, b.constant(b.value(.integer(3))))
                    let high = b.comparison(b.keyPath("rank"), 2, b.constant(b.value(.real(1.5))))
                    return b.compound(1, [b.compound(0, [done]), b.compound(2, [low, high])])
                }
            ),
            (
                "ANY tags.name IN {'x', 'y'}",
                { b in
                    let list = b.object(
                        "NSAggregateExpression",
                        ["NSCollection": b.array([b.constant(b.text("x")), b.constant(b.text("y"))])])
                    return b.comparison(b.keyPath("tags.name"), 10, list, modifier: 2)
                }
            ),
            (
                "made > CAST(1000, 'NSDate') AND tags.@count == $x.rank + 1",
                { b in
                    let date = b.object("NSDate", ["NS.time": .real(1000)])
                    let made = b.comparison(b.keyPath("made"), 2, b.constant(date))
                    let sum = b.object(
                        "NSFunctionExpression",
                        [
                            "NSSelectorName": b.text("add:to:"),
                            "NSArguments": b.array([
                                b.keyPath("rank", of: b.variable("x")), b.constant(b.value(.integer(1))),
                            ]),
                        ])
                    return b.compound(1, [made, b.comparison(b.keyPath("tags.@count"), 4, sum)])
                }
            ),
            ("TRUEPREDICATE", { $0.object("NSTruePredicate") }),
        ]
        for (format, build) in cases {
            let file = try Self.request(build)
            #expect(file.warnings.isEmpty, "\(format): \(file.warnings)")
            let request = try #require(file.model.fetchRequests.first)
            #expect(request.predicate == (try FetchPredicate(format: format).description), "\(format)")
            #expect(request.limit == 5 && request.entity == "Note")
            let conversion = file.converted()
            #expect(try conversion.model().fetchTemplates.map(\.name) == ["found"], "\(conversion.warnings)")
        }
    }

    @Test("A condition that cannot be read is a warning that names the request and the reason")
    func unknownPredicates() throws {
        let cases: [(String, (inout ArchiveBuilder) -> PropertyList)] = [
            (
                "an expression of the class NSSubqueryExpression is not known",
                { $0.comparison($0.object("NSSubqueryExpression"), 4, $0.constant($0.value(.integer(1)))) }
            ),
            ("a predicate of the class NSBlockPredicate is not known", { $0.object("NSBlockPredicate") }),
            ("the operator 11 is not known", { $0.comparison($0.keyPath("title"), 11, $0.constant($0.text("a"))) }),
            (
                "a constant of the class UIColor is not known",
                { $0.comparison($0.keyPath("title"), 4, $0.constant($0.object("UIColor"))) }
            ),
        ]
        for (reason, build) in cases {
            let file = try Self.request(build)
            #expect(
                file.warnings.map(\.message) == ["the fetch request found: its condition is not read: \(reason)"],
                "\(file.warnings)")
            #expect(file.model.fetchRequests.first?.predicate == nil)
        }
    }

    @Test("A condition that contains itself, and one that doubles with each level, are warnings")
    func hostilePredicates() throws {
        let cycle = try Self.request { builder in
            let place = builder.reserve()
            let parts = builder.array([place])
            return builder.object(
                "NSCompoundPredicate", ["NSCompoundPredicateType": .integer(0), "NSSubpredicates": parts], at: place)
        }
        #expect(cycle.warnings.count == 1 && cycle.warnings[0].message.hasSuffix("it is nested too deeply"))
        let bomb = try Self.request { builder in
            var part = builder.object("NSTruePredicate")
            for _ in 0..<60 { part = builder.compound(1, [part, part]) }
            return part
        }
        #expect(bomb.warnings.count == 1 && bomb.warnings[0].message.hasSuffix("it has too many parts"))
    }

    @Test("Composites become types of their elements, also nested ones; one that contains itself is a warning")
    func composites() throws {
        var builder = ArchiveBuilder()
        func composite(_ name: String, _ elements: [PropertyList], at place: PropertyList? = nil) -> PropertyList {
            builder.object(
                "NSCompositeAttributeDescription",
                [
                    "NSPropertyName": builder.text(name), "NSAttributeType": .integer(2100),
                    "NSIsOptional": .boolean(true), "NSElements": builder.array(elements),
                ], at: place)
        }
        let inner = composite("position", [builder.attribute("latitude", 500), builder.attribute("longitude", 500)])
        let home = composite("home", [builder.attribute("street", 700), inner])
        let place = builder.reserve()
        let loop = composite("loop", [place], at: place)
        let person = builder.entity("Person", [("home", home), ("loop", loop)])
        let file = try CoreDataModelFile(compiled: builder.model([("Person", person)]), name: "People")
        #expect(file.model.compositeType(named: "Home")?.attributes.map(\.name) == ["street", "position"])
        #expect(file.model.compositeType(named: "Position")?.attributes.map(\.type) == [.double, .double])
        #expect(file.warnings.contains { $0.message.contains("loop: the composite is nested too deeply") })
        let conversion = file.converted()
        let entity = try #require(try conversion.model().entity(named: "Person"))
        #expect(
            entity.attributes.first { $0.name == "home" }?.type.elementNames
                == ["street", "positionLatitude", "positionLongitude"])
        #expect(!entity.attributes.contains { $0.name == "loop" })
    }

    @Test("Configurations list entities or their names; the conversion names each")
    func configurations() throws {
        var builder = ArchiveBuilder()
        let entities = Self.entities(&builder)
        let local = builder.array([entities[0].1], "NSSet")
        let cloud = builder.array([builder.text("Tag"), builder.text("Note")])
        let all = builder.dictionary([("Local", local), ("Cloud", cloud)])
        let file = try CoreDataModelFile(compiled: builder.model(entities, ["NSConfigurations": all]), name: "Notes")
        #expect(file.warnings.isEmpty, "\(file.warnings)")
        #expect(
            file.model.configurations == [
                CoreDataConfiguration(name: "Cloud", entities: ["Note", "Tag"]),
                CoreDataConfiguration(name: "Local", entities: ["Note"]),
            ])
        let configurations = file.converted().configurations
        #expect(configurations.map(\.name) == ["Cloud", "Local"])
        #expect(configurations.map { $0.entities.sorted() } == [["Note", "Tag"], ["Note"]])
    }

    @Test("Derivations are read; those that cannot be read, and members that are not known, are warnings")
    func derivationsAndUnknownMembers() throws {
        var builder = ArchiveBuilder()
        func derived(_ name: String, _ type: Int64, _ expression: PropertyList) -> (String, PropertyList) {
            let members = [
                "NSPropertyName": builder.text(name), "NSAttributeType": .integer(type),
                "NSDerivationExpression": expression, "NSIsOptional": PropertyList.boolean(true),
            ]
            return (name, builder.object("NSDerivedAttributeDescription", members))
        }
        let canonical = builder.object(
            "NSFunctionExpression",
            ["NSSelectorName": builder.text("canonical:"), "NSArguments": builder.array([builder.keyPath("title")])])
        let properties = [
            ("title", builder.attribute("title", 700, ["NSSpotlight": builder.text("on")])),
            derived("search", 700, canonical), derived("count", 300, builder.keyPath("tags.@count")),
            derived("odd", 700, builder.object("NSBlockExpression")),
        ]
        let note = builder.entity("Note", properties)
        let file = try CoreDataModelFile(compiled: builder.model([("Note", note)]), name: "Notes")
        let attributes = try #require(file.model.entity(named: "Note")).attributes
        #expect(attributes.map(\.derivation) == ["tags.@count", "", "canonical:(title)", nil])
        #expect(
            file.warnings.map(\.message) == [
                "Note.odd: the derivation is not read: the expression of the class NSBlockExpression is not known",
                "Note.title: NSSpotlight of NSAttributeDescription is not known and not read, here and elsewhere in the file",
            ])
    }

    @Test("Entities that share one enormous dictionary of properties are refused")
    func sharedProperties() throws {
        var builder = ArchiveBuilder()
        var properties: [(String, PropertyList)] = []
        for number in 0..<500 { properties.append(("p\(number)", builder.attribute("p\(number)", 100))) }
        let shared = builder.dictionary(properties)
        var entities: [(String, PropertyList)] = []
        for number in 0..<500 {
            let name = builder.text("E\(number)")
            entities.append(
                ("E\(number)", builder.object("NSEntityDescription", ["NSEntityName": name, "NSProperties": shared])))
        }
        let data = builder.model(entities)
        let error = #expect(throws: CoreDataModelError.self) { _ = try CoreDataModelFile(compiled: data, name: "x") }
        #expect(error?.message.contains("more than 200000 properties") == true)
    }

    @Test("Samples that Apple's compiler wrote are read without a warning")
    func samples() throws {
        for name in ["SampleModel2.mom", "TestModel.mom"] {
            #expect(try CoreDataModelFile.read(path: Samples.path(name)).warnings.isEmpty)
        }
    }
}
