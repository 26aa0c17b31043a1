import Foundation
import StrataStackMob
import StrataStore
import StrataRemoteTesting
import Testing

@Suite struct CustomCodeTests {
    @Test func parametersStayInOrderAndTheBodyAsItIs() async throws {
        let rig = try ClientRig()
        rig.transport.answer(json: "1")
        var request = CustomCodeRequest("method", method: .put, body: Data("any text".utf8))
        request.add("a", "3")
        request.add("a", "1")
        request.add("bob", "5 &")
        let reply = try await rig.client.perform(request)
        #expect(reply == .json(1))
        let sent = rig.transport.requests[0]
        #expect(sent.url == "http://api.stackmob.com/method?a=3&a=1&bob=5%20%26")
        #expect(sent.body == Data("any text".utf8))
        #expect(sent.header("Content-Type") == nil)
        #expect(sent.header("Accept") == "application/vnd.stackmob+json; version=0")
    }

    @Test(arguments: [
        ("application/json", #"{"a":[1]}"#, CustomCodeReply.json(["a": [1]])),
        ("application/vnd.stackmob+json; charset=utf-8", "true", .json(true)),
        ("text/plain; charset=utf-8", "hé", .text("hé")),
        ("application/octet-stream", "\u{1}", .data(Data([1]), contentType: "application/octet-stream")),
        ("application/json", "", .json(.null)),
    ])
    func repliesAreReadByTheirType(_ type: String, _ body: String, _ expected: CustomCodeReply) async throws {
        let rig = try ClientRig()
        rig.transport.answer(headers: ["Content-Type": type], body: Data(body.utf8))
        #expect(try await rig.client.perform(CustomCodeRequest("m")) == expected)
    }

    @Test func otherTypesAreTakenWhenDeclared() async throws {
        let rig = try ClientRig()
        for _ in 0..<2 { rig.transport.answer(headers: ["Content-Type": "image/png"], body: Data([7])) }
        let error = await remoteError { _ = try await rig.client.perform(CustomCodeRequest("m")) }
        #expect(error?.kind == .invalidAnswer)
        #expect(error?.message.contains("image/png") == true)
        var request = CustomCodeRequest("m")
        request.acceptedContentTypes = ["Image/PNG"]
        #expect(try await rig.client.perform(request) == .data(Data([7]), contentType: "image/png"))
    }

    @Test func brokenJSONIsNamed() async throws {
        let rig = try ClientRig()
        rig.transport.answer(json: "{")
        #expect(await remoteError { _ = try await rig.client.perform(CustomCodeRequest("m")) }?.kind == .invalidAnswer)
    }

    @Test func noNameIsAnInvalidArgument() async throws {
        let rig = try ClientRig()
        #expect(await remoteError { _ = try await rig.client.perform(CustomCodeRequest("")) }?.code == -100)
        #expect(rig.transport.requests.isEmpty)
    }

    @Test func theRetryBlockDecides() async throws {
        let rig = try ClientRig()
        for _ in 0..<2 { rig.transport.answer(status: 503, headers: ["Retry-After": "2"]) }
        rig.transport.answer(json: "1")
        let left = Guarded<[Int]>([])
        var request = CustomCodeRequest("busy")
        request.retryBlock = { situation in
            left.withLock { $0.append(situation.retriesLeft) }
            guard situation.retriesLeft < 2 else { return .sendAgain }
            var other = situation.request
            other.head.path = "/other"
            return .send(other)
        }
        #expect(try await rig.client.perform(request) == .json(1))
        #expect(rig.paths == ["GET /busy", "GET /busy", "GET /other"])
        #expect(left.withLock { $0 } == [2, 1])
        #expect(rig.clock.sleeps == [2, 2])
    }

    @Test func theRetryBlockMayGiveUp() async throws {
        let rig = try ClientRig()
        rig.transport.answer(status: 503, headers: ["Retry-After": "2"])
        var request = CustomCodeRequest("busy")
        request.retryBlock = { _ in .giveUp }
        let error = await remoteError { _ = try await rig.client.perform(request) }
        #expect(error?.code == 503)
        #expect(rig.transport.requests.count == 1)
    }

    @Test func optionsMakeItSecureAndAddHeaders() async throws {
        let rig = try ClientRig()
        rig.transport.answer(json: "1")
        var options = RequestOptions()
        options.isSecure = true
        options.headers = ["X-Extra": "yes"]
        _ = try await rig.client.perform(CustomCodeRequest("a/b c", method: .delete), options: options)
        #expect(rig.transport.requests[0].url == "https://api.stackmob.com/a/b%20c")
        #expect(rig.transport.requests[0].header("X-Extra") == "yes")
    }
}
