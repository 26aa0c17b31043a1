import Foundation
import Strata
import Testing

/// `strata explain` as its users meet it.
@Suite final class ExplainToolTests {
    private let folder: URL
    private let file: String

    /// The lines below `attributes:` and `indexes:` of Place, for what is suggested.
    private static func model(attributes: [String] = [], indexes: [String] = []) -> String {
        let own = [
            "title: string", "code: {type: string, indexed: true}", "label: string?",
            "plain: {type: string, derived: canonical(label), optional: true}", "area: integer64",
            "rank: {type: integer32, indexed: true}", "price: decimal?", "spot: geoPoint", "text: string",
            "visits: {type: integer64, derived: count(notes)}",
        ]
        func name(_ line: String) -> Substring { line.prefix { $0 != ":" } }
        let kept = own.filter { line in !attributes.contains { name($0) == name(line) } }
        let list = (kept + attributes).map { "      " + $0 }.joined(separator: "\n")
        let ordered = indexes.map { "      " + $0 }.joined(separator: "\n")
        return """
            model: Map
            entities:
              Place:
                attributes:
            \(list)
                relationships:
                  notes: {toMany: Note, inverse: place}
            \(indexes.isEmpty ? "" : "    indexes:\n" + ordered)
              Harbour:
                inherits: Place
                attributes: {depth: double?}
              Note:
                attributes: {words: string, stars: {type: integer16, indexed: true}}
                relationships: {place: {to: Place, inverse: notes}}
                indexes:
                  - {fullText: words}
            """
    }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "strata-explain-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        file = folder.appending(path: "map.strata.yaml").path
        try Self.model().write(toFile: file, atomically: true, encoding: .utf8)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func explain(_ arguments: String...) throws -> StrataTool.Run {
        try StrataTool.run(["explain", file] + arguments)
    }

    private func json(_ arguments: String...) throws -> [String: Any] {
        let run = try StrataTool.run(["explain", "--json", file] + arguments)
        #expect(run.status == 0 && run.errors.isEmpty, "\(arguments): \(run.errors)\(run.output)")
        return try run.json()
    }

    private static func steps(_ object: [String: Any]) -> String {
        ((object["plan"] as? [[String: Any]]) ?? []).compactMap { $0["step"] as? String }.joined(separator: "; ")
    }

    private static func scans(_ object: [String: Any]) -> [[String: Any]] {
        object["fullScans"] as? [[String: Any]] ?? []
    }

    private static func codes(_ object: [String: Any]) -> [String] {
        scans(object).flatMap { $0["reasons"] as? [[String: Any]] ?? [] }.compactMap { $0["code"] as? String }
    }

    private static func suggestions(_ object: [String: Any]) -> [[String: Any]] {
        object["suggestions"] as? [[String: Any]] ?? []
    }

    private static func lines(_ suggestion: [String: Any]?, _ section: String? = nil) -> [String] {
        (suggestion?["changes"] as? [[String: Any]] ?? []).filter {
            section == nil || $0["section"] as? String == section
        }.compactMap { $0["line"] as? String }
    }

    // MARK: Output

