import Foundation
import StrataMaxLeap
import StrataRemoteTesting
import Testing

/// What answers ask of the client: to wait, to log in again, or nothing.
@Suite struct ReactionTests {
    private static let limited: [(flavor: MaxLeapFlavor, status: Int, body: String)] = [
        (.parse, 400, #"{"code":155,"error":"slow down"}"#), (.parse, 429, #"{"code":155,"error":"slow down"}"#),
        (.maxLeap, 200, #"{"errorCode":503,"errorMessage":"slow down"}"#),
        (.maxLeap, 400, #"{"errorCode":503,"errorMessage":"slow down"}"#),
        (.maxLeap, 503, #"{"errorCode":503,"errorMessage":"slow down"}"#),
    ]

    @Test("A request that the server refuses because there are too many is sent again", arguments: limited)
    func tooManyRequests(flavor: MaxLeapFlavor, status: Int, body: String) async throws {
        let rig = try ClientRig(flavor)
        rig.transport.answer(json: body, status: status)
        rig.transport.answer(json: body, status: status, headers: ["Retry-After": "7"])
        rig.transport.answer(json: #"{"objectId":"a","createdAt":"\#(testTime)"}"#, status: 201)
        let saved = try await rig.client.save(MaxLeapObject("Post"))
        #expect(saved.objectId == "a")
        // Without the header, a second.
        #expect(rig.clock.sleeps == [1, 7])
    }

    @Test("After some repetitions the refusal is an error", arguments: limited)
    func alwaysTooManyRequests(flavor: MaxLeapFlavor, status: Int, body: String) async throws {
        let rig = try ClientRig(flavor)
        rig.transport.handle { _ in .scripted(json: body, status: status) }
        let error = await #expect(throws: RemoteError.self) { try await rig.client.save(MaxLeapObject("Post")) }
        #expect(error?.kind == .throttled)
        #expect(rig.clock.sleeps == [1, 1, 1] && rig.transport.requests.count == 4)
    }

    @Test("A field of an object with the name of a code asks for nothing", arguments: [155, 160, 209, 503])
    func fields(code: Int) async throws {
        let response = WireResponse.scripted(json: #"{"objectId":"a","code":\#(code)}"#)
        for flavor in MaxLeapFlavor.allCases { #expect(try testDialect(flavor).reaction(to: response) == nil) }
        let rig = try ClientRig(.maxLeap)
        rig.transport.answer(response)
        #expect(try await rig.client.fetch(MaxLeapPointer("Post", "a"))["code"] == .integer(Int64(code)))
        #expect(rig.clock.sleeps.isEmpty)
    }

    @Test("The difference to the server's clock is learned", arguments: MaxLeapFlavor.allCases)
    func clock(flavor: MaxLeapFlavor) async throws {
        let rig = try ClientRig(flavor)
        let backend = rig.client.backend(for: try ManagedObjectModel(name: "Empty") {})
        rig.transport.answer(json: "{}", headers: ["Date": "Tue, 14 May 2013 01:00:00 GMT"])
        _ = try await backend.perform(.ping, options: RequestOptions())
        // The clock of the test shows midnight, and the header has whole seconds.
        #expect(abs(backend.clockOffset - 3600) <= 0.5)
    }
}
