import Foundation
import Strata
import StrataStackMob
import StrataTesting
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
            }
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
