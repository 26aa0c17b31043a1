import Foundation
import StrataMaxLeap
import StrataRemoteTesting
import Testing

/// Mail addresses, phones, accounts at other services, and roles.
@Suite struct AccountTests {
    private func updated(_ rig: ClientRig, _ more: String = "") {
        rig.transport.answer(json: #"{"number":1,"updatedAt":"\#(testTime)"\#(more)}"#)
    }

    @Test("An address is verified, is not yet, or nobody asks", arguments: [true, false, nil] as [Bool?])
    func states(isVerified: Bool?) async throws {
        let rig = try ClientRig()
        let field = isVerified.map { #","emailVerified":\#($0)"# } ?? ""
        rig.transport.answer(
            json: #"{"objectId":"u1","username":"bob","email":"a@x.y","sessionToken":"T"\#(field)}"#)
        let user = try await rig.client.logIn(username: "bob", password: "p")
        #expect(user.isEmailVerified == isVerified)
        #expect(rig.client.currentUser?.isEmailVerified == isVerified)
    }

    @Test("Another address has to be verified again")
    func otherAddress() async throws {
        let rig = try ClientRig()
        try rig.logIn(["email": "a@x.y", "emailVerified": true])
        var user = try #require(rig.client.currentUser)
        user["age"] = 7
        updated(rig)
        user = try await rig.client.save(user)
        #expect(user.isEmailVerified == true)
        user["email"] = "b@x.y"
        updated(rig)
        user = try await rig.client.save(user)
        #expect(user.isEmailVerified == false && rig.client.currentUser?.isEmailVerified == false)
        user["email"] = "c@x.y"
        updated(rig, #","emailVerified":true"#)
        user = try await rig.client.save(user)
        #expect(user.isEmailVerified == true)
        user["email"] = nil
        updated(rig)
        user = try await rig.client.save(user)
        #expect(user.isEmailVerified == nil)
        // A server that does not verify addresses does not begin to.
        user["email"] = "d@x.y"
        updated(rig)
        #expect(try await rig.client.save(user).isEmailVerified == nil)
    }

    @Test("What a user must verify first is forbidden until then", arguments: [(215, "email"), (254, "phone")])
    func unverified(code: Int, what: String) async throws {
        let rig = try ClientRig()
        rig.transport.answer(json: #"{"errorCode":\#(code),"errorMessage":"\#(what) not verified"}"#, status: 400)
        await #expect { try await rig.client.logIn(username: "bob", password: "p") } throws: {
            ($0 as? RemoteError)?.code == code && ($0 as? RemoteError)?.kind == .forbidden
        }
        #expect(MaxLeapError(rawValue: code) == (code == 215 ? .emailNotVerified : .phoneNotVerified))
    }

    @Test("All codes of the protocol have a name")
    func codes() {
        let codes =
            [-1, 1, 2] + Array(100...113) + [115, 116] + Array(118...130) + [136, 137, 139, 140, 141, 142, 143]
            + Array(150...153) + [160] + Array(200...217) + Array(220...226) + Array(239...243) + Array(250...254)
            + [301, 401, 503, 601, 602]
        #expect(codes.filter { MaxLeapError(rawValue: $0) == nil } == [])
        #expect(Set(MaxLeapError.allCases.filter { $0 != .changed }.map(\.rawValue)) == Set(codes))
    }

    @Test("A phone is verified by a code, for the user who is logged in")
    func phones() async throws {
        let rig = try ClientRig()
        try rig.logIn()
        for _ in 0..<2 { rig.transport.answer(json: #"{"success":true}"#) }
        try await rig.client.request(.requestPhoneVerify(phone: "+47123"))
        try await rig.client.request(.verifyPhone(code: "0815"))
        #expect(rig.paths == ["POST /2.0/requestMobilePhoneVerify", "POST /2.0/verifyMobilePhone/0815"])
        #expect(rig.transport.requests[0].json == ["mobilePhone": "+47123"])
        #expect(rig.transport.requests.map { $0.header("X-ML-Session-Token") } == ["S", "S"])
        for action in [MaxLeapUserAction.requestPhoneVerify(phone: ""), .verifyPhone(code: "")] {
            await #expect(throws: RemoteError.self) { try await rig.client.request(action) }
        }
        #expect(rig.transport.requests.count == 2)
        let parse = try ClientRig(.parse)
        await #expect { try await parse.client.request(.verifyPhone(code: "1")) } throws: {
            ($0 as? RemoteError)?.code == MaxLeapError.commandUnavailable.rawValue
        }
    }

    @Test(
        "An anonymous user who is linked with an account elsewhere is anonymous no longer",
        arguments: MaxLeapFlavor.allCases)
    func linking(flavor: MaxLeapFlavor) async throws {
        let rig = try ClientRig(flavor)
        try rig.logIn(["authData": ["anonymous": ["id": "8f2d3f5e"]]])
        #expect(rig.client.currentUser?.isAnonymous == true)
        updated(rig)
        try await rig.client.link(MaxLeapAuthData("facebook", ["id": "9", "access_token": "t"]))
        #expect(
            rig.transport.requests[0].json == [
                "authData": ["facebook": ["id": "9", "access_token": "t"], "anonymous": nil]
            ])
        let user = try #require(rig.client.currentUser)
        #expect(!user.isAnonymous && user.authData(of: "facebook")?["id"] == "9")
        // From then on there is nothing to end.
        updated(rig)
        try await rig.client.link(MaxLeapAuthData("twitter", ["id": "8"]))
        #expect(rig.transport.requests[1].json == ["authData": ["twitter": ["id": "8"]]])
    }

    @Test("Users and other roles are added to a role, and taken out of it")
    func roles() async throws {
        let rig = try ClientRig()
        var access = MaxLeapACL()
        access.setRead(true, for: .everybody)
        var editors = try MaxLeapObject.role(named: "Editors", acl: access)
        try editors.addRelation([MaxLeapPointer("_User", "u1"), MaxLeapPointer("_User", "u2")], to: "users")
        try editors.addRelation([MaxLeapPointer("_Role", "r0")], to: "roles")
        rig.transport.answer(json: #"{"objectId":"r1","createdAt":"\#(testTime)"}"#, status: 201)
        editors = try await rig.client.save(editors)
        func pointers(_ className: String, _ ids: String...) -> JSONValue {
            .array(ids.map { ["__type": "Pointer", "className": .string(className), "objectId": .string($0)] })
        }
        #expect(
            rig.transport.requests[0].json == [
                "ACL": ["*": ["read": true]], "name": "Editors",
                "roles": ["__op": "AddRelation", "objects": pointers("_Role", "r0")],
                "users": ["__op": "AddRelation", "objects": pointers("_User", "u1", "u2")],
            ])
        try editors.removeRelation([MaxLeapPointer("_User", "u2")], from: "users")
        updated(rig)
        editors = try await rig.client.save(editors)
        #expect(rig.paths == ["POST /2.0/classes/_Role", "PUT /2.0/classes/_Role/r1"])
        #expect(
            rig.transport.requests[1].json == [
                "users": ["__op": "RemoveRelation", "objects": pointers("_User", "u2")]
            ])
        rig.transport.answer(json: #"{"results":[]}"#)
        let role = try #require(editors.pointer)
        _ = try await rig.client.find(MaxLeapQuery("_User").where(isIn: "users", of: role))
        #expect(rig.transport.requests[2].parameters["where"]?.contains("$relatedTo") == true)
    }
}