    @Test func textHasAllParts() throws {
        let run = try explain(
            "Place", "code == %@ AND (area > $least OR NOT title LIKE '*x')", "--arg", "A", "--var", "least=5",
            "--sort=-rank", "--limit", "3")
        #expect(run.status == 0 && run.errors.isEmpty)
        #expect(
            run.output.hasPrefix(
                """
                tree
                  AND
                    ==
                      code
                      'A'
                    OR
                      >
                        area
                        5
                      NOT
                        LIKE
                          title
                          '*x'

                sql
                  SELECT t0._id FROM place AS t0 WHERE
                """), "\(run.output)")
        #expect(run.output.contains("ORDER BY t0.rank DESC, t0._id LIMIT ?"))
        #expect(run.output.contains("\nbindings\n  ?1  text  'A'\n  ?2  integer  5\n"))
        #expect(run.output.contains("\nquery plan\n  SEARCH t0 USING INDEX place_by_code (code=?)\n"))
        #expect(run.output.contains("\nfull scan: none\n"))
    }

    @Test func textTellsAScanAndItsCure() throws {
        let run = try explain("Place", "area > 5")
        #expect(run.status == 0)
        #expect(
            run.output.hasSuffix(
                """
                full scan: Place (table place)
                  area > 5
                    Place.area has no index

                what would help
                  in the model, Place, attributes:
                    area: {type: integer64, indexed: true}
                  query plan then:
                    SEARCH t0 USING COVERING INDEX place_by_area (area>?)
                    USE TEMP B-TREE FOR ORDER BY

                """), "\(run.output)")
    }

    @Test func textSaysWhereNoIndexHelps() throws {
        let run = try explain("Place", "area > 5 OR title ENDSWITH 'x'")
        #expect(run.status == 0 && run.output.hasSuffix("\nno index would help this condition as it stands\n"))
    }

    @Test func jsonHasAllKeysAlways() throws {
        let keys = [
            "bindings", "entity", "format", "fullScans", "isFullScan", "model", "plan", "predicate", "sorts", "sql",
            "store", "suggestions", "tree",
        ]
        for arguments in [["Place"], ["Place", "title CONTAINS 'x'"], ["Place", "area IN {1, 2}", "--limit", "1"]] {
            let run = try StrataTool.run(["explain", "--json", file] + arguments)
            let found = try run.json().keys.sorted()
            #expect(run.status == 0 && found == keys, "\(run.output)")
        }
        let object = try json("Place", "title CONTAINS 'x'")
        #expect(object["store"] is NSNull && object["entity"] as? String == "Place")
        #expect(object["predicate"] as? String == "title CONTAINS 'x'" && object["isFullScan"] as? Bool == true)
        let tree = try #require(object["tree"] as? [String: Any])
        #expect(tree["node"] as? String == "CONTAINS" && (tree["parts"] as? [Any])?.count == 2)
        let scan = try #require(Self.scans(object).first)
        #expect(scan["table"] as? String == "place" && scan["step"] as? String == "SCAN t0")
        let suggestion = try #require(Self.suggestions(object).first)
        #expect(suggestion.keys.sorted() == ["changes", "note", "plan", "rewrite"])
        let change = try #require((suggestion["changes"] as? [[String: Any]])?.first)
        #expect(change.keys.sorted() == ["entity", "line", "section"])
    }

    @Test func bindingsHaveTypesAndNumbers() throws {
        let object = try json(
            "Place", "%K == %@ AND price < %@ AND rank IN %@ AND area != $n", "--arg", "title", "--arg", "\"5\"",
            "--arg", "-2.5", "--arg", "[1, 2, 3]", "--var", "n={\"$int\": \"-7\"}", "--limit", "4", "--offset", "2")
        let bindings = try #require(object["bindings"] as? [[String: Any]])
        #expect(
            bindings.map { "\($0["type"] ?? "") \($0["value"] ?? "")" } == [
                "text '5'", "text '-2.5'", "list (1, 2, 3)", "integer -7", "integer 4", "integer 2",
            ])
        #expect(bindings.compactMap { $0["number"] as? Int } == [1, 2, 3, 4, 5, 6])
        #expect((object["sql"] as? String)?.hasSuffix("LIMIT ?5 OFFSET ?6") == true)
    }

    @Test func countsAreExplainedAsCounts() throws {
        let object = try json("Place", "rank > 5", "--count")
        #expect((object["sql"] as? String)?.hasPrefix("SELECT count(*) FROM ") == true)
        #expect(object["sorts"] as? Bool == false && object["isFullScan"] as? Bool == false)
    }

    @Test func allObjectsAreNoThreat() throws {
        for arguments in [["Place"], ["Place", "TRUEPREDICATE"], ["Place", "--sort", "area"], ["Place", "--count"]] {
            let object = try StrataTool.run(["explain", "--json", file] + arguments).json()
            #expect(object["isFullScan"] as? Bool == false && Self.suggestions(object).isEmpty, "\(arguments)")
        }
        #expect(Self.codes(try json("Harbour")) == ["otherEntities"])
    }

    // MARK: Advice

    @Test(
        arguments: [
            ("area == 5", "noIndex", "area: {type: integer64, indexed: true}", nil),
            ("'a' <= title", "noIndex", "title: {type: string, indexed: true}", nil),
            ("price BETWEEN {1, 2}", "noIndex", "price: {type: decimal?, indexed: true}", nil),
            ("title IN {'a', 'b'}", "noIndex", "title: {type: string, indexed: true}", nil),
            (
                "title BEGINSWITH[cd] 'a'", "textOptions",
                "titleCanonical: {type: string, derived: canonical(title), indexed: true}", nil
            ),
            ("label ==[cd] 'a'", "noIndex", "plain: {type: string?, derived: canonical(label), indexed: true}", nil),
            ("title ==[c] 'a'", "textOptions", nil, nil),
            ("title LIKE '*sea*'", "leadingWildcard", "- {fullText: [title]}", "title MATCHESTEXT 'sea'"),
            ("title LIKE '?sea'", "leadingWildcard", nil, nil),
            ("code LIKE 'a?*'", "pattern", nil, "code BEGINSWITH 'a' AND code LIKE 'a?*'"),
            ("title MATCHES 'a+'", "pattern", nil, nil),
            ("title CONTAINS 'old sea'", "insideText", "- {fullText: [title]}", "title MATCHESTEXT 'old sea'"),
            ("title ENDSWITH 'a'", "insideText", nil, nil),
            ("title MATCHESTEXT 'sea'", "noFullTextIndex", "- {fullText: [title]}", nil),
            ("withinKilometers(spot, {1, 2}, 5)", "noSpatialIndex", "- {spatial: [spot]}", nil),
            ("withinBox(spot, {1, 2}, {3, 4})", "noSpatialIndex", "- {spatial: [spot]}", nil),
            ("near(spot, {1, 2})", "nearest", nil, nil),
            ("rank + 1 > 5", "function", nil, nil),
            ("uppercase(code) == 'A'", "function", nil, nil),
            ("visits > 5", "function", nil, nil),
            ("rank == CAST('1.5', 'NSDecimalNumber')", "function", nil, nil),
            ("code != 'a'", "inequality", nil, nil),
            ("NOT code == 'a'", "inequality", nil, nil),
            ("NOT rank > 5", "inequality", nil, nil),
            ("rank > area", "twoProperties", nil, nil),
            ("ANY notes.stars > 3", "collection", nil, nil),
            ("notes.@count > 3", "collection", nil, nil),
            ("SUBQUERY(notes, $n, $n.stars > 3).@count > 1", "collection", nil, nil),
        ] as [(String, String, String?, String?)])
    func eachReasonHasItsCure(format: String, code: String, line: String?, rewrite: String?) throws {
        let object = try json("Place", format)
        #expect(object["isFullScan"] as? Bool == true, "\(Self.steps(object))")
        #expect(Self.codes(object) == [code])
        let first = Self.suggestions(object).first
        #expect(Self.lines(first) == [line].compactMap(\.self))
        #expect(first?["rewrite"] as? String == rewrite)
        guard line != nil || rewrite != nil else {
            #expect(first == nil)
            return
        }
        // The suggestion is put into the file unchanged, and the scan is gone.
        try Self.model(attributes: Self.lines(first, "attributes"), indexes: Self.lines(first, "indexes"))
            .write(toFile: file, atomically: true, encoding: .utf8)
        let cured = try json("Place", rewrite ?? format)
        #expect(cured["isFullScan"] as? Bool == false && Self.suggestions(cured).isEmpty, "\(Self.steps(cured))")
        #expect(Self.steps(cured) == Self.steps(try #require(first)))
    }

    @Test func indexesThatAreThereAreSeen() throws {
        for format in [
            "rank > 5", "code BEGINSWITH 'a'", "code IN {'a'}", "code == nil", "NOT code != 'a'",
            "SELF IN {CAST(1, 'ManagedObject')}",
        ] {
            let object = try json("Place", format)
            #expect(object["isFullScan"] as? Bool == false, "\(format): \(Self.steps(object))")
            #expect(Self.suggestions(object).isEmpty)
        }
        #expect(try json("Note", "SELF MATCHESTEXT 'sea'")["isFullScan"] as? Bool == false)
        #expect(try json("Note", "place.code == 'a'")["isFullScan"] as? Bool == false)
    }

    @Test func severalPropertiesShareAnIndex() throws {
        let object = try json("Place", "title == 'a' AND area > 5")
        #expect(Self.codes(object) == ["noIndex", "noIndex"])
        #expect(Self.lines(Self.suggestions(object).first) == ["- [title, area]"])
        let page = try json("Place", "title == 'a'", "--sort=-area", "--limit", "5")
        #expect(Self.lines(Self.suggestions(page).first) == ["- [title, -area]"])
    }

    @Test func alternativesNeedAnIndexEach() throws {
        let object = try json("Place", "title == 'a' OR area == 5")
        #expect(
            Self.lines(Self.suggestions(object).first) == [
                "title: {type: string, indexed: true}", "area: {type: integer64, indexed: true}",
            ])
        #expect(Self.suggestions(try json("Place", "title == 'a' OR rank + 1 == 5")).isEmpty)
    }

    @Test func theFirstOfAnOrderNeedItsIndex() throws {
        let object = try json("Place", "--sort", "title", "--limit", "10")
        #expect(Self.codes(object) == ["order"] && object["sorts"] as? Bool == true)
        #expect(Self.lines(Self.suggestions(object).first) == ["- [title]"])
        let indexed = try json("Place", "--sort=-rank", "--limit", "10")
        #expect(indexed["isFullScan"] as? Bool == false && indexed["sorts"] as? Bool == false)
    }

    @Test func ordersByExpressions() throws {
        let object = try json("Place", "--sort=-notes.@sum.stars", "--sort", "abs(rank)", "--limit", "10")
        #expect(Self.codes(object).contains("order") && object["sorts"] as? Bool == true)
        #expect((object["sql"] as? String)?.contains("ORDER BY") == true)
        for sort in ["notes.@sum.strs", "abs(", "notes"] {
            #expect(try explain("Place", "--sort", sort).status != 0, "\(sort)")
        }
    }

    @Test func propertiesBehindRelationships() throws {
        let object = try json("Note", "place.title == 'a'")
        let change = (Self.suggestions(object).first?["changes"] as? [[String: Any]])?.first
        #expect(change?["entity"] as? String == "Place")
        #expect(change?["line"] as? String == "title: {type: string, indexed: true}")
    }

    @Test func newAttributesAreNoted() throws {
        let note = Self.suggestions(try json("Place", "title ==[cd] 'a'")).first?["note"] as? String
        #expect(note?.contains("migrated") == true)
        #expect(Self.suggestions(try json("Place", "area == 1")).first?["note"] is NSNull)
        let words = Self.suggestions(try json("Place", "title CONTAINS 'a'")).first?["note"] as? String
        #expect(words?.contains("the answer may differ") == true)
    }

    // MARK: Stores

    private func store(indexed: Bool) throws -> String {
        var thing = Entity(name: "Thing", location: nil)
        var name = Attribute("name", .string)
        name.isIndexed = indexed
        thing.attributes = [name]
        let path = folder.appending(path: "\(indexed).sqlite").path
        let container = try PersistentContainer(
            model: ManagedObjectModel(name: "Things", entities: [thing]), at: .file(path: path))
        let context = container.newContext()
        for number in 0..<20 { try context.insert(entityNamed: "Thing")["name"] = "\(number)" }
        try context.save()
        container.close()
        try """
        model: Things
        entities:
          Thing:
            attributes:
              name: {type: string, indexed: true}
        """.write(toFile: file, atomically: true, encoding: .utf8)
        return path
    }

    @Test func aStoreIsOnlyRead() throws {
        let path = try store(indexed: true)
        let before = try Data(contentsOf: URL(filePath: path))
        let object = try json("Thing", "name == '5'", "--store", path)
        #expect(object["store"] as? String == path)
        #expect(Self.steps(object).contains("thing_by_name") && object["isFullScan"] as? Bool == false)
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }

    @Test func aStoreWithoutTheModelsIndexSaysSo() throws {
        let object = try json("Thing", "name == '5'", "--store", try store(indexed: false))
        #expect(object["isFullScan"] as? Bool == true)
        let suggestion = Self.suggestions(object).first
        #expect(Self.lines(suggestion).isEmpty)
        #expect((suggestion?["note"] as? String)?.contains("the store lacks an index") == true)
    }

    @Test func storesThatDoNotFit() throws {
        let missing = try explain("Place", "--store", "/no/such.sqlite")
        #expect(missing.status == 1 && missing.output.isEmpty && missing.errors.contains("/no/such"))
        let path = try store(indexed: true)
        try Self.model().write(toFile: file, atomically: true, encoding: .utf8)
        let other = try explain("Place", "--store", path)
        #expect(other.status == 1 && other.errors.contains("was created with another model"))
        let text = try explain("Place", "--store", file)
        #expect(text.status == 1 && text.errors.contains("is not a Strata store"))
    }

    // MARK: Faults

    @Test func aFaultOfTheFormatHasACaret() throws {
        let run = try explain("Place", "area >> 5")
        #expect(run.status == 1 && run.output.isEmpty)
        let lines = run.errors.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 4 && lines[0].hasPrefix("at character 6: "), "\(run.errors)")
        #expect(lines[1] == "  area >> 5" && lines[2] == "        ^")
        let second = try explain("Place", "title == 'é' AND\n\tarea ==")
        let below = second.errors.split(separator: "\n")
        #expect(below.count == 3 && below[1] == "  \tarea ==" && below[2] == "  \t       ^", "\(second.errors)")
    }

    @Test func aVeryLongLineIsCut() throws {
        let run = try explain("Place", String(repeating: "area == 1 AND ", count: 500) + ")")
        let lines = run.errors.split(separator: "\n")
        #expect(run.status == 1 && lines.count == 3 && lines[1].count < 110, "\(run.errors)")
        #expect(lines[1].dropFirst(lines[2].count - 1).first == ")")
    }

    @Test(arguments: [
        (["Plce"], "name", "Map has no entity Plce; did you mean 'Place'?"),
        (["Xyz"], "name", "it has Place, Harbour, Note"),
        (["Place", "arex > 5"], "name", "Place has no property arex; did you mean 'area'?"),
        (["Note", "place.tilte == 'x'"], "name", "Place has no property tilte, in place.tilte; did you mean 'title'?"),
        (["Place", "ANY notes.star > 1"], "name", "Note has no property star"),
        (["Place", "--sort", "ttle"], "name", "Place has no property ttle; did you mean 'title'?"),
        (["Place", "area > %d"], "format", "argument"),
        (["Place", "area > $n"], "condition", "--var n=value"),
        (["Place", "title MATCHES '('"], "condition", "not a regular expression"),
        (["Place", "area > 'a'"], "condition", "have no order"),
        (["Place", "SELF MATCHESTEXT 'x'"], "unsupported", "no full-text index"),
        (["Place", "code == 'a' AND title MATCHES code"], "unsupported", "title MATCHES code"),
        (["Place", "--sort", "notes.words"], "unsupported", "notes.words"),
        (["Place", "--store", "/no/such.sqlite"], "store", "/no/such.sqlite"),
    ])
    func eachFaultIsNamed(arguments: [String], kind: String, message: String) throws {
        let run = try StrataTool.run(["explain", file] + arguments)
        #expect(run.status == 1 && run.output.isEmpty && run.errors.contains(message), "\(run.errors)")
        let json = try StrataTool.run(["explain", "--json", file] + arguments)
        let error = try #require(try json.json()["error"] as? [String: Any])
        #expect(json.status == 1 && error["kind"] as? String == kind)
        #expect((error["message"] as? String)?.contains(message) == true, "\(error)")
        #expect((error["position"] as? Int != nil) == (kind == "format"))
    }

    @Test(arguments: [
        [], ["Place", "--limit", "-1"], ["Place", "--offset=-1"], ["Place", "area == 1", "--arg", "{\"a\""],
        ["Place", "area == 1", "--var", "x"], ["Place", "--sort", "a b"], ["Place", "--arg", "1"],
        ["Place", "area == 1", "--nonsense"],
    ])
    func wrongCommandLines(arguments: [String]) throws {
        let run = try StrataTool.run(["explain", file] + arguments)
        #expect(run.status == 64 && run.output.isEmpty && !run.errors.isEmpty)
    }

    @Test func aFaultyModelIsTold() throws {
        try "entities: {A: {attributes: {x: strin}}}".write(toFile: file, atomically: true, encoding: .utf8)
        let run = try explain("A")
        #expect(run.status == 1 && run.errors.contains("\(file):1:"))
    }
}
