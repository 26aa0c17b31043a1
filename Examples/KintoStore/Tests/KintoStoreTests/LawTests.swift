import Foundation
import HTTPTypes
import KintoStore
import StrataRemoteTesting
import Testing

/// The dialect and a real server together do what stores rely on.
@Suite(.enabled("Kinto needs Python 3 with venv and pip", { await KintoInstallation.isThere() }))
struct BackendLawTests {
    struct Servers: BackendSubject {
        let name = "Kinto"
        /// Ids of Kinto are letters, digits, `_` and `-`.
        let exceptions: Set<BackendSuite.Law> = [.identities]

        func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend { try await kinto() }
    }

    @Test("Each law of back ends holds with a real Kinto server", arguments: BackendSuite.Law.allCases)
    func holds(law: BackendSuite.Law) async {
        // Kinto reads the number 123456789.12345679 as 123456789.1234568: its JSON library is fast, not exact.
        let failures = await BackendSuite.run(Servers(), laws: [law]).filter {
            !($0.check.hasPrefix("floating-point numbers")
                && $0.message.contains("sent with a creation as 123456789.12345679"))
        }
        #expect(failures.isEmpty, "\(failures.map { "\n\($0)" }.joined())")
    }

    @Test("Primary keys that look like other JSON are found, and those that cannot be ids are refused by name")
    func identities() async throws {
        let backend = try await kinto()
        let note = try #require(try notes().entity(named: "Note"))
        let ids = ["123", "1e3", "null", "true", "007", "A", "a", "x-_9"]
        let writes = ids.map { RemoteWrite(id: $0) }
        guard case .outcomes(let outcomes) = try await backend.perform(.create(entity: note, writes), options: .init())
        else { throw KintoInstallation.Failure(description: "a creation has no outcomes") }
        #expect(outcomes.count == ids.count)
        let asked = ids + ["a,A", "with space", "-"]
        guard case .page(let page) = try await backend.perform(.read(entity: note, ids: asked), options: .init()) else {
            throw KintoInstallation.Failure(description: "a read has no page")
        }
        #expect(Set(page.records.map(\.id)) == Set(ids))
        guard case .page(let none) = try await backend.perform(.read(entity: note, ids: ["a,A"]), options: .init())
        else {
            throw KintoInstallation.Failure(description: "a read has no page")
        }
        #expect(none.records.isEmpty)
        #expect {
            try backend.check(.create(entity: note, [RemoteWrite(id: "a/b")]))
        } throws: { error in
            (error as? RemoteError)?.identity == RemoteIdentity(entity: "Note", id: "a/b")
        }
    }
}

/// The dialect holds to the laws of dialects. Nothing is sent.
@Suite struct DialectLawTests {
    static func json(_ status: Int, _ value: JSONValue) -> WireResponse {
        WireResponse(
            HTTPResponse(status: .init(code: status), headerFields: [.contentType: "application/json"]),
            body: (try? value.data()) ?? Data())
    }

    private static func list(_ records: [RemoteRecord]) -> [JSONValue] {
        records.map { ["id": .string($0.id), "last_modified": 1] }
    }

    @Test func allLawsHold() throws {
        let subject = DialectSubject(
            dialect: try KintoDialect("http://localhost:8888/v1/"),
            entity: try #require(try notes().entity(named: "Note")),
            success: { operation, _ in
                if case .delete = operation {
                    return Self.json(200, ["data": ["id": "a", "deleted": true, "last_modified": 2]])
                }
                return Self.json(200, ["data": ["id": "a", "last_modified": 2]])
            },
            failure: { Self.json($0, ["code": .integer(Int64($0)), "errno": 999, "error": "no"]) },
            list: { Self.json(200, ["data": .array(Self.list($0))]) },
            listWithUnreadable: { Self.json(200, ["data": .array(Self.list($0) + [["last_modified": 3]])]) })
        #expect(DialectSuite.run(subject) == [])
    }
}
