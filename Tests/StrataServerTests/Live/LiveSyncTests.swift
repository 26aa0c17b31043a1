#if Server && AsyncHTTP
    import Foundation
    import NIOSSL
    import StrataAsyncHTTP
    import StrataMaxLeap
    import StrataRemote
    import StrataServer
    import StrataStore
    import Testing

    /// The client of live queries in this package, with a server that has them.
    @Suite struct LiveSyncTests {
        private static func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(name: "Chat") {
                Entity("Message") {
                    Attribute("messageId", .string)
                    Attribute("text", .string, default: .value(""))
                }
            }
        }

        /// A device with a copy of the objects.
        private final class Device {
            let store: RemoteStore
            let container: PersistentContainer
            private var watch: ServerChangeWatch?

            init(_ server: LoopbackServer, follows: Bool) throws {
                let (client, model) = (try server.maxLeapClient(.parse), try LiveSyncTests.model())
                var options = RemoteStore.Options()
                options.fetchPolicy = .cacheOnly
                options.sync.changeDelay = 0.05
                options.sync.request.timeout = 300
                store = try RemoteStore.open(
                    model: model, backend: client.backend(for: model), location: .memory(name: nil), options: options)
                container = try PersistentContainer(store: store)
                guard follows else { return }
                let live = try ParseLiveQuery(client, classes: ["Message"], sockets: AsyncWebSocketTransport())
                watch = store.synchronizes(with: live)
            }

            var messages: [String: String] {
                get throws {
                    let all = try container.newContext().fetch(FetchRequest<ManagedObject>(entity: "Message"))
                    return Dictionary(
                        uniqueKeysWithValues: all.map {
                            ($0["messageId"] as? String ?? "", $0["text"] as? String ?? "")
                        })
                }
            }

            func end() {
                watch = nil
                store.close()
            }
        }

        private func eventually(_ what: String, _ condition: () throws -> Bool) async throws {
            for _ in 0..<3000 {
                if try condition() { return }
                try await Task.sleep(for: .milliseconds(10))
            }
            Issue.record("\(what) did not come")
        }

        @Test("What one device saves comes to the other by itself")
        func devices() async throws {
            try await withServer(model: Self.model(), { $0.dialects = Places.all }) { server in
                let (writer, reader) = (
                    try Device(server, follows: false), try Device(server, follows: true)
                )
                let context = writer.container.newContext()
                let message = try context.insert(entityNamed: "Message")
                message["messageId"] = "a"
                message["text"] = "hello"
                try await context.save()
                _ = try await writer.store.sync.synchronize()
                try await eventually("the message") { try reader.messages == ["a": "hello"] }
                message["text"] = "good-bye"
                try await context.save()
                _ = try await writer.store.sync.synchronize()
                try await eventually("the change") { try reader.messages == ["a": "good-bye"] }
                context.delete(message)
                try await context.save()
                _ = try await writer.store.sync.synchronize()
                try await eventually("the deletion") { try reader.messages.isEmpty }
                writer.end()
                reader.end()
            }
        }

        @Test("Live queries come over TLS, too", .enabled(if: Tool.areThere(["openssl"])))
        func tls() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let (key, chain) = try Tool.certificate(in: folder)
            let path = folder.appending(path: "server.yaml").path
            try Data((Places.yamlOfParse + "requireTLS: true\n").utf8).write(to: URL(filePath: path))
            let server = try ServerProcess(
                folder: folder, arguments: ["--config", path, "--tls-certificate", chain, "--tls-key", key])
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(chain)
            var client = try await LiveClient(
                port: server.port, transport: AsyncWebSocketTransport(tls: tls), scheme: "wss", host: "localhost")
            try await client.connect()
            try await client.subscribe(1, "Post")
            var configuration = AsyncHTTPTransport.standardConfiguration
            configuration.tlsConfiguration = tls
            var request = WireRequest(
                HTTPRequest(
                    method: .post, scheme: "https", authority: "localhost:\(server.port)", path: "/parse/classes/Post"),
                body: Data(#"{"objectId":"a"}"#.utf8))
            for (name, value) in ["X-Parse-Application-Id": "app", "Content-Type": "application/json"] {
                request.head.headerFields[try #require(.init(name))] = value
            }
            let answer = try await AsyncHTTPTransport(configuration: configuration).send(request, timeout: 60)
            #expect(answer.status == 201)
            #expect(try await client.event() == "create a")
            // The end of the server reaches the client through TLS.
            server.process.terminate()
            #expect(await client.isEnded())
            server.process.waitUntilExit()
            #expect(server.process.terminationStatus == 0)
        }
    }
#endif
