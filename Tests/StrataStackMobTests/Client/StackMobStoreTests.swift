import Foundation
import Strata
import StrataStackMob
import StrataRemoteTesting
import Testing

/// Managed objects over a script: what goes over the wire when objects are saved and fetched.
@Suite struct StackMobStoreTests {
    private func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Todos") {
            Entity("User", user: true) {
                Attribute("username", .string, optional: true).unique()
                Attribute("yearBorn", .integer64, default: .value(0))
            }
            Entity("Todo") {
                Attribute("todoId", .string, optional: true).unique()
                Attribute("title", .string, default: .value(""))
                Attribute("place", .geoPoint, optional: true)
                Attribute("note", .string, optional: true)
                Relationship("shop", to: "Place", .optionalToOne)
                Relationship("animal", to: "Animal", .optionalToOne)
            }
            Entity("Place") {
                Attribute("placeId", .string, optional: true).unique()
                Attribute("name", .string, default: .value(""))
            }
            Entity("Animal", abstract: true) {
                Attribute("animalId", .string, optional: true).unique()
                Attribute("name", .string, default: .value(""))
            }
            Entity("Cat", inherits: "Animal") {}
            Entity("Dog", inherits: "Animal") {}
        }
    }

    private func open(
        _ rig: ClientRig, at location: SQLiteStore.Location = .memory(name: nil)
    ) throws -> (StackMobStore, PersistentContainer) {
        let stack = try StackMobStore.open(model: model(), client: rig.client, location: location)
        return (stack, try PersistentContainer(store: stack.remote))
    }

    @Test func aNewUserIsSavedWithItsPasswordAndThePasswordIsKeptNowhere() async throws {
        let folder = URL.temporaryDirectory.appending(component: "stackmob-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let rig = try ClientRig()
        let (stack, container) = try open(rig, at: .file(path: folder.appending(component: "mirror.sqlite").path))
        rig.transport.handle { request in
            var object = request.json?.members ?? [:]
            object["password"] = nil
            object["createddate"] = 1000
            object["lastmoddate"] = 1000
            return .scripted(json: JSONValue.object(object).description, status: 201)
        }
        let context = container.newContext()
        let user = try context.insert(entityNamed: "User")
        user["username"] = "bob"
        user["yearBorn"] = 1980
        stack.setPassword("OPEN SESAME", for: user.objectID)
        try await context.save(options: nil)
        let request = try #require(rig.transport.requests.first { $0.head.method == .post })
        #expect(request.url == "https://api.stackmob.com/user")
        #expect(request.json == ["username": "bob", "year_born": 1980, "password": "OPEN SESAME"])
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            #expect(try Data(contentsOf: file).range(of: Data("SESAME".utf8)) == nil)
        }
    }

    @Test func aNewUserWithoutAPasswordIsNotSent() async throws {
        let rig = try ClientRig()
        let (_, container) = try open(rig)
        let context = container.newContext()
        let user = try context.insert(entityNamed: "User")
        user["username"] = "bob"
        await #expect { try await context.save(options: nil) } throws: { "\($0)".contains("SMError -104") }
        #expect(rig.transport.requests.isEmpty)
        #expect(context.hasChanges)
    }

    @Test func objectsAreFetchedByTheSessionOfTheClient() async throws {
        let rig = try ClientRig()
        rig.logIn(expiresIn: -1)
        let (_, container) = try open(rig)
        rig.transport.answer(ClientRig.tokens("T2"))
        rig.transport.answer(
            json:
                #"[{"todo_id":"1","title":"Milk","place":{"lat":1.5,"lon":2.5},"lastmoddate":1000,"createddate":1000}]"#
        )
        let context = container.newContext()
        let request = FetchRequest<ManagedObject>(
            entity: "Todo", where: try FetchPredicate(format: "title == 'Milk'"))
        let todo = try #require(try await context.fetch(request).first)
        #expect(todo["title"] as? String == "Milk")
        #expect(todo["place"] as? GeoPoint == GeoPoint(latitude: 1.5, longitude: 2.5))
        #expect(rig.paths == ["POST /user/refreshToken", "GET /todo?title=Milk"])
        #expect(rig.transport.requests[1].token == "T2")
    }

    @Test func aSaveTellsWhatFailedByObject() async throws {
        let rig = try ClientRig()
        let (_, container) = try open(rig)
        rig.transport.handle { request in
            let isBad = request.json?["todo_id"]?.string == "2" || request.head.path == "/todo/2"
            return isBad
                ? .scripted(json: #"{"error":"no"}"#, status: 409)
                : .scripted(json: (request.json ?? [:]).description, status: 201)
        }
        let context = container.newContext()
        for (entity, key, id) in [("Todo", "todoId", "2"), ("Place", "placeId", "1")] {
            try context.insert(entityNamed: entity)[key] = id
        }
        let error = await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        guard case .store(.remote(let failure))? = error else {
            Issue.record("the error is \(String(describing: error))")
            return
        }
        #expect(failure.domain == "SMError")
        #expect(failure.code == StackMobError.coreDataSave.rawValue)
        #expect(failure.inserted.map(\.failure.code) == [409])
        #expect(failure.inserted.map(\.failure.domain) == ["HTTP"])
        #expect(failure.updated.isEmpty && failure.deleted.isEmpty)
        #expect(context.insertedObjects.compactMap { $0["todoId"] as? String } == ["2"])
    }

    @Test func aRelatedObjectThatIsNotToBeHadIsMinus107() async throws {
        let rig = try ClientRig()
        let (_, container) = try open(rig)
        rig.transport.answer(json: #"[{"todo_id":"1","title":"Milk","shop":"s","lastmoddate":1000}]"#)
        let context = container.newContext()
        let todo = try #require(try await context.fetch(FetchRequest<ManagedObject>(entity: "Todo")).first)
        let shop = try #require(todo["shop"] as? ManagedObject)
        rig.transport.fail(.requestLost)
        let error = await #expect(throws: PersistenceError.self) { try await context.load([shop]) }
        guard case .store(.remote(let failure))? = error else {
            Issue.record("the error is \(String(describing: error))")
            return
        }
        #expect(failure.domain == "SMError")
        #expect(failure.code == StackMobError.couldNotFillRelationshipFault.rawValue)
        #expect(failure.remoteKind == .unreachable)
        rig.transport.answer(json: #"{"place_id":"s","name":"Shop","lastmoddate":1000}"#)
        try await context.load([shop])
        #expect(shop["name"] as? String == "Shop")
        #expect(rig.paths.suffix(2) == ["GET /place/s", "GET /place/s"])
    }

    @Test func whatIsNilAndWhatIsNotToldAreTwoThings() async throws {
        let rig = try ClientRig()
        let (_, container) = try open(rig)
        let request = FetchRequest<ManagedObject>(entity: "Todo")
        rig.transport.answer(json: #"[{"todo_id":"1","title":"Milk","note":"2 l","shop":"s","lastmoddate":1000}]"#)
        rig.transport.answer(json: #"[{"todo_id":"1","title":"Bread","lastmoddate":2000}]"#)
        rig.transport.answer(json: #"[{"todo_id":"1","note":null,"shop":null,"lastmoddate":3000}]"#)
        let contexts = [container.newContext(), container.newContext(), container.newContext()]
        func fetched(_ number: Int) async throws -> ManagedObject {
            try #require(try await contexts[number].fetch(request).first)
        }
        _ = try await fetched(0)
        let second = try await fetched(1)
        #expect(second["title"] as? String == "Bread")
        #expect(second["note"] as? String == "2 l")
        #expect(second["shop"] != nil)
        let third = try await fetched(2)
        #expect(third["title"] as? String == "Bread")
        #expect(third["note"] == nil)
        #expect(third["shop"] == nil)
    }

    @Test func anEntityIsFetchedWithThoseThatInherit() async throws {
        let rig = try ClientRig()
        let (stack, container) = try open(rig)
        let animals = [
            "/cat": #"[{"animal_id":"1","name":"a"},{"animal_id":"2","name":"d"},{"animal_id":"3","name":"e"}]"#,
            "/dog": #"[{"animal_id":"4","name":"b"},{"animal_id":"5","name":"c"},{"animal_id":"6","name":"f"}]"#,
        ]
        rig.transport.handle { request in
            let path = (request.head.path ?? "").prefix { $0 != "?" }
            return .scripted(json: animals[String(path)] ?? "[]")
        }
        var request = FetchRequest<ManagedObject>(entity: "Animal", where: try FetchPredicate(format: "name != 'z'"))
        request.sorts = [FetchSort("name")]
        request.offset = 1
        request.limit = 2
        let found = try await container.newContext().fetch(request)
        #expect(found.map { $0["name"] as? String } == ["b", "c"])
        #expect(found.map(\.entity.name) == ["Dog", "Dog"])
        #expect(rig.paths == ["GET /cat?name[ne]=z", "GET /dog?name[ne]=z"])
        // The first three of each schema are enough for the second and third of all.
        #expect(rig.transport.requests.allSatisfy { $0.header("Range") == "objects=0-2" })
        #expect(rig.transport.requests.allSatisfy { $0.header("X-StackMob-OrderBy") == "name:asc" })
        request.limit = nil
        request.offset = 0
        #expect(try await container.newContext().fetch(request).count == 6)
        stack.remote.fetchPolicy = .cacheOnly
        #expect(try await container.newContext().count(request) == 6)
    }

    @Test func aReferenceFindsItsObjectAmongThoseThatInherit() async throws {
        let rig = try ClientRig()
        let (_, container) = try open(rig)
        rig.transport.handle { request in
            switch request.head.path {
            case "/todo": .scripted(json: #"[{"todo_id":"1","title":"Feed","animal":"5","lastmoddate":1000}]"#)
            case "/dog/5": .scripted(json: #"{"animal_id":"5","name":"Rex","lastmoddate":1000}"#)
            default: .scripted(json: #"{"error":"not found"}"#, status: 404)
            }
        }
        let context = container.newContext()
        let todo = try #require(try await context.fetch(FetchRequest<ManagedObject>(entity: "Todo")).first)
        try await context.load([try #require(todo["animal"] as? ManagedObject)])
        let animal = try #require(todo["animal"] as? ManagedObject)
        #expect(animal["name"] as? String == "Rex")
        #expect(rig.paths == ["GET /todo", "GET /cat/5", "GET /dog/5"])
        let second = container.newContext()
        let other = try #require(try await second.fetch(FetchRequest<ManagedObject>(entity: "Todo")).first)
        #expect((other["animal"] as? ManagedObject)?.entity.name == "Dog")
    }

    @Test func theFetchPolicyFollowsTheNetwork() async throws {
        let rig = try ClientRig()
        let (stack, _) = try open(rig)
        rig.client.reachability.note(.notReachable)
        stack.followReachability { $0 == .reachable ? .networkOnly : .cacheOnly }
        #expect(stack.remote.fetchPolicy == .cacheOnly)
        rig.client.reachability.note(.reachable)
        #expect(stack.remote.fetchPolicy == .networkOnly)
        stack.followReachability(nil)
        rig.client.reachability.note(.notReachable)
        #expect(stack.remote.fetchPolicy == .networkOnly)
    }

    @Test func offlineFetchesAreServedByTheMirror() async throws {
        let rig = try ClientRig()
        let (stack, container) = try open(rig)
        stack.remote.fetchPolicy = .networkElseCache
        rig.transport.answer(json: #"[{"todo_id":"1","title":"Milk","lastmoddate":1000,"createddate":1000}]"#)
        let request = FetchRequest<ManagedObject>(entity: "Todo")
        #expect(try await container.newContext().fetch(request).count == 1)
        rig.transport.fail(.requestLost)
        #expect(try await container.newContext().fetch(request).count == 1)
        #expect(rig.client.reachability.status == .notReachable)
        #expect(rig.transport.unexpected.isEmpty)
    }
}
