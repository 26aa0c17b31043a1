#if Server
    import Foundation
    import StrataServer
    import StrataStackMob
    import StrataStore
    import Testing

    /// The model of the tests of client and server: users with notes, notes with tags.
    enum Notebook {
        static let model = makeModel()

        private static func makeModel() -> ManagedObjectModel {
            do {
                return try ManagedObjectModel(name: "Notebook") {
                    Entity("User", user: true) {
                        Attribute("username", .string)
                        Attribute("nickName", .string, optional: true)
                        Relationship("notes", to: "Note", .toMany, inverse: "author")
                    }
                    Entity("Note") {
                        Attribute("noteId", .string, optional: true)
                        Attribute("title", .string, default: .value(""))
                        Attribute("likes", .integer64, default: .value(0))
                        Attribute("dueDate", .date, optional: true)
                        Attribute("ratio", .double, optional: true)
                        Attribute("isDone", .boolean, optional: true)
                        Attribute("price", .decimal, optional: true)
                        Attribute("token", .uuid, optional: true)
                        Attribute("link", .uri, optional: true)
                        Attribute("bytes", .binary, optional: true)
                        Attribute("picture", .string, optional: true)
                        Attribute("place", .geoPoint, optional: true).indexed()
                        Relationship("author", to: "User", .optionalToOne, inverse: "notes")
                        Relationship("tags", to: "Tag", .toMany, inverse: "notes")
                    }
                    Entity("Tag") {
                        Attribute("tagId", .string, optional: true)
                        Attribute("label", .string, default: .value(""))
                        Relationship("notes", to: "Note", .toMany, inverse: "tags")
                    }
                }
            } catch {
                fatalError("\(error)")
            }
        }
    }

    /// What one user's machine has: a client, a mirror in memory, a context; and a wire that can be cut and looked at.
    final class Device {
        let wire: Wire
        let stack: StackMobStore
        let container: PersistentContainer
        let context: ManagedObjectContext

        var client: StackMobClient { stack.client }

        init(
            _ server: LoopbackServer, clock: any RemoteClock = SystemClock(),
            _ change: (inout RemoteStore.Options) -> Void = { _ in }
        ) throws {
            wire = Wire()
            var options = RemoteStore.Options()
            options.fetchPolicy = .networkOnly
            options.finishesLocally = true
            options.sync.retries = 0
            // Debug builds on a busy machine take their time.
            options.request.timeout = 300
            options.sync.request.timeout = 300
            change(&options)
            stack = try StackMobStore.open(
                model: Notebook.model, client: try server.client(transport: wire) { $0.clock = clock },
                location: .memory(name: nil), options: options)
            container = try PersistentContainer(store: stack.remote)
            context = container.newContext(automaticallyMergesChanges: true)
        }

        /// A device that works only on its mirror, and synchronizes it.
        static func offline(_ server: LoopbackServer) throws -> Device {
            try Device(server) { options in
                options.fetchPolicy = .cacheOnly
                options.savePolicy = .cacheOnly
            }
        }

        @discardableResult
        func make(_ entity: String, _ values: [String: Any] = [:]) throws -> ManagedObject {
            try context.make(entity, values)
        }

        func save() async throws { try await context.save(options: nil) }

        func fetch(
            _ entity: String, _ format: String? = nil, sort: String? = nil
        ) async throws -> [ManagedObject] {
            try await context.fetch(
                FetchRequest<ManagedObject>(
                    entity: entity, where: try format.map { try FetchPredicate(format: $0) },
                    sortedBy: sort.map { [FetchSort($0)] } ?? []))
        }

        /// Makes a user, and logs that one in.
        func signUp(_ name: String, password: String = "secret") async throws {
            let user = try make("User", ["username": name])
            stack.setPassword(password, for: user.objectID)
            try await save()
            try await client.logIn(username: name, password: password)
        }

        /// All notes and tags as text, relationships included.
        func contents() async throws -> [String] {
            var lines: [String] = []
            let fresh = container.newContext()
            for note in try await fresh.fetch(FetchRequest<ManagedObject>(entity: "Note")) {
                let tags = (note["tags"] as? Set<ManagedObject> ?? []).map { $0["tagId"] as? String ?? "?" }.sorted()
                lines.append(
                    "note \(note["noteId"] ?? "-") \(note["title"] ?? "-") \(note["likes"] ?? "-") \(tags)")
            }
            for tag in try await fresh.fetch(FetchRequest<ManagedObject>(entity: "Tag")) {
                let notes = (tag["notes"] as? Set<ManagedObject> ?? []).map { $0["noteId"] as? String ?? "?" }.sorted()
                lines.append("tag \(tag["tagId"] ?? "-") \(tag["label"] ?? "-") \(notes)")
            }
            return lines.sorted()
        }
    }

    /// Carries requests, counts them, and can be cut.
    final class Wire: HTTPTransport {
        private struct State {
            var isCut = false
            var losesAnswers = 0
            /// How many requests still get through; nil for all.
            var rest: Int?
            var requests: [WireRequest] = []
        }

        private let state = Guarded(State())
        private let transport: any HTTPTransport

        /// - Parameter transport: What carries the requests; nil for `URLSession`.
        init(_ transport: (any HTTPTransport)? = nil) { self.transport = transport ?? URLSessionTransport() }

        var requests: [WireRequest] { state.withLock(\.requests) }
        var count: Int { state.withLock(\.requests.count) }

        func cut(_ isCut: Bool) { state.withLock { $0.isCut = isCut } }
        /// So many requests get through, and then none; nil for all.
        func limit(_ count: Int?) { state.withLock { $0.rest = count } }
        /// The server gets the next requests, but the answers are lost.
        func loseAnswers(_ count: Int) { state.withLock { $0.losesAnswers = count } }

        /// How many requests a closure sends.
        func counting(_ body: () async throws -> Void) async rethrows -> Int {
            let before = count
            try await body()
            return count - before
        }

        func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
            let (isCut, loses) = state.withLock { state in
                state.requests.append(request)
                let loses = state.losesAnswers > 0
                if loses { state.losesAnswers -= 1 }
                let isOver = state.rest == 0
                if let rest = state.rest, rest > 0 { state.rest = rest - 1 }
                return (state.isCut || isOver, loses)
            }
            if isCut { throw RemoteError(.unreachable, message: "the wire is cut") }
            let response = try await transport.send(request, timeout: timeout)
            if loses { throw RemoteError(.unreachable, message: "the answer was lost") }
            return response
        }
    }
#endif
