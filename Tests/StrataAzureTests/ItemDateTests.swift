import Foundation
import StrataAzure
import StrataRemoteTesting
import Testing

/// Items with dates in them.
@Suite struct AzureItemDateTests {
    private let item: JSONObject = [
        "id": "a", "due": "2012-11-03T08:44:00.000Z", "log": [["at": "2012-11-03T8:44:00.0Z", "n": 1], "12-01-01"],
        "done": true, "price": 1.5, "none": .null, "local": "2012-11-03T09:44:00+01:00",
    ]
    private let time = Date(timeIntervalSince1970: 1_351_932_240)

    @Test func textsThatAreTimesAreReadAsDatesAtAnyDepth() {
        let values = AzureDate.values(of: item)
        #expect(values.count == item.count)
        #expect(values["due"] == .date(time))
        #expect(values["log"] == .list([.composite(["at": .date(time), "n": 1]), "12-01-01"]))
        #expect(values["done"] == .boolean(true))
        #expect(values["price"] == .double(1.5))
        #expect(values["none"] == .null)
        // Only times in UTC with a Z are those of the protocol.
        #expect(values["local"] == "2012-11-03T09:44:00+01:00")
    }

    @Test func datesAreSentAsTextsWithMilliseconds() throws {
        let sent = try AzureDate.item(of: [
            "id": "a", "due": .date(time), "log": [.composite(["at": .date(time)])], "none": .null,
        ])
        #expect(
            sent == [
                "id": "a", "due": "2012-11-03T08:44:00.000Z", "log": [["at": "2012-11-03T08:44:00.000Z"]],
                "none": .null,
            ])
        #expect(try AzureDate.json(of: .date(time)) == "2012-11-03T08:44:00.000Z")
    }

    @Test(arguments: [
        Value.binary(Data([1])), .uuid(UUID()), .geoPoint(GeoPoint(latitude: 1, longitude: 2)), .double(.infinity),
        .date(Date(timeIntervalSince1970: 253_402_300_800)), .list([.binary(Data())]),
        .set(ValueSet([Value.string("a")])),
    ])
    func valuesThatJSONDoesNotHaveAreRefusedByColumn(value: Value) throws {
        for version in AzureVersion.allCases {
            let error = #expect(throws: RemoteError.self) {
                try AzureDate.item(of: ["id": "a", "photo": .composite(["data": value])], version: version)
            }
            #expect(error?.code == AzureError.invalidItem.rawValue)
            #expect(error?.domain == version.errorDomain)
            #expect(error?.message.hasPrefix("photo.data: ") == true)
        }
    }

    @Test func rowsOfATableHaveDates() async throws {
        let transport = ScriptedTransport()
        var configuration = try AzureConfiguration("https://notes.example")
        configuration.transport = transport
        configuration.sessionStorage = MemorySessionStorage()
        let notes = AzureClient(configuration).table("Note")
        transport.answer(json: #"[{"id":"a","createdAt":"2012-11-03T08:44:00.000Z"}]"#)
        let rows = try await notes.read()
        #expect(rows.items[0]["createdAt"] == "2012-11-03T08:44:00.000Z")
        #expect(rows.values == [["id": "a", "createdAt": .date(time)]])
        transport.answer(json: #"{"id":"a"}"#, status: 201)
        try await notes.insert(try AzureDate.item(of: ["due": .date(time)]))
        let body = try #require(transport.requests.last?.body)
        #expect(try JSONValue(parsing: body) == ["due": "2012-11-03T08:44:00.000Z"])
    }
}
