import Foundation
import StrataAzure
import StrataRemoteTesting
import Testing

/// Integer ids on the wire, and the models that are refused.
@Suite struct AzureIntegerKeyTests {
    private let note: EntityDescription

    init() throws {
        let model = try Self.model()
        note = try #require(model.entity(named: "Note"))
    }

    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Notes") {
            Entity("Note", primaryKey: "noteId") {
                Attribute("noteId", .integer64, optional: true)
                Attribute("text", .string, optional: true)
                Attribute("version", .integer64, optional: true)
                Relationship("parent", to: "Note", .optionalToOne, inverse: "children")
                Relationship("children", to: "Note", .toMany, inverse: "parent")
            }
        }
    }

    private func dialect(_ version: AzureVersion = .mobileServices) throws -> AzureDialect {
        try AzureDialect(address: "https://notes.example", version: version, applicationKey: "k")
    }

    private func refusal(_ version: AzureVersion) throws -> String? {
        let model = try Self.model()
        let dialect = try dialect(version)
        do throws(RemoteError) {
            try dialect.check(model)
            return nil
        } catch {
            #expect(error.kind == .unsupported)
            return error.message
        }
    }

    @Test("Integers are ids only in the first version; the error says what to declare")
    func models() throws {
        #expect(try refusal(.mobileServices) == nil)
        for version in [AzureVersion.mobileApps, .datasync] {
            let message = try refusal(version)
            #expect(message?.contains("Note.noteId") == true)
            #expect(message?.contains("only tables of Mobile Services have integers as ids") == true)
            #expect(message?.contains("declare the primary key as a string") == true)
        }
    }

    @Test("A store over a newer service refuses such a model when it is opened")
    func store() throws {
        let backend = try AzureClient("https://notes.example").backend
        #expect {
            try RemoteStore.open(model: try Self.model(), backend: backend, location: .memory(name: nil))
        } throws: {
            "\($0)".contains("Note.noteId") && "\($0)".contains("declare the primary key as a string")
        }
    }

    @Test("Creations have no id, changes have a number, and nothing names columns of the server's own")
    func requests() throws {
        let dialect = try dialect()
        let write = RemoteWrite(id: "7", values: ["parent": .reference("3"), "version": .value(.integer(2))])
        let body: JSONValue = ["parent": 3, "version": 2]
        for id in ["-5", "0", "7"] {
            var new = write
            new.id = id
            let request = try dialect.request(for: .create(entity: note, [new]), options: RequestOptions())
            #expect(request.head.path == "/tables/Note")
            #expect(try JSONValue(parsing: request.body ?? Data()) == body)
        }
        let change = try dialect.request(for: .update(entity: note, write), options: RequestOptions())
        #expect(change.head.path == "/tables/Note/7")
        #expect(try JSONValue(parsing: change.body ?? Data()) == ["id": 7, "parent": 3, "version": 2])
        for id in ["-5", "0", "x", "99999999999999999999"] {
            let error = #expect(throws: RemoteError.self) {
                try dialect.request(for: .delete(entity: note, RemoteWrite(id: id)), options: RequestOptions())
            }
            #expect(error?.code == AzureError.invalidItemID.rawValue)
        }
        let unknown = RemoteWrite(id: "7", values: ["parent": .reference("-3")])
        let error = #expect(throws: RemoteError.self) {
            try dialect.request(for: .update(entity: note, unknown), options: RequestOptions())
        }
        #expect(error?.message.contains("Note.parent") == true)
        let one = try dialect.request(for: .read(entity: note, ids: ["7"]), options: RequestOptions())
        #expect(one.head.path == "/tables/Note/7")
        let several = try dialect.request(
            for: .read(entity: note, ids: ["7", "3000000000"]), options: RequestOptions())
        #expect(several.head.path?.contains("((id%20eq%207)%20or%20(id%20eq%203000000000l))") == true)
        let none = try dialect.request(for: .read(entity: note, ids: ["x"]), options: RequestOptions())
        #expect(none.head.path?.contains("(1%20eq%200)") == true)
    }

    @Test("An answer tells a number; one without a number is an error, and 0 is none")
    func answers() throws {
        let dialect = try dialect()
        func outcome(_ json: String) throws -> RemoteRecord? {
            let response = WireResponse.scripted(json: json, status: 201, headers: ["ETag": "\"x\""])
            let operation = RemoteOperation.create(entity: note, [RemoteWrite(id: "-5")])
            guard case .outcomes(let list) = try dialect.answer(response, to: operation),
                case .done(let record)? = list.first
            else {
                return nil
            }
            return record
        }
        let record = try outcome(#"{"id":7,"text":"a","version":3,"parent":2}"#)
        #expect(record?.id == "7")
        #expect(record?.values["noteId"] == .value(.integer(7)))
        #expect(record?.values["version"] == .value(.integer(3)))
        #expect(record?.values["parent"] == .reference("2"))
        #expect(record?.version == nil && record?.modified == nil)
        // The row is there, whatever else the answer tells.
        #expect(try outcome(#"{"id":8,"text":[]}"#) == RemoteRecord(entity: "Note", id: "8"))
        for id in ["0", "null", "\"\"", "{}"] {
            #expect { _ = try outcome(#"{"id":\#(id)}"#) } throws: { "\($0)".contains("has no id") }
        }
        // The tables of the service have texts as ids: another attempt would make another row.
        let told = WireResponse.scripted(json: #"{"id":"a-b"}"#, status: 201)
        let creation = RemoteOperation.create(entity: note, [RemoteWrite(id: "-5")])
        guard case .outcomes(let list) = try dialect.answer(told, to: creation), case .failed(let error)? = list.first
        else {
            Issue.record("the creation has failed")
            return
        }
        #expect(error.kind == .rejected && error.message.contains("declare the primary key as a string"))
    }
}
