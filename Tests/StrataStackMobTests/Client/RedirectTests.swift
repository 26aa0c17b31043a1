import Foundation
import StrataStackMob
import StrataRemoteTesting
import Testing

@Suite struct RedirectTests {
    @Test(arguments: [
        ("/moved/1?a=b#part", "http://api.stackmob.com/moved/1?a=b"),
        ("http://API.stackmob.com/moved", "http://API.stackmob.com/moved"),
        ("http://api.stackmob.com:8080/moved", "http://api.stackmob.com:8080/moved"),
        ("https://api.stackmob.com", "https://api.stackmob.com/"),
    ])
    func withinTheHostItIsFollowedAndSignedAnew(_ location: String, _ url: String) async throws {
        let rig = try ClientRig()
        rig.logIn()
        rig.transport.answer(status: 302, headers: ["Location": location])
        rig.transport.answer(json: #"{"a":1}"#)
        #expect(try await rig.client.dataStore.read("1", in: "todo") == ["a": 1])
        let sent = rig.transport.requests
        #expect(sent[1].url == url)
        let expected = MACCredentials(accessToken: "A", key: "K").authorization(
            for: sent[1], seconds: Int64(rig.clock.now.timeIntervalSince1970), nonce: "n2")
        #expect(sent[1].header("Authorization") == expected)
    }

    @Test(arguments: [
        "http://evil.com/todo/1", "//evil.com/todo", "http://api.stackmob.com.evil.com/",
        "http://api.stackmob.com@evil.com/",
        "ftp://api.stackmob.com/", "", "todo",
    ])
    func anyOtherIsAnError(_ location: String) async throws {
        let rig = try ClientRig()
        rig.logIn()
        rig.transport.answer(status: 302, headers: ["Location": location])
        #expect(await remoteError { _ = try await rig.client.dataStore.read("1", in: "todo") }?.code == 302)
        #expect(rig.transport.requests.count == 1)
    }

    @Test func notFromHTTPSToHTTPAndNotAfterAPost() async throws {
        let rig = try ClientRig()
        var options = RequestOptions()
        options.isSecure = true
        let secure = options
        rig.transport.answer(status: 302, headers: ["Location": "http://api.stackmob.com/x"])
        #expect(
            await remoteError { _ = try await rig.client.dataStore.read("1", in: "todo", options: secure) }?.code == 302
        )
        rig.transport.answer(status: 302, headers: ["Location": "/x"])
        #expect(await remoteError { try await rig.client.dataStore.create(["a": 1], in: "todo") }?.code == 302)
        #expect(rig.transport.requests.count == 2)
    }

    @Test func a307KeepsMethodAndBody() async throws {
        let rig = try ClientRig()
        rig.transport.answer(status: 307, headers: ["Location": "/x"])
        rig.transport.answer(json: "{}")
        try await rig.client.dataStore.create(["a": 1], in: "todo")
        #expect(rig.paths == ["POST /todo", "POST /x"])
        #expect(rig.transport.requests[1].json == ["a": 1])
    }

    @Test func aCircleEnds() async throws {
        let rig = try ClientRig()
        rig.transport.handle { _ in .scripted(status: 302, headers: ["Location": "/todo/1"]) }
        #expect(await remoteError { _ = try await rig.client.dataStore.read("1", in: "todo") }?.code == 302)
        #expect(rig.transport.requests.count == 6)
    }
}
