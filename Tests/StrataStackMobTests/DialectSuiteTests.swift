import Foundation
import HTTPTypes
import StrataStackMob
import StrataRemoteTesting
import Testing

/// The StackMob dialect holds to the laws of dialects, and the suite sees a dialect that breaks one.
@Suite struct DialectSuiteTests {
    private static func json(_ status: Int, _ value: JSONValue) -> WireResponse {
        var fields = HTTPFields()
        fields[.contentType] = "application/json"
        return WireResponse(
            HTTPResponse(status: .init(code: status), headerFields: fields), body: (try? value.data()) ?? Data())
    }

    private static func objects(_ records: [RemoteRecord]) -> [JSONValue] {
        records.map { .object(JSONObject([(name: "note_id", value: .string($0.id))])) }
    }

    private func subject(_ change: (StackMobDialect) -> any RemoteDialect = { $0 }) throws -> DialectSubject {
        let model = try ManagedObjectModel(name: "Notes") {
            Entity("Note") { Attribute("noteId", .string) }
        }
        let dialect = try StackMobDialect(publicKey: String(repeating: "k", count: 36), model: model)
        return DialectSubject(
            dialect: change(dialect), entity: try #require(model.entity(named: "Note")),
            success: { operation, _ in
                if case .delete = operation { return Self.json(200, .object(JSONObject([]))) }
                return Self.json(200, Self.objects([RemoteRecord(entity: "Note", id: "a")])[0])
            },
            failure: { Self.json($0, .object(JSONObject([(name: "error", value: .string("no"))]))) },
            list: { Self.json(200, .array(Self.objects($0))) },
            listWithUnreadable: { Self.json(200, .array(Self.objects($0) + [.object(JSONObject([]))])) })
    }

    @Test func stackMobHoldsToAllLaws() throws {
        #expect(DialectSuite.run(try subject()) == [])
    }

    /// A dialect with a defect.
    private struct Defective: RemoteDialect {
        let base: StackMobDialect
        let law: DialectSuite.Law

        var name: String { base.name }
        var capabilities: RemoteCapabilities { base.capabilities }

        func request(for operation: RemoteOperation, options: RequestOptions) throws(RemoteError) -> WireRequest {
            try base.request(for: operation, options: options)
        }

        func answer(_ response: WireResponse, to operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer {
            let isWrite = if case .query = operation { false } else { true }
            switch law {
            case .foreignAnswers where isWrite && response.body.starts(with: Data("<".utf8)) && response.status == 200:
                return .outcomes([.done(nil)])
            case .emptySuccess where isWrite && response.body.isEmpty: return .outcomes([.done(nil)])
            case .statuses where response.status == 401:
                return .outcomes([.failed(RemoteError(.rejected, message: "no"))])
            case .pairing where response.status == 400 && !response.body.starts(with: Data("<".utf8)):
                return .outcomes([
                    .failed(RemoteError(.rejected, message: "no", identity: RemoteIdentity(entity: "Note", id: "b")))
                ])
            case .unreadableRecords:
                let answer = try base.answer(response, to: operation)
                if case .page(let page) = answer, let first = page.unreadable.first { throw first.error }
                return answer
            case .identities:
                guard case .page(var page) = try base.answer(response, to: operation) else {
                    return try base.answer(response, to: operation)
                }
                for index in page.records.indices { page.records[index].id = page.records[index].id.lowercased() }
                return .page(page)
            default: return try base.answer(response, to: operation)
            }
        }
    }

    @Test(arguments: DialectSuite.Law.allCases) func aDefectIsCaughtByName(law: DialectSuite.Law) throws {
        let found = DialectSuite.run(try subject { Defective(base: $0, law: law) })
        #expect(Set(found.map(\.law)) == [law])
    }
}
