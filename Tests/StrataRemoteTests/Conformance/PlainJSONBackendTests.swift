import Foundation
import PlainJSONStore
import Strata
import StrataStore
import StrataRemoteTesting
import Testing

/// The back end of somebody else does what stores must be able to rely on.
@Suite struct PlainJSONBackendTests {
    private struct Subject: BackendSubject {
        let name = "Plain JSON"
        let datePrecision = 0.0
        func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend {
            HTTPBackend(dialect: PlainJSONDialect(authority: "localhost"), transport: PlainJSONServer())
        }
    }

    @Test("A file that goes along with its object is sent as a text, and read from it", arguments: [true, false])
    func files(isAddress: Bool) async throws {
        let model = try ManagedObjectModel(name: "Notes") {
            Entity("Note") {
                Attribute("noteId", .string)
                Attribute("picture", isAddress ? .uri : .string, optional: true)
            }
        }
        let server = PlainJSONServer()
        func open() throws -> (RemoteStore, ManagedObjectContext) {
            let store = try RemoteStore.open(
                model: model,
                backend: HTTPBackend(dialect: PlainJSONDialect(authority: "localhost"), transport: server),
                location: .memory(name: nil))
            return (store, try PersistentContainer(store: store).newContext())
        }
        func reference(_ note: ManagedObject) -> String? {
            isAddress ? (note["picture"] as? URL)?.absoluteString : note["picture"] as? String
        }
        let bytes = Data([0, 1, 0xFE, 0xFF])
        let (store, context) = try open()
        let note = try context.insert(entityNamed: "Note")
        let staged = try store.stageFile(bytes, name: "me.png", contentType: "image/png")
        note["picture"] = isAddress ? URL(string: staged) : staged
        #expect(try await store.fileData(staged) == bytes)
        try await context.save()
        // The object and its file are one request.
        #expect(server.requestCount == 1)
        #expect(reference(note) == "data:image/png;base64,AAH+/w==")
        #expect(try await store.fileData(try #require(reference(note))) == bytes)
        // Other devices get the file with the object, and need no request to read it.
        let (other, otherContext) = try open()
        let found = try await otherContext.fetch(FetchRequest<ManagedObject>(entity: "Note"))
        let count = server.requestCount
        #expect(try await other.fileData(try #require(found.first.flatMap(reference))) == bytes)
        #expect(server.requestCount == count)
        await #expect(throws: StoreError.self) { try await other.fileData("https://elsewhere.example/me.png") }
        await #expect(throws: StoreError.self) { try await other.deleteFile("data:,") }
    }

    @Test("Each law of back ends holds for the store of plain JSON", arguments: BackendSuite.Law.allCases)
    func holds(law: BackendSuite.Law) async {
        let failures = await BackendSuite.run(Subject(), laws: [law])
        #expect(failures.isEmpty, "\(failures.map { "\n\($0)" }.joined())")
    }
}
