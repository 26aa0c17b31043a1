import Foundation
import StrataStore
import StrataRemoteTesting
import Testing

/// Files, users and what else services add in the guide "Write a store for your back end".
@Suite struct WriteAStoreServicesTests {
    private static func json(_ status: Int, _ json: JSONValue) -> WireResponse {
        WireResponse(
            HTTPResponse(status: .init(code: status), headerFields: [.contentType: "application/json"]),
            body: (try? json.data()) ?? Data())
    }

    private static let dialect = ShelfDialect(authority: "shelf.example")

    // MARK: Files

    /// Shelf with files, in memory.
    private struct FileServer: HTTPTransport {
        let server = ShelfServer()
        let files = Guarded<[String: Data]>([:])

        func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
            let path = request.head.path ?? "/"
            guard path.hasPrefix("/files") else { return try await server.send(request, timeout: timeout) }
            return files.withLock { files in
                if request.head.method == .post {
                    let place = "/files/\(files.count)"
                    files[place] = request.body
                    return WriteAStoreServicesTests.json(201, ["url": .string("https://shelf.example\(place)")])
                }
                guard let data = files[path] else { return WriteAStoreServicesTests.json(404, [:]) }
                if request.head.method == .delete { files[path] = nil }
                return WireResponse(HTTPResponse(status: .ok), body: data)
            }
        }
    }

    @Test func aFileIsUploadedDownloadedAndDeleted() async throws {
        let model = try ManagedObjectModel(name: "Cities") {
            Entity("City") {
                Attribute("cityId", .string)
                Attribute("picture", .string, optional: true)
            }
        }
        let server = FileServer()
        let backend = HTTPBackend(dialect: ShelfWithFiles(shelf: Self.dialect), transport: server)
        let store = try RemoteStore.open(model: model, backend: backend, location: .memory(name: nil))
        let context = try PersistentContainer(store: store).newContext()
        let city = try context.insert(entityNamed: "City")
        city["picture"] = try store.stageFile(Data("me".utf8), name: "ü.jpeg", contentType: "image/jpeg")
        try await context.save()
        let reference = try #require(city["picture"] as? String)
        #expect(reference == "https://shelf.example/files/0")
        #expect(try await store.fileData(reference + "#name") == Data("me".utf8))
        try await store.deleteFile(reference)
        #expect(server.files.withLock(\.isEmpty))
        try await store.deleteFile(reference)
        await #expect(throws: StoreError.self) { try await store.deleteFile("https://elsewhere.example/files/0") }
    }

    @Test func aFileGoesAlongWithItsObject() async throws {
        let model = try ManagedObjectModel(name: "Cities") {
            Entity("City") {
                Attribute("cityId", .string)
                Attribute("picture", .string, optional: true)
            }
        }
        let backend = HTTPBackend(dialect: ShelfWithInlineFiles(shelf: Self.dialect), transport: ShelfServer())
        let store = try RemoteStore.open(model: model, backend: backend, location: .memory(name: nil))
        let context = try PersistentContainer(store: store).newContext()
        let city = try context.insert(entityNamed: "City")
        city["picture"] = try store.stageFile(Data("me".utf8), name: "me.txt", contentType: "text/plain")
        try await context.save()
        #expect(city["picture"] as? String == "data:text/plain;base64,bWU=")
        #expect(try await store.fileData("data:text/plain;base64,bWU=") == Data("me".utf8))
        await #expect(throws: StoreError.self) { try await store.fileData("https://shelf.example/files/0") }
    }

    // MARK: Users

    /// Shelf for users: everybody else is a guest, who sees nothing.
    private struct Door: HTTPTransport {
        let server = ShelfServer()
        let seconds: Double
        let authorized = Guarded(0)

        func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
            let sent = request.head.headerFields[.authorization]
            if request.head.path == "/login" {
                return WriteAStoreServicesTests.json(
                    sent == nil ? 200 : 401, ["id": "7", "token": "t", "seconds": .double(seconds)])
            }
            guard sent == "Bearer t" else { return WriteAStoreServicesTests.json(200, []) }
            authorized.withLock { $0 += 1 }
            return try await server.send(request, timeout: timeout)
        }
    }

    @Test func aSessionIsKept() async throws {
        let storage = MemorySessionStorage()
        let door = Door(seconds: 3600)
        let users = try ShelfUsers(dialect: Self.dialect, transport: door, storage: storage)
        let backend = HTTPBackend(dialect: Self.dialect, transport: door, authorizer: users)
        await #expect { try await backend.perform(.ping, options: RequestOptions()) } throws: {
            ($0 as? RemoteError)?.kind == .unauthorized
        }
        #expect(try await users.logIn("ann", password: "secret") == RemoteUser(id: "7", name: "ann"))
        // A log-in sends no session.
        try await users.logIn("ann", password: "secret")
        _ = try await backend.perform(.ping, options: RequestOptions())
        #expect(door.authorized.withLock { $0 } == 1)
        let later = try ShelfUsers(dialect: Self.dialect, transport: door, storage: storage)
        #expect(later.currentUser?.name == "ann")
        try await later.logOut()
        #expect(later.currentUser == nil && storage.session(named: "shelf") == nil)
        await #expect { try await users.signUp("bob", password: "secret") } throws: {
            ($0 as? RemoteError)?.kind == .unsupported
        }
    }

    @Test func anEndedSessionIsNotSent() async throws {
        let door = Door(seconds: 0)
        let users = try ShelfUsers(dialect: Self.dialect, transport: door, storage: MemorySessionStorage())
        try await users.logIn("ann", password: "secret")
        let backend = HTTPBackend(dialect: Self.dialect, transport: door, authorizer: users)
        await #expect { try await backend.perform(.ping, options: RequestOptions()) } throws: {
            ($0 as? RemoteError)?.kind == .unauthorized
        }
        #expect(door.authorized.withLock { $0 } == 0)
    }

    // MARK: Other services

    private static func services() throws -> (Services, city: EntityDescription) {
        let model = try ManagedObjectModel(name: "Cities") {
            Entity("City") {
                Attribute("cityId", .string)
                Attribute("population", .integer64, optional: true)
                Relationship("country", to: "Country", .optionalToOne, inverse: "cities")
            }
            Entity("Country") {
                Attribute("countryId", .string)
                Attribute("name", .string, optional: true)
                Relationship("cities", to: "City", .toMany, inverse: "country")
            }
        }
        return (Services(model: model), try #require(model.entity(named: "City")))
    }

    @Test func operationsAndSecretsAreFields() throws {
        let (services, city) = try Self.services()
        let write = RemoteWrite(
            id: "a", operations: ["population": .increment(.integer(2))], secrets: ["password": "secret"])
        let fields = try services.fields(of: write, city)
        #expect(fields == ["id": "a", "population": ["add": 2], "password": "secret"])
        #expect(throws: RemoteError.self) {
            try services.fields(of: RemoteWrite(id: "a", operations: ["population": .append([])]), city)
        }
    }

    @Test func relatedObjectsAreRecords() throws {
        let (services, city) = try Self.services()
        let record = try services.record(
            ["id": "a", "rev": 1, "country": ["id": "PE", "rev": 2, "name": "Peru"]], city)
        guard case .record(let country)? = record.values["country"] else {
            Issue.record("the country is \(String(describing: record.values["country"]))")
            return
        }
        #expect(country.identity == RemoteIdentity(entity: "Country", id: "PE"))
        #expect(country.version == "2" && country.values["name"] == .value(.string("Peru")))
        #expect(try services.record(["id": "a", "country": "PE"], city).values["country"] == .reference("PE"))
    }

    @Test func operationsAreDivided() throws {
        let (services, city) = try Self.services()
        let relation = RemoteRelation(id: "a", relationship: "tags", added: ["x"], removed: ["y"])
        #expect(try services.steps(of: .relate(entity: city, relation)).count == 2)
        let ids = (0..<120).map(String.init)
        let parts = try services.steps(of: .read(entity: city, ids: ids)).map { step in
            if case .read(_, let ids) = step { ids.count } else { 0 }
        }
        #expect(parts == [50, 50, 20])
    }

    @Test func pullsMayRepeatObjects() async {
        let failures = await BackendSuite.run(ServersWithClocks(), laws: [.cursors])
        #expect(failures.isEmpty, "\(failures)")
    }
}
