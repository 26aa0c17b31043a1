import Foundation
import StrataMaxLeap
import StrataRemoteTesting
import Testing

/// Both dialects hold to the laws of dialects.
@Suite struct DialectSuiteTests {
    private static func json(_ status: Int, _ value: JSONValue) -> WireResponse {
        .scripted(json: value.description, status: status)
    }

    private static func page(_ records: [RemoteRecord], and more: [JSONValue] = []) -> WireResponse {
        json(200, ["results": .array(records.map { ["objectId": .string($0.id)] } + more)])
    }

    private func subject(_ flavor: MaxLeapFlavor, error: JSONValue) throws -> DialectSubject {
        let model = try ManagedObjectModel(name: "Notes") {
            Entity("Note") { Attribute("noteId", .string) }
        }
        let dialect = try testDialect(flavor, model: model)
        return DialectSubject(
            dialect: dialect, entity: try #require(model.entity(named: "Note")),
            success: { operation, _ in
                switch operation {
                case .create: Self.json(201, ["objectId": "a", "createdAt": "2016-04-21T09:12:59.585Z"])
                case .update: Self.json(200, ["number": 1, "updatedAt": "2016-04-21T09:12:59.585Z"])
                default: Self.json(200, flavor == .maxLeap ? ["number": 1] : [:])
                }
            },
            failure: { Self.json($0, error) }, list: { Self.page($0) },
            listWithUnreadable: { Self.page($0, and: [["title": "no identifier"]]) })
    }

    @Test(arguments: MaxLeapFlavor.allCases) func theDialectHoldsToAllLaws(flavor: MaxLeapFlavor) throws {
        #expect(DialectSuite.run(try subject(flavor, error: ["error": "no"])) == [])
        // A code without a meaning of its own leaves the meaning to the status, in either spelling.
        #expect(DialectSuite.run(try subject(flavor, error: ["errorCode": 105, "errorMessage": "no"])) == [])
    }
}
