import Foundation
import StrataAzure
import StrataRemoteTesting
import Testing

/// The dialect holds to the laws of dialects, in all versions.
@Suite struct AzureDialectSuiteTests {
    private static func json(_ status: Int, _ value: JSONValue) -> WireResponse {
        var fields = HTTPFields()
        fields[.contentType] = "application/json"
        return WireResponse(
            HTTPResponse(status: .init(code: status), headerFields: fields), body: (try? value.data()) ?? Data())
    }

    private static func objects(_ records: [RemoteRecord]) -> [JSONValue] {
        records.map { .object(["id": .string($0.id), "version": "1"]) }
    }

    private static func numbers(_ records: [RemoteRecord]) -> [JSONValue] {
        records.map { .object(["id": Int64($0.id).map(JSONValue.integer) ?? .null]) }
    }

    private static func list(_ items: [JSONValue], _ version: AzureVersion) -> JSONValue {
        version == .datasync
            ? ["items": .array(items), "count": .integer(Int64(items.count))]
            : ["results": .array(items), "count": .integer(Int64(items.count))]
    }

    @Test(arguments: AzureVersion.allCases) func allLawsHold(version: AzureVersion) throws {
        let model = try ManagedObjectModel(name: "Notes") {
            Entity("Note") { Attribute("noteId", .string) }
        }
        let dialect = try AzureDialect(address: "https://notes.example", version: version, applicationKey: "k")
        let note = try #require(model.entity(named: "Note"))
        let subject = DialectSubject(
            dialect: WholeWrites(base: dialect), entity: note,
            success: { operation, _ in
                if case .delete = operation { return WireResponse(HTTPResponse(status: .noContent)) }
                return Self.json(200, Self.objects([RemoteRecord(entity: "Note", id: "a")])[0])
            },
            failure: { Self.json($0, ["error": "no"]) },
            list: { Self.json(200, Self.list(Self.objects($0), version)) },
            listWithUnreadable: { Self.json(200, Self.list(Self.objects($0) + [["n": 1]], version)) })
        #expect(DialectSuite.run(subject) == [])
    }

    @Test func allLawsHoldForIntegerIDs() throws {
        let model = try ManagedObjectModel(name: "Notes") {
            Entity("Note", primaryKey: "noteId") { Attribute("noteId", .integer64, optional: true) }
        }
        let note = try #require(model.entity(named: "Note"))
        var subject = DialectSubject(
            dialect: try AzureDialect(address: "https://notes.example", applicationKey: "k"), entity: note,
            success: { operation, _ in
                if case .delete = operation { return WireResponse(HTTPResponse(status: .noContent)) }
                return Self.json(200, ["id": 1])
            },
            failure: { Self.json($0, ["error": "no"]) },
            list: { Self.json(200, Self.list(Self.numbers($0), .mobileServices)) },
            listWithUnreadable: { Self.json(200, Self.list(Self.numbers($0) + [["n": 1]], .mobileServices)) })
        subject.hasIntegerKeys = true
        #expect(DialectSuite.run(subject) == [])
    }

    /// The suite writes parts of objects, which newer services do not take.
    private struct WholeWrites: RemoteDialect {
        let base: AzureDialect

        var name: String { base.name }
        var capabilities: RemoteCapabilities { base.capabilities }

        func request(for operation: RemoteOperation, options: RequestOptions) throws(RemoteError) -> WireRequest {
            guard case .update(let entity, var write) = operation else {
                return try base.request(for: operation, options: options)
            }
            write.isWhole = true
            return try base.request(for: .update(entity: entity, write), options: options)
        }

        func answer(_ response: WireResponse, to operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer {
            try base.answer(response, to: operation)
        }
    }
}
