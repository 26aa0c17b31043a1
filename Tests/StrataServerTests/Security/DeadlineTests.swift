#if Server
    import Foundation
    import Logging
    @testable import StrataServer
    import StrataStore
    import Testing

    @Suite struct DeadlineTests {
        @Test("A query ends when nobody waits for its answer any more")
        func cancelled() async throws {
            let bench = try Bench()
            let many = JSONValue.array((0..<2_000).map { ["n": .integer(Int64($0)), "t": .string("text \($0)")] })
            #expect(await bench.send("POST", "/todo", many).status == 201)
            let database = try #require(bench.server.databases.development).database
            let cancellations = Guarded<[ServerError]>([])
            let started = Guarded(false)
            let task = Task {
                try? await database.read { (scope) throws(ServerError) in
                    started.withLock { $0 = true }
                    // Ends by being cancelled only.
                    while true {
                        do throws(ServerError) {
                            let request = FetchRequest<ManagedObject>(entity: "Object_todo", sortedBy: [FetchSort("t")])
                            _ = try scope.fetch(request)
                            _ = try scope.count(request)
                        } catch {
                            cancellations.withLock { $0.append(error) }
                            throw error
                        }
                    }
                }
            }
            while !started.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
            task.cancel()
            await task.value
            #expect(cancellations.withLock { $0.map(\.status) } == [503])
        }
    }

    @Suite struct ObservingTests {
        @Test("Metrics are written as Prometheus reads them, for those who may read them")
        func prometheus() async throws {
            let registry = PrometheusRegistry()
            registry.makeCounter(label: "http.requests", dimensions: [("path", "a\"b\n")]).increment(by: 3)
            let timer = registry.makeTimer(label: "duration_seconds", dimensions: [])
            timer.recordNanoseconds(20_000_000)
            timer.recordNanoseconds(2_000_000_000)
            let text = registry.text()
            #expect(text.contains("# TYPE http_requests counter\nhttp_requests{path=\"a\\\"b\\n\"} 3\n"))
            #expect(text.contains("duration_seconds_bucket{le=\"0.025\"} 1\n"))
            #expect(text.contains("duration_seconds_bucket{le=\"+Inf\"} 2\n"))
            #expect(text.contains("duration_seconds_sum 2.02\nduration_seconds_count 2\n"))

            let bench = try Bench { $0.network.metricsReaders = ["192.0.2.0/24"].compactMap(ClientNetwork.init) }
            func status(_ client: String) async -> Int {
                await bench.server.respond(to: ServerRequest("GET", "/_metrics", client: client)).status
            }
            #expect(await status("192.0.2.9") == 200)
            #expect(await status("198.51.100.7") == 404)
            #expect(await status("127.0.0.1") == 404)
        }

        @Test("Logs name no accounts, no objects and no queries")
        func logs() async throws {
            let lines = Guarded<[String]>([])
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let logger = Logger(label: "test") { label in
                JSONLogHandler(label: label) { line in
                    lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
                }
            }
            let server = try DataServer(folder: folder.path, logger: logger)
            defer { server.close() }
            for target in ["/user/ann@x.org", "/todo/secret-id/field?email=bob@x.org", "/user/loggedInUser"] {
                _ = await server.respond(to: ServerRequest("GET", target))
            }
            let text = lines.withLock { $0.joined() }
            #expect(!text.contains("ann") && !text.contains("secret-id") && !text.contains("bob"))
            #expect(
                text.contains("\"/user/*\"") && text.contains("\"/todo/*/*\"") && text.contains("/user/loggedInUser"))
        }

        @Test(
            "A certificate that is renewed is used without a new start",
            .enabled(if: Tool.areThere(["openssl", "curl"])))
        func renewal() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let (key, chain) = try Tool.certificate(in: folder)
            let server = try ServerProcess(folder: folder, arguments: ["--tls-certificate", chain, "--tls-key", key])
            func isTrusted(_ chain: String) -> Bool {
                let address = "https://localhost:\(server.port)/health"
                return (try? Tool.end("curl", ["-sf", "--max-time", "60", "--cacert", chain, address]))?.status == 0
            }
            #expect(isTrusted(chain))
            let other = folder.appending(path: "renewed")
            try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
            let (newKey, newChain) = try Tool.certificate(in: other)
            #expect(!isTrusted(newChain))
            for (old, new) in [(chain, newChain), (key, newKey)] {
                try FileManager.default.removeItem(atPath: old)
                try FileManager.default.copyItem(atPath: new, toPath: old)
            }
            var isRenewed = false
            for _ in 0..<300 where !isRenewed {
                isRenewed = isTrusted(newChain)
                if !isRenewed { try await Task.sleep(for: .milliseconds(100)) }
            }
            #expect(isRenewed)
            #expect(server.end() == 0)
        }
    }
#endif
