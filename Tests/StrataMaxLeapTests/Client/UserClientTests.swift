import Foundation
import StrataMaxLeap
import StrataRemoteTesting
import Testing

@Suite struct UserClientTests {
    private let user = #"{"objectId":"u1","username":"bob","sessionToken":"T","createdAt":"2016-04-21T09:12:59.585Z"}"#

    @Test func aSessionIsKeptForTheNextLaunch() async throws {
        let storage = MemorySessionStorage()
        let rig = try ClientRig(storage: storage)
        rig.transport.answer(json: user)
        try await rig.client.logIn(username: "bob", password: "p&q")
        #expect(rig.transport.requests[0].parameters == ["username": "bob", "password": "p&q"])
        let next = try ClientRig(storage: storage)
        #expect(next.client.currentUser?["username"] == "bob")
        next.transport.answer(json: #"{"results":[]}"#)
        _ = try await next.client.find(MaxLeapQuery("A"))
        #expect(next.transport.requests[0].header("X-ML-Session-Token") == "T")
        next.transport.answer(json: #"{"success":true}"#)
        try await next.client.logOut()
        #expect(try !ClientRig(storage: storage).client.session.isLoggedIn)
    }

    @Test func anAnonymousUserBecomesOneWithAName() async throws {
        let rig = try ClientRig(.parse)
        rig.transport.answer(json: user, status: 201)
        let anonymous = try await rig.client.automaticUser()
        #expect(anonymous.isAnonymous)
        #expect(rig.transport.requests[0].header("X-Parse-Revocable-Session") == "1")
        #expect(try await rig.client.automaticUser() == anonymous)
        rig.transport.answer(json: #"{"updatedAt":"\#(testTime)"}"#)
        let named = try await rig.client.signUp(username: "eve", password: "p", fields: ["age": 7])
        #expect(rig.paths == ["POST /parse/users", "PUT /parse/users/u1"])
        #expect(
            rig.transport.requests[1].json == [
                "username": "eve", "password": "p", "age": 7, "authData": ["anonymous": nil],
            ])
        #expect(named["username"] == "eve")
        #expect(!named.isAnonymous)
        #expect(rig.client.currentUser == named)
        #expect(named.values["password"] == nil)
    }

    @Test func accountsElsewhereAreLinkedAndUnlinked() async throws {
        let rig = try ClientRig()
        await #expect { try await rig.client.unlink("facebook") } throws: { ($0 as? RemoteError)?.code == 206 }
        try rig.logIn()
        let data = try MaxLeapAuthData.facebook(id: "9", accessToken: "t", expiration: Date(timeIntervalSince1970: 0))
        rig.transport.answer(json: #"{"number":1,"updatedAt":"\#(testTime)"}"#)
        try await rig.client.link(data)
        #expect(rig.client.currentUser?.authData(of: "facebook")?["id"] == "9")
        rig.transport.answer(json: #"{"number":1,"updatedAt":"\#(testTime)"}"#)
        try await rig.client.unlink("facebook")
        #expect(rig.client.currentUser?.authData(of: "facebook") == nil)
        #expect(rig.transport.requests[1].json == ["authData": ["facebook": nil]])
        #expect(rig.paths == ["PUT /2.0/users/u1", "PUT /2.0/users/u1"])
    }

    @Test func passwordsAreChangedAndChecked() async throws {
        let rig = try ClientRig()
        try rig.logIn()
        rig.transport.answer(json: #"{"number":1,"updatedAt":"\#(testTime)"}"#)
        try await rig.client.changePassword(from: "a", to: "b")
        #expect(rig.transport.requests[0].json == ["password": "a", "newPassword": "b"])
        rig.transport.answer(json: #"{"errorCode":210,"errorMessage":"no"}"#, status: 400)
        #expect(try await !rig.client.isPassword("c"))
        rig.transport.answer(json: user)
        #expect(try await rig.client.isPassword("b"))
        #expect(rig.client.session.token == "S")
        rig.transport.answer(json: #"{"success":true}"#)
        try await rig.client.requestPasswordReset(email: "e@x.y")
        await #expect { try await rig.client.requestEmailVerify(email: "") } throws: {
            ($0 as? RemoteError)?.code == MaxLeapError.emailMissing.rawValue
        }
        #expect(rig.transport.requests.count == 4)
    }

    @Test func theEndOfASessionIsTold() async throws {
        let rig = try ClientRig()
        try rig.logIn()
        let codes = Codes()
        rig.client.session.onEnd { codes.add($0.code) }
        rig.transport.answer(json: #"{"code":160,"error":"invalid session"}"#, status: 400)
        await #expect(throws: RemoteError.self) { try await rig.client.find(MaxLeapQuery("A")) }
        #expect(codes.all == [160])
        // A logout of it ends it here all the same.
        rig.transport.answer(json: #"{"code":160,"error":"invalid session"}"#, status: 400)
        try await rig.client.logOut()
        #expect(!rig.client.session.isLoggedIn)
    }

    @Test func whatADialectLacksIsAnErrorBeforeAnythingIsSent() async throws {
        let rig = try ClientRig(.parse)
        await #expect { try await rig.client.requestLoginCode(phone: "1") } throws: {
            ($0 as? RemoteError)?.code == MaxLeapError.commandUnavailable.rawValue
        }
        #expect(rig.transport.requests.isEmpty)
    }
}
