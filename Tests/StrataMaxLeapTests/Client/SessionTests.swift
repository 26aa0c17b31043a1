import Foundation
import Strata
import StrataMaxLeap
import StrataStore
import StrataRemoteTesting
import Testing

/// What is kept of a user, who is told when a session ends, and how anonymous users begin.
@Suite struct SessionTests {
    private let name = "tests.app.maxleap"
    private let user = #"{"objectId":"u1","username":"bob","sessionToken":"T","createdAt":"2016-04-21T09:12:59.585Z"}"#

    private func kept(_ storage: MemorySessionStorage) -> String {
        String(decoding: storage.session(named: name) ?? Data(), as: UTF8.self)
    }

    @Test("A password that is saved with a user is sent, and kept nowhere", arguments: MaxLeapFlavor.allCases)
    func passwords(flavor: MaxLeapFlavor) async throws {
        let storage = MemorySessionStorage()
        let rig = try ClientRig(flavor, storage: storage)
        try rig.logIn()
        var current = try #require(rig.client.currentUser)
        current["password"] = "hush-1"
        current["city"] = "Oslo"
        rig.transport.answer(json: #"{"number":1,"updatedAt":"\#(testTime)"}"#)
        let saved = try await rig.client.save(current)
        #expect(rig.transport.requests[0].json?["password"] == "hush-1")
        #expect(saved["password"] == nil && rig.client.currentUser?["password"] == nil)
        #expect(rig.client.currentUser?["city"] == "Oslo")
        #expect(kept(storage).contains("Oslo") && !kept(storage).contains("hush"))
        // By a user that is known only by its identifier, too; what else is known of it stays.
        var named = MaxLeapObject("_User", objectId: "u1")
        named["password"] = "hush-2"
        named["city"] = nil
        rig.transport.answer(json: #"{"number":1,"updatedAt":"\#(testTime)"}"#)
        _ = try await rig.client.save(named)
        #expect(rig.client.currentUser?["username"] == "bob" && rig.client.currentUser?["city"] == nil)
        #expect(!kept(storage).contains("hush"))
        #expect(try ClientRig(flavor, storage: storage).client.currentUser?["password"] == nil)
    }

    @Test("A password among the fields of a new user is not kept either")
    func signingUp() async throws {
        let storage = MemorySessionStorage()
        let rig = try ClientRig(storage: storage)
        rig.transport.answer(json: user, status: 201)
        let signedUp = try await rig.client.signUp(
            username: "bob", password: "hush-1", fields: ["password": "hush-2", "age": 7])
        #expect(rig.transport.requests[0].json?["password"] == "hush-1")
        #expect(signedUp.values["password"] == nil && signedUp["age"] == 7)
        #expect(kept(storage).contains("bob") && !kept(storage).contains("hush"))
        // An answer that has one is not kept as it is.
        rig.transport.answer(json: #"{"objectId":"u1","username":"bob","password":"hush-3"}"#)
        #expect(try await rig.client.refreshUser()["password"] == nil)
        #expect(!kept(storage).contains("hush"))
    }

    @Test("A password that an older version kept is removed at the next launch")
    func olderSessions() throws {
        let storage = MemorySessionStorage()
        storage.keep(
            Data(#"{"token":"T","user":{"objectId":"u1","username":"bob","password":"hush"}}"#.utf8), named: name)
        let rig = try ClientRig(storage: storage)
        #expect(rig.client.session.token == "T" && rig.client.currentUser?["username"] == "bob")
        #expect(rig.client.currentUser?["password"] == nil)
        #expect(kept(storage).contains("bob") && !kept(storage).contains("hush"))
    }

    @Test("A user of which only some fields were read does not replace the one that is known")
    func parts() async throws {
        let rig = try ClientRig()
        try rig.logIn(["emailVerified": true, "email": "a@x.y"])
        rig.transport.answer(json: #"{"objectId":"u1","age":7}"#)
        _ = try await rig.client.fetch(MaxLeapPointer("_User", "u1"), keys: ["age"])
        #expect(rig.client.currentUser?["username"] == "bob" && rig.client.currentUser?["age"] == 7)
        #expect(rig.client.currentUser?.isEmailVerified == true)
        rig.transport.answer(json: #"{"objectId":"u1","email":"b@x.y"}"#)
        _ = try await rig.client.fetch(MaxLeapPointer("_User", "u1"), keys: ["email"])
        #expect(rig.client.currentUser?.isEmailVerified == nil)
    }

    // MARK: The end

    private func post() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Posts") {
            Entity("Post", primaryKey: "objectId") {
                Attribute("objectId", .string, optional: true).unique()
                Attribute("title", .string, default: .value(""))
            }
            Entity("Author", primaryKey: "objectId") { Attribute("objectId", .string, optional: true).unique() }
        }
    }

    @Test(
        "A synchronization tells that the session has ended, once",
        arguments: [(MaxLeapFlavor.maxLeap, 160), (.parse, 209)])
    func syncs(flavor: MaxLeapFlavor, code: Int) async throws {
        let rig = try ClientRig(flavor)
        try rig.logIn()
        let codes = Codes()
        rig.client.session.onEnd { codes.add($0.code) }
        let stack = try MaxLeapStore.open(model: post(), client: rig.client, location: .memory(name: nil))
        rig.transport.handle { _ in .scripted(json: #"{"code":\#(code),"error":"invalid session"}"#, status: 400) }
        await #expect(throws: SyncError.self) { try await stack.sync.synchronize() }
        #expect(codes.all == [code])
        // Neither the next synchronization nor a request of the client tells it again.
        _ = try? await stack.sync.synchronize()
        _ = try? await rig.client.find(MaxLeapQuery("A"))
        #expect(codes.all == [code])
        // Another session ends on its own.
        rig.client.session.replace(token: "S2", user: rig.client.currentUser)
        _ = try? await rig.client.find(MaxLeapQuery("A"))
        _ = try? await stack.sync.synchronize()
        #expect(codes.all == [code, code])
    }

    @Test("A token that cannot be taken up says nothing of the session that is there")
    func otherTokens() async throws {
        let rig = try ClientRig()
        try rig.logIn()
        let codes = Codes()
        rig.client.session.onEnd { codes.add($0.code) }
        rig.transport.answer(json: #"{"code":160,"error":"invalid session"}"#, status: 400)
        await #expect { try await rig.client.become(token: "old") } throws: { ($0 as? RemoteError)?.code == 160 }
        #expect(codes.all.isEmpty && rig.client.session.token == "S")
        rig.transport.answer(json: #"{"objectId":"u2","username":"eve","createdAt":"\#(testTime)"}"#)
        let eve = try await rig.client.become(token: "T2")
        #expect(rig.paths == ["GET /2.0/users/me", "GET /2.0/users/me"])
        #expect(rig.transport.requests.map { $0.header("X-ML-Session-Token") } == ["old", "T2"])
        #expect(eve["username"] == "eve" && rig.client.currentUser == eve && rig.client.session.token == "T2")
    }

    // MARK: Anonymous users

    @Test("Calls of the same time make one anonymous user; after a failure the next call makes it")
    func automaticUsers() async throws {
        let rig = try ClientRig()
        let user = user
        rig.transport.handle { _ in
            try? await Task.sleep(for: .milliseconds(50))
            return .scripted(json: user, status: 201)
        }
        rig.transport.fail(with: RemoteError(.unreachable, domain: "Script", message: "no connection"))
        await #expect(throws: RemoteError.self) { try await rig.client.automaticUser() }
        let client = rig.client
        let ids = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<8 {
                group.addTask {
                    number % 2 == 0
                        ? try await client.automaticUser().objectId : try await client.users.automaticUser().id
                }
            }
            return try await group.reduce(into: [String?]()) { $0.append($1) }
        }
        #expect(ids == Array(repeating: "u1", count: 8))
        #expect(rig.paths == ["POST /2.0/users", "POST /2.0/users"])
        #expect(client.currentUser?.isAnonymous == true)
    }

    @Test("An anonymous user is made even if the call is cancelled")
    func cancellation() async throws {
        let rig = try ClientRig()
        let user = user
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        rig.transport.handle { _ in
            arrival.yield()
            try? await Task.sleep(for: .milliseconds(50))
            return .scripted(json: user, status: 201)
        }
        let client = rig.client
        let task = Task { try await client.automaticUser() }
        for await _ in arrivals { break }
        task.cancel()
        #expect(try await client.automaticUser().objectId == "u1")
        #expect(rig.transport.requests.count == 1)
    }
}

/// Codes of errors, from whatever task.
final class Codes: Sendable {
    private let list = Guarded<[Int]>([])
    var all: [Int] { list.withLock { $0 } }
    func add(_ code: Int) { list.withLock { $0.append(code) } }
}
