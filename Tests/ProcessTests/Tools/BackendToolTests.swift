import Foundation
import Strata
import Testing

/// `strata-wire` and `strata explain --backend` as their users meet them.
@Suite final class BackendToolTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "strata-backend-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func answers(_ bytes: Data, dialect: String = "stackmob") throws -> [[String: Any]] {
        let file = folder.appending(path: "cases.jsonl")
        try bytes.write(to: file)
        let run = try StrataTool.run(["--dialect", dialect], of: "strata-wire", input: file)
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        return try run.output.split(separator: "\n").map(Self.json)
    }

    private static func json(_ text: Substring) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private static func name(_ property: String, _ id: String) -> String {
        #"{"id":"\#(id)","area":"name-mapping","property":"\#(property)"}"#
    }

    private static func fields(_ answers: [[String: Any]]) -> [String?] {
        answers.map { ($0["actual"] as? [String: Any])?["field"] as? String }
    }

    @Test func eachLineHasItsAnswerAndBlankOnesNone() throws {
        let long = String(repeating: "x", count: 3_000_000)
        let lines = [
            Self.name("yearBorn", "1"), "", "   \t", "no case", Self.name("aB", "2"),
            #"{"id":"3","area":"query","limit":1e999}"#,
            Self.name(long + "Y", "4"), Self.name("myURL", "2"),
        ]
        for (mark, ending) in [("", "\n"), ("\u{FEFF}", "\r\n")] {
            let answers = try answers(Data((mark + lines.joined(separator: ending)).utf8))
            #expect(answers.map { $0["id"] as? String } == ["1", nil, "2", "3", "4", "2"])
            #expect(Self.fields(answers) == ["year_born", nil, "a_b", nil, long + "_y", "my_u_r_l"])
            for answer in [answers[1], answers[3]] {
                #expect(answer["actual"] is NSNull)
                #expect((answer["error"] as? String)?.isEmpty == false)
            }
        }
    }

    @Test func bytesThatAreNoTextStopNothing() throws {
        var bytes = Data(Self.name("a", "1").utf8) + [0x0A, 0xFF, 0xFE, 0x00, 0x0A]
        bytes += Data(Self.name("bC", "2").utf8)
        let answers = try answers(bytes)
        #expect(Self.fields(answers) == ["a", nil, "b_c"])
        #expect(try self.answers(Data()).isEmpty)
    }

    // MARK: Dialects

    /// A value in a form that is the same for the same JSON.
    private static func text(_ json: Any?) throws -> String {
        let bytes = try JSONSerialization.data(
            withJSONObject: json ?? NSNull(), options: [.sortedKeys, .fragmentsAllowed])
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(
        "Each dialect's vectors are answered line by line, and conditions as they expect",
        arguments: [
            ("stackmob", "StrataStackMobTests/Vectors/stackmob", 20),
            ("maxleap", "StrataMaxLeapTests/Vectors/maxleap", 22),
            ("parse", "StrataMaxLeapTests/Vectors/maxleap", 22),
            ("azure", "StrataAzureTests/Vectors/azure-mobile", 31),
        ])
    func vectors(dialect: String, path: String, predicates: Int) throws {
        let bytes = try Data(contentsOf: StrataTool.file(ofPackage: "Tests/\(path).jsonl"))
        let vectors = try String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(Self.json)
        let answers = try answers(bytes, dialect: dialect)
        #expect(answers.map { $0["id"] as? String } == vectors.map { $0["id"] as? String })
        var compared = 0
        for (vector, answer) in zip(vectors, answers) {
            #expect(!answer.keys.contains("error"), "\(answer)")
            let actual = try #require(answer["actual"] as? [String: Any], "\(answer)")
            guard vector["area"] as? String == "predicate" else { continue }
            for (name, value) in try #require(vector["expect"] as? [String: Any]) {
                #expect(try Self.text(actual[name]) == Self.text(value), "\(name) of \(vector["id"] ?? "")")
            }
            compared += 1
        }
        #expect(compared == predicates)
    }

    @Test(
        "A log-in is the dialect's own",
        arguments: [
            ("maxleap", "https://api.maxleap.cn/2.0/login?username=u&password=p"),
            ("parse", "https://api.parse.com/1/login"),
        ])
    func logIn(dialect: String, url: String) throws {
        let input = #"{"id":"a","area":"user","op":"logIn","username":"u","password":"p"}"#
        let answers = try answers(Data(input.utf8), dialect: dialect)
        #expect(answers.map { ($0["actual"] as? [String: Any])?["url"] as? String } == [url])
    }

    // MARK: explain

    private func explain(_ arguments: String..., backend: String = "stackmob") throws -> StrataTool.Run {
        let file = folder.appending(path: "map.strata.yaml").path
        try """
        model: Map
        entities:
          Place:
            attributes:
              placeId: string?
              yearFounded: integer64?
          Harbour:
            inherits: Place
            attributes: {depth: double?}
        """.write(toFile: file, atomically: true, encoding: .utf8)
        return try StrataTool.run(["explain", "--json", "--backend", backend, file] + arguments)
    }

    private static func requests(_ run: StrataTool.Run) throws -> [[String: Any]] {
        try run.json()["requests"] as? [[String: Any]] ?? []
    }

    private static func header(_ name: String, _ request: [String: Any]) -> String? {
        (request["headers"] as? [[String: String]])?.first { $0["name"] == name }?["value"]
    }

    @Test func theRequestOfAFetch() throws {
        let run = try explain(
            "Harbour", "depth > 7.5 AND yearFounded != nil", "--sort", "-yearFounded", "--limit", "10")
        let requests = try Self.requests(run)
        #expect(requests.map { $0["method"] as? String } == ["GET"])
        #expect(requests[0]["path"] as? String == "/harbour?depth[gt]=7.5&year_founded[null]=false")
        #expect(
            requests[0]["parameters"] as? [[String: String]] == [
                ["name": "depth[gt]", "value": "7.5"], ["name": "year_founded[null]", "value": "false"],
            ])
        #expect(Self.header("X-StackMob-OrderBy", requests[0]) == "year_founded:desc")
        #expect(Self.header("Range", requests[0]) == "objects=0-9")
    }

    @Test func aRequestForEachEntityThatInherits() throws {
        let requests = try Self.requests(explain("Place", "yearFounded > 1800", "--limit", "5"))
        #expect(
            requests.map { $0["path"] as? String } == [
                "/place?year_founded[gt]=1800", "/harbour?year_founded[gt]=1800",
            ])
        #expect(requests.map { Self.header("Range", $0) } == ["objects=0-4", "objects=0-4"])
    }

    @Test(
        "Every dialect's requests are explained",
        arguments: [
            ("maxleap", "/2.0/classes/Harbour?", "where", #"{"depth":{"$gt":7.5}}"#, "X-ML-AppId"),
            ("parse", "/parse/classes/Harbour?", "where", #"{"depth":{"$gt":7.5}}"#, "X-Parse-Application-Id"),
            ("azure", "/tables/Harbour?", "$filter", "(depth gt 7.5d)", "ZUMO-API-VERSION"),
            ("mobileservices", "/tables/Harbour?", "$filter", "(depth gt 7.5d)", "X-ZUMO-APPLICATION"),
            ("datasync", "/tables/harbour?", "$filter", "(depth gt 7.5)", "ZUMO-API-VERSION"),
        ])
    func dialects(backend: String, path: String, parameter: String, value: String, header: String) throws {
        let run = try explain("Harbour", "depth > 7.5", "--limit", "10", backend: backend)
        let request = try #require(try Self.requests(run).first)
        #expect((request["path"] as? String)?.hasPrefix(path) == true, "\(run.output)")
        let parameters = try #require(request["parameters"] as? [[String: String]])
        #expect(parameters.first { $0["name"] == parameter }?["value"] == value, "\(parameters)")
        let names = (request["headers"] as? [[String: String]])?.compactMap { $0["name"]?.lowercased() } ?? []
        #expect(names.contains(header.lowercased()), "\(names)")
    }

    @Test("Kinto's requests are explained, and so is what it cannot do")
    func kinto() throws {
        let run = try explain("Harbour", "yearFounded == 1800", "--sort", "-depth", "--limit", "10", backend: "kinto")
        let request = try #require(try Self.requests(run).first)
        #expect(
            request["path"] as? String
                == "/v1/buckets/default/collections/Harbour/records?eq_yearFounded=1800&_sort=-depth&_limit=10")
        let refused = try explain("Harbour", "depth > 7.5", backend: "kinto")
        #expect(refused.status == 1)
        #expect((refused.output + refused.errors).contains("depth > 7.5"))
    }

    @Test func aBackEndOfAnotherPackageIsUnknown() throws {
        let run = try explain("Harbour", backend: "shelf")
        #expect(run.status == 64)
        #expect(run.errors.contains("datasync"))
    }

    @Test func whatCannotBeSentIsNamed() throws {
        let run = try explain("Harbour", "yearFounded > depth")
        #expect(run.status != 0)
        #expect((run.output + run.errors).contains("yearFounded > depth"))
    }
}
