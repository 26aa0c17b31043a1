import Foundation
import SeededRandom
import StrataRemoteTesting
import Testing

/// Objects as JSON and back.
@Suite struct JSONRecordCoderTests {
    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Things") {
            Entity("Thing") {
                Attribute("thingId", .string)
                Attribute("count", .integer32, optional: true)
                Attribute("ratio", .double, optional: true)
                Attribute("single", .float, optional: true)
                Attribute("price", .decimal, optional: true)
                Attribute("text", .string, optional: true)
                Attribute("flag", .boolean, optional: true)
                Attribute("made", .date, optional: true)
                Attribute("payload", .binary, optional: true)
                Attribute("token", .uuid, optional: true)
                Attribute("link", .uri, optional: true)
                Attribute("place", .geoPoint, optional: true)
                Attribute("words", .array(.string), optional: true)
                Attribute(
                    "address",
                    .composite([CompositeElement("street", .string), CompositeElement("since", .date)]), optional: true)
                Relationship("owner", to: "Thing", .optionalToOne, inverse: "owned")
                Relationship("owned", to: "Thing", .toMany, inverse: "owner")
            }
        }
    }

    private let thing: EntityDescription

    init() throws { thing = try #require(try Self.model().entity(named: "Thing")) }

    private static let values: [String: RemoteValue] = [
        "count": .value(.integer(-7)), "ratio": .value(.double(0.1)), "single": .value(.double(0.5)),
        "price": .value(.decimal(Decimal(string: "-12345678901234567890.123456789") ?? 0)),
        "text": .value(.string("a \u{0} \u{1F3D4}")), "flag": .value(.boolean(false)),
        "made": .value(.date(Date(timeIntervalSince1970: 1_700_000_000.123))),
        "payload": .value(.binary(Data([0, 255]))),
        "token": .value(.uuid(UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF") ?? UUID())),
        "link": .value(.uri(URL(filePath: "/tmp"))),
        "place": .value(.geoPoint(GeoPoint(latitude: -33.5, longitude: 151.25))),
        "words": .value(.list([.string("a"), .string("")])),
        "address": .value(
            .composite(["street": .string("Main"), "since": .date(Date(timeIntervalSince1970: -1.5))])),
        "owner": .reference("b"), "owned": .references(["c", "d"]),
    ]

    @Test("Fields may be named in snake_case, and come back to the properties of any model")
    func snakeCase() throws {
        for naming in [NamingConvention.snakeCase, .verbatim] {
            let model = try ManagedObjectModel(name: "People", naming: naming) {
                Entity("Person") {
                    Attribute("personId", .string)
                    Attribute("yearBorn", .integer32, optional: true)
                    Attribute("imageURL", .string, optional: true)
                    Attribute("homeAddress", .composite([CompositeElement("mainStreet", .string)]), optional: true)
                    Relationship("bestFriend", to: "Person", .optionalToOne, inverse: "knownBy")
                    Relationship("knownBy", to: "Person", .toMany, inverse: "bestFriend")
                }
            }
            let person = try #require(model.entity(named: "Person"))
            let coder = JSONRecordCoder(names: .snakeCase)
            let values: [String: RemoteValue] = [
                "yearBorn": .value(.integer(1815)), "imageURL": .value(.string("ada.png")),
                "homeAddress": .value(.composite(["mainStreet": .string("A")])), "bestFriend": .reference("b"),
                "knownBy": .references(["c"]),
            ]
            let fields = try coder.fields(of: RemoteWrite(id: "a", values: values), person)
            #expect(
                Set(fields.map(\.name))
                    == ["id", "year_born", "image_url", "home_address", "best_friend", "known_by"])
            let record = try coder.record(.object(fields), person)
            #expect(record.values == values.merging(["personId": .value(.string("a"))]) { $1 })
            #expect(
                try coder.record(["id": "a", "yearBorn": 1, "home_address_main_street": "x"], person).values.count == 1)
            #expect(throws: RemoteError.self) { try coder.check(model, reserved: ["year_born"]) }
        }
    }

    @Test(arguments: JSONRecordCoder.DateFormat.allCases)
    func everyTypeComesBack(dates: JSONRecordCoder.DateFormat) throws {
        let coder = JSONRecordCoder(idField: "key", dates: dates)
        let fields = try coder.fields(of: RemoteWrite(id: "a", values: Self.values), thing)
        let json = try JSONValue(parsing: try JSONValue.object(fields).data())
        let record = try coder.record(json, thing)
        #expect(record.id == "a")
        var expected = Self.values
        expected["thingId"] = .value(.string("a"))
        #expect(record.values.count == expected.count)
        for (name, value) in expected where name != "made" && name != "address" {
            #expect(record.values[name] == value, "\(name)")
        }
        guard case .value(.date(let made))? = record.values["made"],
            case .value(.composite(let parts))? = record.values["address"], case .date(let since)? = parts["since"]
        else {
            Issue.record("the dates are gone: \(record.values)")
            return
        }
        #expect(abs(made.timeIntervalSince1970 - 1_700_000_000.123) < 0.0005)
        #expect(abs(since.timeIntervalSince1970 + 1.5) < 0.0005)
        #expect(parts["street"] == .string("Main"))
    }

    @Test func nilsComeBack() throws {
        let coder = JSONRecordCoder()
        var nils = Self.values.mapValues { _ in RemoteValue.value(.null) }
        nils["owner"] = .reference(nil)
        nils["owned"] = .references([])
        let record = try coder.record(.object(try coder.fields(of: RemoteWrite(id: "a", values: nils), thing)), thing)
        nils["thingId"] = .value(.string("a"))
        #expect(record.values == nils)
    }

    @Test func theFormIsAsTheDocumentationSays() throws {
        let write = RemoteWrite(
            id: "a",
            values: [
                "made": .value(.date(Date(timeIntervalSince1970: 1_795_560_420.123))), "price": .value(.decimal(1.5)),
                "payload": .value(.binary(Data([1, 2, 3]))),
                "place": .value(.geoPoint(GeoPoint(latitude: 1.5, longitude: 2.5))),
            ])
        #expect(
            JSONValue.object(try JSONRecordCoder().fields(of: write, thing)) == [
                "id": "a", "made": "2026-11-24T22:47:00.123Z", "price": "1.5", "payload": "AQID", "place": [1.5, 2.5],
            ])
        #expect(JSONRecordCoder().json(.date(Date(timeIntervalSince1970: 0.9999)), .date) == "1970-01-01T00:00:00.999Z")
        let milliseconds = try JSONRecordCoder(dates: .milliseconds).fields(of: write, thing)
        #expect(milliseconds["made"] == 1_795_560_420_123)
    }

    @Test("A date keeps its text however often it goes there and back", arguments: [UInt64(1), 2, 3])
    func datesAreStable(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for format in JSONRecordCoder.DateFormat.allCases {
            let coder = JSONRecordCoder(dates: format)
            for _ in 0..<2000 {
                let date = Date(
                    timeIntervalSince1970: Double.random(in: -62_135_596_800...253_402_300_799, using: &random))
                let first = try #require(coder.json(.date(date), .date))
                guard case .date(let back)? = coder.value(first, .date) else {
                    Issue.record("seed \(seed): \(first) is not read")
                    return
                }
                #expect(abs(back.timeIntervalSince(date)) <= 0.00101, "seed \(seed): \(first) for \(date)")
                #expect(coder.json(.date(back), .date) == first, "seed \(seed): \(first) changes")
            }
        }
    }

    @Test func textsOfDatesKeepTheOrderAndReadOtherForms() throws {
        let coder = JSONRecordCoder()
        let dates = [-62_135_596_800, -1.5, -0.001, 0, 0.001, 0.999, 1, 253_402_300_799.999]
        let texts = dates.compactMap { coder.json(.date(Date(timeIntervalSince1970: $0)), .date)?.string }
        #expect(texts.count == dates.count)
        #expect(texts == texts.sorted(), "\(texts)")
        #expect(coder.value("2026-11-24T22:47:00Z", .date) == coder.value("2026-11-24T23:47:00.000+01:00", .date))
        #expect(coder.value("2026-11-24T22:47:00Z", .date) == .date(Date(timeIntervalSince1970: 1_795_560_420)))
    }

    @Test(
        "What does not fit its property is refused by name",
        arguments: [
            ("count", "\"1\""), ("count", "1.5"), ("ratio", "\"x\""), ("price", "\"1,5\""), ("price", "\"1x\""),
            ("text", "5"), ("flag", "1"), ("made", "\"yesterday\""), ("made", "5"), ("payload", "\"*\""),
            ("token", "\"1\""), ("place", "[1]"), ("place", "[1, \"2\"]"), ("words", "[1]"), ("words", "\"a\""),
            ("address", "5"), ("address", "{\"street\": 5}"), ("owner", "5"), ("owner", "[\"b\"]"), ("owned", "\"b\""),
            ("owned", "[1]"),
        ])
    func misfits(name: String, json: String) throws {
        let object = JSONValue.object(["id": "a", name: try JSONValue(parsing: json)])
        #expect {
            try JSONRecordCoder().record(object, thing)
        } throws: { error in
            guard let error = error as? RemoteError else { return false }
            return error.kind == .invalidAnswer && error.message.contains("Thing.\(name)")
                && error.identity == RemoteIdentity(entity: "Thing", id: "a")
        }
    }

    @Test func whatCannotBeSentIsRefusedByName() throws {
        let bad: [(RemoteWrite, RemoteError.Kind)] = [
            (RemoteWrite(id: "a", values: ["ratio": .value(.double(.infinity))]), .invalidRequest),
            (RemoteWrite(id: "a", values: ["made": .value(.date(Date(timeIntervalSince1970: 1e18)))]), .invalidRequest),
            (RemoteWrite(id: "a", values: ["nothing": .value(.integer(1))]), .invalidRequest),
            (RemoteWrite(id: "a", values: ["owner": .record(RemoteRecord(entity: "Thing", id: "b"))]), .unsupported),
            (RemoteWrite(id: "a", operations: ["count": .increment(.integer(1))]), .unsupported),
            (RemoteWrite(id: "a", secrets: ["text": "x"]), .unsupported),
        ]
        for (write, kind) in bad {
            let name = try #require((Array(write.values.keys) + write.operations.keys + write.secrets.keys).first)
            #expect {
                try JSONRecordCoder().fields(of: write, thing)
            } throws: { error in
                guard let error = error as? RemoteError else { return false }
                return error.kind == kind && error.message.contains("Thing.\(name)")
            }
        }
    }

    @Test func anUnreadableObjectDoesNotHideTheOthers() throws {
        let page = JSONRecordCoder().page(
            of: [["id": "a", "v": 1], ["id": "b", "flag": "no"], 7, ["id": ""], ["id": "c", "unknown": [1]]], thing
        ) { record, json in record.version = json["v"]?.description }
        #expect(page.records.map(\.id) == ["a", "c"])
        #expect(page.records.map(\.version) == ["1", nil])
        #expect(page.unreadable.map(\.identity) == [RemoteIdentity(entity: "Thing", id: "b"), nil, nil])
    }

    @Test func fieldsOfTheServiceAreRefused() throws {
        #expect {
            try JSONRecordCoder(idField: "flag").check(try Self.model())
        } throws: { "\($0)".contains("Thing.flag") }
        #expect {
            try JSONRecordCoder().check(try Self.model(), reserved: ["owner"])
        } throws: { "\($0)".contains("Thing.owner") }
        try JSONRecordCoder(idField: "thingId").check(try Self.model(), reserved: ["revision"])
    }

    @Test func answersThatAreNotJSONAreErrors() throws {
        func kind(_ status: Int, _ body: String, _ type: String = "application/json") -> RemoteError.Kind? {
            let response = WireResponse(
                HTTPResponse(status: .init(code: status), headerFields: [.contentType: type]), body: Data(body.utf8))
            do throws(RemoteError) {
                _ = try response.json(domain: "Test")
                return nil
            } catch {
                return error.kind
            }
        }
        #expect(kind(200, "{}") == nil)
        #expect(kind(201, "[1]") == nil)
        #expect(kind(200, "") == .invalidAnswer)
        #expect(kind(200, "<html>", "text/html") == .invalidAnswer)
        #expect(kind(302, "") == .invalidAnswer)
        #expect(kind(404, "{}") == .notFound)
        #expect(kind(404, "<html>", "text/html") == .invalidAnswer)
        #expect(kind(503, "<html>", "text/html") == .unavailable)
        #expect(kind(412, "{}") == .conflict)
    }

    @Test func requestsHaveTheirJSON() throws {
        let request = try WireRequest(.put, authority: "a.example", path: "/x", json: ["a": 1])
        #expect(request.head.scheme == "https" && request.head.headerFields[.contentType] == "application/json")
        #expect(request.body == Data(#"{"a":1}"#.utf8))
        let plain = try WireRequest(.get, scheme: "http", authority: "a.example", path: "/x")
        #expect(plain.body == nil && plain.head.headerFields[.contentType] == nil)
        #expect(throws: RemoteError.self) {
            try WireRequest(.put, authority: "a.example", path: "/x", json: .double(.nan))
        }
    }

    /// Answers nothing: the tests look at its requests.
    private struct Counting: RemoteDialect {
        let name = "Counting"
        let capabilities = RemoteCapabilities(maximumBatch: 2, maximumIDs: 3)

        func request(for operation: RemoteOperation, options: RequestOptions) throws(RemoteError) -> WireRequest {
            switch operation {
            case .read(_, let ids): try WireRequest(.get, authority: "a", path: "/" + ids.joined())
            case .create(_, let writes): try WireRequest(.put, authority: "a", path: "/" + writes.map(\.id).joined())
            default: throw RemoteError(.unsupported, message: "\(operation)")
            }
        }

        func answer(_ response: WireResponse, to operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer {
            .nothing
        }
    }

    @Test func operationsAreDividedAsTheCapabilitiesSay() throws {
        let ids = ["a", "b", "c", "d"]
        let dialect = Counting()
        #expect(
            try dialect.requests(for: .read(entity: thing, ids: ids)).map(\.head.path) == ["/abc", "/d"])
        #expect(
            try dialect.requests(for: .create(entity: thing, ids.map { RemoteWrite(id: $0) })).map(\.head.path)
                == ["/ab", "/cd"])
        #expect(try dialect.requests(for: .read(entity: thing, ids: [])).map(\.head.path) == ["/"])
    }
}
