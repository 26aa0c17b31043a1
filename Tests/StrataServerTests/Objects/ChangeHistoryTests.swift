#if Server
    import Foundation
    import HTTPTypes
    import StrataServer
    import StrataStackMob
    import StrataStore
    import Testing

    /// A server in a folder that can be put back to what it was.
    private final class Restorable: HTTPTransport {
        private let folder: URL
        private let server: Guarded<DataServer>
        private let model: ManagedObjectModel?
        private var data: URL { folder.appending(path: "data") }
        private var copy: URL { folder.appending(path: "copy") }

        init(model: ManagedObjectModel? = nil) throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            self.model = model
            server = Guarded(try Self.open(folder.appending(path: "data"), model))
        }

        deinit {
            server.withLock { $0.close() }
            try? FileManager.default.removeItem(at: folder)
        }

        private static func open(_ data: URL, _ model: ManagedObjectModel?) throws -> DataServer {
            var options = ServerOptions()
            options.storage.survivesPowerFailure = false
            return try DataServer(folder: data.path, model: model, options: options, logger: silent)
        }

        private func restart(_ whileClosed: () throws -> Void = {}) throws {
            server.withLock { $0.close() }
            try whileClosed()
            let opened = try Self.open(data, model)
            server.withLock { $0 = opened }
        }

        func backUp() throws { try restart { try FileManager.default.copyItem(at: data, to: copy) } }

        func restore() throws {
            try restart {
                try FileManager.default.removeItem(at: data)
                try FileManager.default.copyItem(at: copy, to: data)
            }
        }

        @discardableResult
        func ask(_ method: String, _ target: String, _ body: String = "") async -> ServerResponse {
            await server.withLock { $0 }.respond(to: ServerRequest(method, target, body: Data(body.utf8)))
        }

        func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
            await server.withLock { $0 }.respond(to: request)
        }
    }

    @Suite struct ChangeHistoryTests {
        @Test("A server that was restored from a backup has clients begin anew, also when its numbers have caught up")
        func restored() async throws {
            let server = try Restorable()
            await server.ask("POST", "/x", #"{"x_id":"a"}"#)
            func cursor() async -> String { await server.ask("GET", "/_changes/x").json?["next"]?.string ?? "" }
            let before = await cursor()
            try server.backUp()
            await server.ask("POST", "/x", #"{"x_id":"lost"}"#)
            let lost = await cursor()
            try server.restore()
            #expect(await server.ask("GET", "/_changes/x?since=\(lost)").status == 410)
            for id in ["b", "c", "d"] { await server.ask("POST", "/x", #"{"x_id":"\#(id)"}"#) }
            #expect(await server.ask("GET", "/_changes/x?since=\(lost)").status == 410)
            let news = await server.ask("GET", "/_changes/x?since=\(before)")
            #expect(news.json?["objects"]?.elements?.map { $0["x_id"] ?? .null } == ["b", "c", "d"], "\(news.text)")
            // A cursor of a server that numbered without periods, one of another server, and such as no server of this kind makes.
            for foreign in ["2", "0123456789abcdef.1", ".1"] {
                #expect(await server.ask("GET", "/_changes/x?since=\(foreign)").status == 410, "\(foreign)")
            }
            for wrong in ["x", "a.b", "a.1.2.3", "a.-1", "-1"] {
                #expect(await server.ask("GET", "/_changes/x?since=\(wrong)").status == 410, "\(wrong)")
            }
        }

        @Test("A store that follows a server through a restore from a backup ends up with what the server has")
        func followsARestore() async throws {
            let server = try Restorable(model: Notebook.model)
            var configuration = try StackMobConfiguration(publicKey: "7c1f7a3e-4b7a-4f3a-9d1c-0123456789ab")
            configuration.dialect.usesExtensions = true
            configuration.dialect.securesCredentials = false
            configuration.sessionStorage = MemorySessionStorage()
            configuration.transport = server
            var options = RemoteStore.Options()
            options.fetchPolicy = .cacheOnly
            options.sync.entities = ["Note"]
            let stack = try StackMobStore.open(
                model: Notebook.model, client: StackMobClient(configuration), location: .memory(name: nil),
                options: options)
            let context = try PersistentContainer(store: stack.remote).newContext(automaticallyMergesChanges: true)
            func titles() async throws -> [String] {
                try await context.fetch(FetchRequest<ManagedObject>(entity: "Note", sortedBy: [FetchSort("title")]))
                    .map { $0["title"] as? String ?? "" }
            }
            await server.ask("POST", "/note", #"{"note_id":"a","title":"a"}"#)
            try server.backUp()
            await server.ask("POST", "/note", #"{"note_id":"lost","title":"lost"}"#)
            try await stack.sync.pull()
            #expect(try await titles() == ["a", "lost"])
            try server.restore()
            for id in ["b", "c"] { await server.ask("POST", "/note", #"{"note_id":"\#(id)","title":"\#(id)"}"#) }
            try await stack.sync.pull()
            #expect(try await titles() == ["a", "b", "c"])
        }

        @Test("Deletions are known for a time, and clients that were away for longer begin anew")
        func age() async throws {
            let bench = try Bench { $0.storage.deletionLifetime = 100 }
            for id in ["a", "b", "c", "d"] { await bench.send("POST", "/x", ["x_id": .string(id)]) }
            await bench.send("POST", "/y", ["y_id": "a"])
            func cursor(_ schema: String) async -> String {
                await bench.send("GET", "/_changes/\(schema)").json?["next"]?.string ?? ""
            }
            let (old, other) = (await cursor("x"), await cursor("y"))
            await bench.send("DELETE", "/x/a")
            let between = await cursor("x")
            bench.advance(seconds: 101)
            // A first reading that is under way does not end for what was gone before it began.
            let first = await bench.send("GET", "/_changes/x?limit=1").json?["next"]?.string ?? ""
            #expect(await bench.send("GET", "/_changes/x?since=\(old)").json?["deleted"] == ["a"])
            await bench.send("DELETE", "/x/b")
            #expect(await bench.send("GET", "/_changes/x?since=\(old)").status == 410)
            #expect(await bench.send("GET", "/_changes/x?since=\(between)").json?["deleted"] == ["b"])
            #expect(await bench.send("GET", "/_changes/x").json?["deleted"] == ["b"])
            #expect(await bench.send("GET", "/_changes/y?since=\(other)").status == 200)
            var (next, found) = (first, [JSONValue]())
            while true {
                let page = await bench.send("GET", "/_changes/x?since=\(next)&limit=1")
                try #require(page.status == 200, "\(page.text)")
                found += page.json?["objects"]?.elements?.map { $0["x_id"] ?? .null } ?? []
                next = page.json?["next"]?.string ?? ""
                if page.json?["more"] == false { break }
            }
            #expect(found == ["c", "d"])
            #expect(await bench.send("GET", "/_changes/x?since=\(next)").json?["objects"] == [])
        }

        @Test("The number of deletions that are known is bounded")
        func number() async throws {
            let bench = try Bench { $0.storage.deletions = 10 }
            let old = await bench.send("GET", "/_changes/x").json?["next"]?.string ?? ""
            #expect(old == "0")
            await bench.send("POST", "/x", ["x_id": "kept"])
            let cursor = await bench.send("GET", "/_changes/x").json?["next"]?.string ?? ""
            for _ in 0..<3 {
                await bench.send("POST", "/x", .array((0..<20).map { ["n": .integer(Int64($0))] }))
                #expect(await bench.send("DELETE", "/x?n[gte]=0").status == 200)
            }
            let known = await bench.send("GET", "/_changes/x?limit=10000").json?["deleted"]?.elements?.count
            #expect(known == 30)
            #expect(await bench.send("GET", "/_changes/x?since=\(cursor)").status == 410)
        }

        @Test("A configuration says how long deletions are known, and how many")
        func configuration() throws {
            let options = try ServerConfiguration(yaml: "deletions: {lifetime: 3600, count: 5}", path: "c").options
            #expect(options.storage.deletionLifetime == 3600 && options.storage.deletions == 5)
            for yaml in ["deletions: {lifetime: 0}", "deletions: {count: 0}", "deletions: {age: 5}"] {
                #expect(throws: ServerSetupError.self, "\(yaml)") { try ServerConfiguration(yaml: yaml, path: "c") }
            }
        }
    }
#endif
