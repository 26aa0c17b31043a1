import Foundation
import StrataStackMob
import StrataRemoteTesting
import Testing

@Suite struct ClientTests {
    @Test(arguments: [("x", "0"), (testKey, "zero"), (testKey, ""), (testKey, "1.0"), (testKey + "X", "0")])
    func whatCannotBeRightIsRefused(_ key: String, _ version: String) {
        #expect { try StackMobClient(publicKey: key, apiVersion: version) } throws: { error in
            (error as? RemoteError)?.domain == "SMClientInitializationException"
        }
    }

    @Test func theDefaultClientIsTheOneThatTheAppHasSet() throws {
        #expect(StackMobClient.default == nil)
        let client = try StackMobClient(publicKey: testKey)
        StackMobClient.default = client
        #expect(StackMobClient.default === client)
        StackMobClient.default = nil
        #expect(StackMobClient.default == nil)
    }

    @Test func theVersionIsInTheAcceptHeader() async throws {
        let rig = try ClientRig { $0.dialect.apiVersion = "17" }
        rig.transport.answer(json: "{}")
        _ = try await rig.client.dataStore.read("1", in: "todo")
        #expect(rig.transport.requests[0].header("Accept") == "application/vnd.stackmob+json; version=17")
        #expect(rig.transport.requests[0].header("X-StackMob-API-Key") == testKey)
    }

    @Test func aNumberThatIsNotFiniteStopsTheRequest() async throws {
        let rig = try ClientRig()
        let created = await remoteError {
            _ = try await rig.client.dataStore.create(["todo_id": "1", "sizes": [1, .double(.nan)]], in: "todo")
        }
        #expect(created?.message.contains("$.sizes[1]") == true)
        let pushed = await remoteError { try await rig.client.push.broadcast(["badge": .double(.infinity)]) }
        #expect(pushed?.message.contains("$.kvPairs.badge") == true)
        #expect(rig.transport.requests.isEmpty)
    }

    @Test func objectsAreSentAndReadInTheOrderOfTheirMembers() async throws {
        let rig = try ClientRig()
        rig.transport.answer(json: #"{"z":1.50,"a":18446744073709551615,"m":{"y":[],"b":null}}"#)
        let object = try await rig.client.dataStore.create(["todo_id": "1", "b": 2, "a": 3], in: "todo")
        #expect(rig.transport.requests[0].body == Data(#"{"todo_id":"1","b":2,"a":3}"#.utf8))
        #expect(object.names == ["z", "a", "m"])
        #expect(object["a"]?.decimal == Decimal(UInt64.max))
    }

    @Test(arguments: ["{\"a\":01}", "{\"a\":\"\\u+041\"}", "{\"a\":\"\\ud800\"}", "{\"a\":1.}", "[1]]"])
    func answersThatAreNotJSONAreRefused(text: String) async throws {
        let rig = try ClientRig()
        rig.transport.answer(json: text)
        let error = await remoteError { _ = try await rig.client.dataStore.read("1", in: "todo") }
        #expect(error?.kind == .invalidAnswer)
        #expect(error?.message.contains("line 1") == true)
    }

    @Test func linksOfAccountsAreNotSentInTheClear() async throws {
        let rig = try ClientRig()
        rig.transport.handle { _ in .scripted(json: "{}") }
        try await rig.client.linkFacebook(token: "f")
        try await rig.client.linkGigya(uid: "u", signature: "s", timestamp: "1")
        try await rig.client.createUser(twitterToken: "t", secret: "s", username: "joe")
        try await rig.client.unlinkTwitter()
        #expect(
            rig.transport.requests.map(\.url) == [
                "https://api.stackmob.com/user/linkUserWithFacebook?fb_at=f",
                "https://api.stackmob.com/user/linkUserWithGigya",
                "https://api.stackmob.com/user/createUserWithTwitter?tw_tk=t&tw_ts=s&username=joe",
                "http://api.stackmob.com/user/unlinkUserFromTwitter",
            ])
    }

    @Test func theOtherServicesOfUsers() async throws {
        let rig = try ClientRig()
        rig.transport.handle { _ in .scripted(json: #"{"id":"7"}"#) }
        let client = rig.client
        try await client.unlinkFacebook()
        try await client.postToFacebook("hello you")
        #expect(try await client.facebookUserInfo() == ["id": "7"])
        #expect(try await client.createUser(facebookToken: "f", username: "joe") == ["id": "7"])
        try await client.postToTwitter("hi")
        #expect(try await client.twitterUserInfo() == ["id": "7"])
        try await client.linkTwitter(token: "t", secret: "s")
        try await client.unlinkGigya()
        #expect(
            rig.paths == [
                "DELETE /user/unlinkUserFromFacebook", "GET /user/postFacebookMessage?message=hello%20you",
                "GET /user/getFacebookUserInfo", "POST /user/createUserWithFacebook",
                "GET /user/twitterStatusUpdate?tw_st=hi", "GET /user/getTwitterUserInfo",
                "GET /user/linkUserWithTwitter?tw_tk=t&tw_ts=s", "DELETE /user/unlinkUserFromGigya",
            ])
    }

    @Test func queriesAndMembersOfTheDataStore() async throws {
        let rig = try ClientRig()
        let store = rig.client.dataStore
        rig.transport.answer(json: #"[{"todo_id":"1"},{"todo_id":"2"}]"#)
        let query = StackMobQuery("Todo")
            .where("age", .greater, 25)
            .whereAny(
                .and([.compare("location", .equal, "NYC"), .compare("name", .notEqual, "john")]),
                .compare("location", .equal, "LA")
            )
            .ordered(by: "age").ordered(by: "createddate", ascending: false)
            .skipping(4).limited(to: 5)
            .selecting("age", "location").expanding(1)
        let found = try await store.query(query)
        #expect(found.map { $0["todo_id"] } == ["1", "2"])
        let request = rig.transport.requests[0]
        #expect(
            request.head.path
                == "/todo?[or1].[and1].location=NYC&[or1].[and1].name[ne]=john&[or1].location=LA&age[gt]=25")
        #expect(request.header("X-StackMob-OrderBy") == "age:asc,createddate:desc")
        #expect(request.header("Range") == "objects=4-8")
        #expect(request.header("X-StackMob-Select") == "age,location")
        #expect(request.header("X-StackMob-Expand") == "1")

        rig.transport.answer(json: #"{"succeeded":["1"],"failed":["2"]}"#)
        let made = try await store.create([["todo_id": "1"], ["todo_id": "2"]], in: "todo")
        #expect(made.succeeded == ["1"])
        #expect(made.failed == ["2"])
        rig.transport.answer(json: "{}")
        try await store.append(["a", 2], to: "tags", of: "1", in: "todo")
        #expect(rig.transport.requests[2].json == ["a", 2])
        rig.transport.answer(status: 200)
        try await store.remove(["a", "b"], from: "tags", of: "1", in: "todo", deletesObjects: true)
        #expect(rig.transport.requests[3].head.path == "/todo/1/tags/a,b")
        #expect(rig.transport.requests[3].header("X-StackMob-CascadeDelete") == "true")
        rig.transport.answer(json: "{}")
        try await store.create(["author": ["username": "bob"]], in: "post", relations: ["author=user"])
        #expect(rig.transport.requests[4].header("X-StackMob-Relations") == "author=user")
    }

    @Test func geoConditionsAndOrderOfBuilding() throws {
        let point = GeoPoint(latitude: 37.775, longitude: 122.4183)
        let parameters = { (query: StackMobQuery) in
            Dictionary(uniqueKeysWithValues: try query.parameters().map { ($0.name, $0.value) })
        }
        #expect(try parameters(StackMobQuery("x").where("p", near: point)) == ["p[near]": "37.775000,122.418300"])
        #expect(
            try parameters(StackMobQuery("x").where("p", within: 1000, kilometersOf: point))
                == ["p[within]": "37.775000,122.418300,0.157048"])
        #expect(
            try parameters(StackMobQuery("x").where("p", within: 0.25, milesOf: point))
                == ["p[within]": "37.775000,122.418300,0.000063"])
        let limitedFirst = StackMobQuery("x").limited(to: 5).skipping(4)
        #expect((limitedFirst.first, limitedFirst.last) == (4, 8))
    }

    @Test func anUnreachableServerIsNoticed() async throws {
        let rig = try ClientRig()
        rig.transport.fail(.requestLost)
        let error = await remoteError { _ = try await rig.client.dataStore.read("1", in: "todo") }
        #expect((error?.domain, error?.code, error?.kind) == ("SMError", -105, .unreachable))
        #expect(rig.client.reachability.status == .notReachable)
        rig.transport.answer(status: 404)
        _ = await remoteError { _ = try await rig.client.dataStore.read("1", in: "todo") }
        #expect(rig.client.reachability.status == .reachable)
        rig.clock.advance(by: 100)
        rig.transport.answer(status: 500)
        #expect(await rig.client.reachability.check() == .reachable)
        let probe = try #require(rig.transport.requests.last)
        #expect(probe.head.method == .head)
        #expect(probe.url == "http://api.stackmob.com")
    }

    @Test func placesComeFromAProvider() async throws {
        struct Broken: LocationProvider {
            func currentLocation() async throws -> GeoPoint { throw CancellationError() }
        }
        let point = GeoPoint(latitude: 1, longitude: 2)
        #expect(try await GeoPoint.current(from: FixedLocation(point)) == point)
        for provider in [Broken(), FixedLocation(GeoPoint(latitude: 91, longitude: 0))] as [any LocationProvider] {
            let error = await remoteError { _ = try await GeoPoint.current(from: provider) }
            #expect((error?.domain, error?.code) == ("SMError", -110))
        }
    }

    @Test func pushTokensOfUsersAndFailures() async throws {
        let rig = try ClientRig()
        let push = try rig.client.push
        rig.transport.answer(json: #"{"tokens":{"a":[{"token":"t","type":"ios","registered_milliseconds":1000}]}}"#)
        let tokens = try await push.tokens(ofUsers: ["a", "b"])
        #expect(tokens == ["a": [PushToken("t", kind: .ios, registered: Date(timeIntervalSince1970: 1))]])
        #expect(rig.transport.requests[0].url == "http://push.stackmob.com/get_tokens_for_users_universal?userIds=a,b")
        rig.transport.answer(status: 400)
        let error = await remoteError { try await push.broadcast(["alert": "hi", "badge": 1]) }
        #expect((error?.domain, error?.code) == ("SMError", 400))
        #expect(rig.transport.requests[1].json == ["kvPairs": ["alert": "hi", "badge": 1]])
        #expect(PushToken(Data([0x0a, 0xff])).token == "0aff")
        rig.transport.answer(status: 200)
        try await push.delete(PushToken("t", kind: .androidGCM))
        #expect(rig.transport.requests[2].json == ["token": "t", "type": "androidgcm"])
        #expect(await remoteError { _ = try ClientRig { $0.privateKey = nil }.client.push }?.code == -100)
    }
}
