import Foundation
import KintoStore
import StrataRemoteTesting
import Synchronization
import Testing

/// Conditions on the elements of arrays, and the other end of relationships of many to many.
@Suite struct MemberTests {
    private static func songs() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Songs") {
            Entity("Song") {
                Attribute("songId", .string)
                Attribute("moods", .array(.string), optional: true)
                Attribute("years", .array(.integer64), optional: true)
                Attribute("ratings", .array(.double), optional: true)
                Attribute("takes", .array(.boolean), optional: true)
                Attribute("title", .string, optional: true)
                Relationship("lists", to: "List", .toMany, inverse: "songs")
            }
            Entity("List") {
                Attribute("listId", .string)
                Relationship("songs", to: "Song", .toMany, inverse: "lists")
            }
        }
    }

    /// Counts the requests whose path has a text.
    private final class Recorder: HTTPMiddleware {
        private let paths = Mutex<[String]>([])

        func send(_ request: WireRequest, next: HTTPNext) async throws(RemoteError) -> WireResponse {
            paths.withLock { $0.append(request.head.path ?? "") }
            return try await next(request)
        }

        func count(_ text: String) -> Int { paths.withLock { $0.count { $0.contains(text) } } }
    }

    @Test(
        "A condition on an element is sent where the server's answer is the store's",
        arguments: [
            ("moods CONTAINS 'a & b'", "contains_moods=%5B%22a%20%26%20b%22%5D"),
            ("years CONTAINS 1999", "contains_years=%5B1999%5D"), ("takes CONTAINS YES", "contains_takes=%5Btrue%5D"),
            ("lists CONTAINS 'l1'", "contains_lists=%5B%22l1%22%5D"),
            (
                "moods CONTAINS 'a' AND lists CONTAINS 'l1'",
                "contains_moods=%5B%22a%22%5D&contains_lists=%5B%22l1%22%5D"
            ),
            ("title CONTAINS 'a'", nil), ("moods CONTAINS 5", nil), ("years CONTAINS 'a'", nil),
            ("moods CONTAINS nil", nil),
            ("ratings CONTAINS 1", nil), ("moods CONTAINS[c] 'a'", nil), ("moods == 'a'", nil),
            ("moods CONTAINS 'a' AND moods CONTAINS 'b'", nil), ("NOT moods CONTAINS 'a'", nil),
        ])
    func requests(format: String, expected: String?) throws {
        let dialect = try KintoDialect("https://kinto.example/v1")
        var query = RemoteQuery(entity: try #require(try Self.songs().entity(named: "Song")))
        query.predicate = try FetchPredicate(format: format)
        guard let expected else {
            #expect {
                try dialect.request(for: .query(query), options: .init())
            } throws: {
                ($0 as? RemoteError)?.kind == .unsupported
            }
            return
        }
        let path = try dialect.request(for: .query(query), options: .init()).head.path
        #expect(path == "/v1/buckets/default/collections/Song/records?" + expected)
    }

    @Suite(.enabled("Kinto needs Python 3 with venv and pip", { await KintoInstallation.isThere() }))
    struct WithServer {
        /// A store that sends its conditions, and evaluates none.
        private func open(_ user: String, _ recorder: Recorder = Recorder()) async throws -> ManagedObjectContext {
            var options = RemoteStore.Options()
            options.fetchPolicy = .networkOnly
            options.waitsForNetwork = true
            let inner = try await kinto(user: user)
            let backend = HTTPBackend(
                dialect: inner.dialect, transport: inner.transport, authorizer: inner.authorizer,
                middleware: [recorder])
            let store = try RemoteStore.open(
                model: try MemberTests.songs(), backend: backend, location: .memory(name: nil), options: options)
            return try PersistentContainer(store: store).newContext()
        }

        /// Three songs in two lists.
        private func fill(_ context: ManagedObjectContext) async throws {
            let lists = try ["l1", "l2"].map { id in
                let list = try context.insert(entityNamed: "List")
                list["listId"] = id
                return list
            }
            let rows: [(String, [String]?, [Int64]?, Set<ManagedObject>)] = [
                ("s1", ["calm", "a & \"b\""], [1999, 5], Set(lists)), ("s2", ["Calm", "calmer"], [-5], [lists[0]]),
                ("s3", nil, nil, []),
            ]
            for (id, moods, years, members) in rows {
                let song = try context.insert(entityNamed: "Song")
                song["songId"] = id
                song["moods"] = moods
                song["years"] = years
                song["title"] = "calm"
                song["takes"] = [id == "s2"]
                song["lists"] = members
            }
            try await context.save()
        }

        private func ids(_ objects: some Sequence<ManagedObject>, _ key: String = "songId") -> [String] {
            objects.compactMap { $0[key] as? String }.sorted()
        }

        @Test(
            "The server finds what has an element",
            arguments: [
                ("moods CONTAINS 'calm'", ["s1"]), ("moods CONTAINS 'a & \"b\"'", ["s1"]), ("moods CONTAINS 'c'", []),
                ("years CONTAINS 5", ["s1"]), ("years CONTAINS -5", ["s2"]), ("takes CONTAINS YES", ["s2"]),
                ("takes CONTAINS NO AND years CONTAINS 1999", ["s1"]),
            ])
        func conditions(format: String, expected: [String]) async throws {
            let user = UUID().uuidString
            try await fill(try await open(user))
            let recorder = Recorder()
            let found = try await open(user, recorder).fetch(
                FetchRequest<ManagedObject>(entity: "Song", where: try FetchPredicate(format: format)))
            #expect(ids(found) == expected)
            #expect(recorder.count("contains_") == 1)
        }

        @Test("Both ends of a relationship of many to many are loaded, the one that records do not list by a query")
        func bothEnds() async throws {
            let user = UUID().uuidString
            try await fill(try await open(user))
            var expected = ["List l1": ["s1", "s2"], "List l2": ["s1"], "Song s1": ["l1", "l2"], "Song s2": ["l1"]]
            expected["Song s3"] = []
            var found: [String: [String]] = [:]
            let recorder = Recorder()
            for (entity, key, relationship, other) in [
                ("List", "listId", "songs", "songId"), ("Song", "songId", "lists", "listId"),
            ] {
                // A mirror of its own, so that one end does not tell the other.
                let context = try await open(user, recorder)
                let owners = try await context.fetch(FetchRequest<ManagedObject>(entity: entity))
                try await context.load(relationship, of: owners)
                for owner in owners {
                    let members = owner[relationship] as? Set<ManagedObject> ?? []
                    found["\(entity) \(owner[key] as? String ?? "")"] = ids(members, other)
                }
            }
            #expect(found == expected)
            #expect(recorder.count("contains_") > 0)
        }
    }
}
