import Foundation
import Strata
import StrataMaxLeap
import StrataRemoteTesting
import Testing

/// Managed objects over a script: what goes over the wire when objects are saved, fetched and synchronized.
@Suite struct StoreTests {
    private func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Posts") {
            Entity("Post", primaryKey: "objectId") {
                Attribute("objectId", .string, optional: true).unique()
                Attribute("title", .string, default: .value(""))
                Attribute("likes", .integer64, default: .value(0))
                Relationship("author", to: "Author", .optionalToOne)
            }
            Entity("Author", primaryKey: "objectId") {
                Attribute("objectId", .string, optional: true).unique()
                Attribute("name", .string, default: .value(""))
            }
        }
    }

    private func open(_ rig: ClientRig) throws -> (MaxLeapStore, PersistentContainer) {
        let stack = try MaxLeapStore.open(model: model(), client: rig.client, location: .memory(name: nil))
        return (stack, try PersistentContainer(store: stack.remote))
    }

    @Test func aNewObjectTakesTheNameThatTheServerGives() async throws {
        let rig = try ClientRig()
        try rig.logIn()
        let (_, container) = try open(rig)
        let context = container.newContext()
        let author = try context.insert(entityNamed: "Author")
        author["objectId"] = UUID().uuidString
        author["name"] = "Ann"
        rig.transport.answer(json: #"{"objectId":"a1","createdAt":"\#(testTime)"}"#, status: 201)
        try await context.save(options: nil)
        #expect(rig.paths == ["POST /2.0/classes/Author"])
        #expect(rig.transport.requests[0].json == ["name": "Ann"])
        #expect(rig.transport.requests[0].header("X-ML-Session-Token") == "S")
        #expect(author["objectId"] as? String == "a1")
        // From now on others refer to it by that name.
        let post = try context.insert(entityNamed: "Post")
        post["objectId"] = UUID().uuidString
        post["author"] = author
        rig.transport.answer(json: #"{"objectId":"p1","createdAt":"\#(testTime)"}"#, status: 201)
        try await context.save(options: nil)
        #expect(rig.transport.requests[1].json?["author"]?["objectId"] == "a1")
        post["title"] = "Hi"
        rig.transport.answer(json: #"{"number":1,"updatedAt":"\#(testTime)"}"#)
        try await context.save(options: nil)
        #expect(rig.paths.last == "PUT /2.0/classes/Post/p1")
        #expect(rig.transport.requests[2].json == ["title": "Hi"])
    }

    @Test func whatRefersToANewObjectWaitsForItsName() async throws {
        let rig = try ClientRig()
        let (_, container) = try open(rig)
        let context = container.newContext()
        let author = try context.insert(entityNamed: "Author")
        author["objectId"] = UUID().uuidString
        let post = try context.insert(entityNamed: "Post")
        post["objectId"] = UUID().uuidString
        post["author"] = author
        let ids = [author.objectID, post.objectID]
        rig.transport.answer(json: #"{"objectId":"a1","createdAt":"\#(testTime)"}"#, status: 201)
        rig.transport.answer(json: #"{"objectId":"p1","createdAt":"\#(testTime)"}"#, status: 201)
        try await context.save(options: nil)
        #expect(rig.paths == ["POST /2.0/classes/Author", "POST /2.0/classes/Post"])
        #expect(rig.transport.requests[1].json?["author"]?["objectId"] == "a1")
        #expect(post["objectId"] as? String == "p1" && (post["author"] as? ManagedObject) === author)
        #expect([author.objectID, post.objectID] == ids)
    }

    @Test func whatDoesNotGetItsNameKeepsWhatRefersToItBack() async throws {
        let rig = try ClientRig()
        let (_, container) = try open(rig)
        let context = container.newContext()
        let author = try context.insert(entityNamed: "Author")
        author["objectId"] = UUID().uuidString
        let post = try context.insert(entityNamed: "Post")
        post["objectId"] = UUID().uuidString
        post["author"] = author
        rig.transport.answer(json: #"{"errorCode":111,"errorMessage":"no"}"#, status: 400)
        let error = await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        guard case .store(.remote(let failure))? = error else {
            Issue.record("the error is \(String(describing: error))")
            return
        }
        #expect(failure.inserted.map(\.objectID) == [author.objectID])
        #expect(rig.paths == ["POST /2.0/classes/Author"])
        #expect(author.isInserted && post.isInserted)
        rig.transport.answer(json: #"{"objectId":"a1","createdAt":"\#(testTime)"}"#, status: 201)
        rig.transport.answer(json: #"{"objectId":"p1","createdAt":"\#(testTime)"}"#, status: 201)
        try await context.save(options: nil)
        #expect(rig.transport.requests.last?.json?["author"]?["objectId"] == "a1")
    }

    @Test func aReferenceOfACircleThatIsRefusedStaysToBeSaved() async throws {
        let rig = try ClientRig()
        let model = try ManagedObjectModel(name: "Teams") {
            Entity("Team", primaryKey: "objectId") {
                Attribute("objectId", .string, optional: true).unique()
                Relationship("captain", to: "Player", .optionalToOne)
            }
            Entity("Player", primaryKey: "objectId") {
                Attribute("objectId", .string, optional: true).unique()
                Relationship("team", to: "Team", .optionalToOne)
            }
        }
        let stack = try MaxLeapStore.open(model: model, client: rig.client, location: .memory(name: nil))
        let context = try PersistentContainer(store: stack.remote).newContext()
        let team = try context.insert(entityNamed: "Team")
        team["objectId"] = UUID().uuidString
        let player = try context.insert(entityNamed: "Player")
        player["objectId"] = UUID().uuidString
        team["captain"] = player
        player["team"] = team
        rig.transport.handle { request in
            switch request.head.method {
            case .post:
                let id = request.head.path?.hasSuffix("Team") == true ? "t1" : "p1"
                return .scripted(json: #"{"objectId":"\#(id)","createdAt":"\#(testTime)"}"#, status: 201)
            default: return .scripted(json: #"{"errorCode":119,"errorMessage":"no"}"#, status: 403)
            }
        }
        let error = await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        #expect("\(String(describing: error))".contains("no"))
        #expect(rig.transport.requests.map(\.head.method) == [.post, .post, .put])
        #expect(!team.isInserted && !player.isInserted)
        #expect(context.hasChanges)
        // Nothing is made a second time.
        rig.transport.handle { _ in .scripted(json: #"{"number":1,"updatedAt":"\#(testTime)"}"#) }
        try await context.save(options: nil)
        #expect(rig.transport.requests.map(\.head.method) == [.post, .post, .put, .put])
        let last = try #require(rig.transport.requests.last)
        let isTeam = last.head.path == "/2.0/classes/Team/t1"
        #expect(last.json?[isTeam ? "captain" : "team"]?["objectId"] == (isTeam ? "p1" : "t1"))
        #expect(!context.hasChanges)
        #expect(team["captain"] as? ManagedObject === player && player["team"] as? ManagedObject === team)
    }

    @Test func aPullTakesInWhatHasChanged() async throws {
        let rig = try ClientRig()
        let (stack, container) = try open(rig)
        rig.transport.handle { request in
            let isPost = request.head.path?.hasPrefix("/2.0/classes/Post?") == true
            return .scripted(
                json: isPost
                    ? #"{"results":[{"objectId":"p1","title":"Hi","likes":1,"updatedAt":"\#(testTime)"}]}"#
                    : #"{"results":[]}"#)
        }
        _ = try await stack.sync.synchronize()
        stack.remote.fetchPolicy = .cacheOnly
        let found = try await container.newContext().fetch(FetchRequest<ManagedObject>(entity: "Post"))
        #expect(found.map { $0["title"] as? String } == ["Hi"])
    }

    @Test func objectsAreFetchedByCondition() async throws {
        let rig = try ClientRig(.parse)
        let (_, container) = try open(rig)
        rig.transport.answer(
            json: #"{"results":[{"objectId":"p1","title":"Hi","likes":7,"updatedAt":"\#(testTime)","#
                + #""author":{"__type":"Pointer","className":"Author","objectId":"a1"}}]}"#)
        let request = FetchRequest<ManagedObject>(
            entity: "Post", where: try FetchPredicate(format: "likes > 3 AND title BEGINSWITH 'H'"))
        let post = try #require(try await container.newContext().fetch(request).first)
        #expect(post["title"] as? String == "Hi")
        #expect(
            try JSONValue(parsing: rig.transport.requests[0].parameters["where"] ?? "") == [
                "likes": ["$gt": 3], "title": ["$regex": "^\\QH\\E"],
            ])
        #expect(rig.transport.requests[0].head.path?.hasPrefix("/parse/classes/Post?") == true)
    }

    @Test func aModelThatTheServerCannotKeepIsRefused() throws {
        let rig = try ClientRig()
        let model = try ManagedObjectModel(name: "Users") {
            Entity("User", user: true) { Attribute("username", .string, optional: true).unique() }
        }
        #expect { try MaxLeapStore.open(model: model, client: rig.client, location: .memory(name: nil)) } throws: {
            "\($0)".contains("objectId")
        }
    }
}
