import Foundation
import HTTPTypes
import StrataStackMob
import Testing

/// Answers that did not come from a StackMob server say nothing about objects.
@Suite struct ForeignAnswerTests {
    private let dialect: StackMobDialect

    init() throws { dialect = try StackMobDialect(publicKey: String(repeating: "k", count: 36), model: Self.model) }

    private static let model = try? ManagedObjectModel(name: "Notes") {
        Entity("Note") {
            Attribute("noteId", .string)
            Attribute("size", .integer64, optional: true)
        }
    }

    private func note() throws -> EntityDescription { try #require(Self.model?.entity(named: "Note")) }

    private func writes(_ entity: EntityDescription) -> [RemoteOperation] {
        let write = RemoteWrite(id: "1", values: ["size": .value(.integer(1))])
        return [
            .create(entity: entity, [write]), .update(entity: entity, write),
            .delete(entity: entity, RemoteWrite(id: "1")),
        ]
    }

    private func response(_ status: Int, _ body: String, type: String = "text/html") -> WireResponse {
        var fields = HTTPFields()
        fields[.contentType] = type
        return WireResponse(
            HTTPResponse(status: .init(code: status), headerFields: fields), body: Data(body.utf8))
    }

    private func kind(_ response: WireResponse, _ operation: RemoteOperation) -> RemoteError.Kind? {
        do throws(RemoteError) {
            guard case .outcomes(let list) = try dialect.answer(response, to: operation) else { return nil }
            if case .failed(let error)? = list.first { return error.kind }
            return nil
        } catch {
            return error.kind
        }
    }

    @Test(
        "A page of a portal, a proxy or a firewall stops the run", arguments: [200, 201, 302, 400, 403, 404, 407, 511])
    func markup(status: Int) throws {
        for operation in writes(try note()) {
            #expect(kind(response(status, "<html>Sign in</html>"), operation) == .invalidAnswer, "\(operation)")
        }
    }

    @Test("A success without a word about the object is none")
    func emptySuccess() throws {
        let list = writes(try note())
        for operation in list.dropLast() { #expect(kind(response(200, ""), operation) == .invalidAnswer) }
        for operation in list.dropLast() { #expect(kind(response(200, "[1]"), operation) == .invalidAnswer) }
        #expect(kind(response(202, "{}", type: "application/json"), list[0]) == .timeout)
    }

    @Test("What the server itself refuses is about the object")
    func ownRefusals() throws {
        let json = "application/json"
        for operation in writes(try note()) {
            #expect(kind(response(404, #"{"error":"no note"}"#, type: json), operation) == .notFound)
            #expect(kind(response(403, #"{"error":"no"}"#, type: json), operation) == .forbidden)
            #expect(kind(response(400, #"{"error":"no"}"#, type: json), operation) == .rejected)
        }
    }

    @Test("An object with a value of another type does not keep the others from being read")
    func unreadable() throws {
        let body = #"[{"note_id":"1","size":"big"},{"note_id":"2","size":7}]"#
        let answer = try dialect.answer(
            response(200, body, type: "application/json"), to: .query(RemoteQuery(entity: try note())))
        guard case .page(let page) = answer else {
            Issue.record("no page")
            return
        }
        #expect(page.records.map(\.id) == ["2"])
        #expect(page.unreadable.map(\.identity?.id) == ["1"])
    }
}
