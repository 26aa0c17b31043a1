import Foundation
import StrataStore
import StrataRemoteTesting
import Testing

/// The dialect of the guide "Write a store for your back end", with the service that it speaks to.
@Suite struct WriteAStoreRunTests {
    @Test func dialectHoldsToItsLaws() throws {
        #expect(try WriteAStoreGuideTests.dialect() == [])
    }

    @Test func backEndHoldsToItsLaws() async {
        let failures = await WriteAStoreGuideTests.backEnd()
        #expect(failures.isEmpty, "\(failures.map { "\n\($0)" }.joined())")
    }

    @Test("The store of the guide passes the conformance suite")
    func storeConforms() async {
        let report = await WriteAStoreGuideTests.store()
        #expect(report.failures.isEmpty, "\(report)")
    }

    @MainActor @Test func anAppSavesAndFetches() async throws {
        let folder = try TestFolder()
        let names = try await WriteAStoreGuideTests.firstSteps(path: folder.path, transport: ShelfServer())
        #expect(names == ["Lima"])
    }

    /// Shelf for clients that have logged in: each token is good for some requests.
    private struct Door: HTTPTransport {
        let server = ShelfServer()
        let tokens = Guarded((issued: 0, left: 0))

        func logIn() -> String {
            tokens.withLock { tokens in
                tokens = (tokens.issued + 1, 3)
                return "\(tokens.issued)"
            }
        }

        func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
            let isOpen = tokens.withLock { tokens in
                tokens.left -= 1
                return tokens.left >= 0 && request.head.headerFields[.authorization] == "Bearer \(tokens.issued)"
            }
            return isOpen
                ? try await server.send(request, timeout: timeout)
                : WireResponse(
                    HTTPResponse(status: 401, headerFields: [.contentType: "application/json"]), body: Data())
        }
    }

    @Test func anAuthorizerLogsInAgain() async throws {
        let door = Door()
        let backend = HTTPBackend(
            dialect: ShelfDialect(authority: "shelf.example"), transport: door,
            authorizer: ShelfLogin { () throws(RemoteError) in door.logIn() })
        for _ in 0..<8 { _ = try await backend.perform(.ping, options: RequestOptions()) }
        #expect(door.tokens.withLock(\.issued) == 3)
    }

    @Test func requestsArePrinted() throws {
        #expect(try WriteAStoreGuideTests.requests() == ["GET /City"])
    }

    @Test(
        "Conditions become those of the service, with the same answer where a value is missing",
        arguments: [
            ("name == 'La \"Paz\"'", "name eq \"La \\\"Paz\\\"\""), ("3 > rank", "rank lt 3"),
            ("rank != 3", "(rank ne 3 or rank is null)"), ("NOT rank != 3", "rank eq 3"),
            ("NOT rank < 3", "(rank ge 3 or rank is null)"), ("rank == nil", "rank is null"),
            ("NOT rank == nil", "rank is not null"), ("cityId == 'a'", "id eq \"a\""),
            (
                "NOT (name == 'a' OR (rank > 1 AND rank <= 5))",
                "((name ne \"a\" or name is null) and ((rank le 1 or rank is null) or (rank gt 5 or rank is null)))"
            ),
        ])
    func conditions(format: String, text: String) throws {
        let model = try ManagedObjectModel(name: "Cities") {
            Entity("City") {
                Attribute("cityId", .string)
                Attribute("name", .string, optional: true)
                Attribute("rank", .integer64, optional: true)
                Attribute("area", .decimal, optional: true)
            }
        }
        let conditions = Conditions(entity: try #require(model.entity(named: "City")))
        #expect(try conditions.text(try FetchPredicate(format: format)) == text)
        for other in [
            "name ==[c] 'a'", "rank + 1 == 2", "name BEGINSWITH 'a'", "rank < nil", "name < 'b'", "area > 9.5",
            "rank == 'a'",
        ] {
            #expect(throws: RemoteError.self) { try conditions.text(try FetchPredicate(format: other)) }
        }
    }
}
