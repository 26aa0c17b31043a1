#if Server && AsyncHTTP
    import Foundation
    import NIOSSL
    import StrataAsyncHTTP
    import StrataRemote
    import Testing

    /// What `AsyncHTTPTransport` does that needs a whole server at the other end.
    @Suite struct AsyncHTTPTests {
        private static func request(_ scheme: String, _ authority: String, _ path: String) -> WireRequest {
            WireRequest(HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path))
        }

        @Test(
            "It speaks TLS with whom it is told to trust, and with nobody else",
            .enabled(if: Tool.areThere(["openssl"])))
        func tls() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-server-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let (key, chain) = try Tool.certificate(in: folder)
            let server = try ServerProcess(
                folder: folder, arguments: ["--tls-certificate", chain, "--tls-key", key, "--require-tls"])
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(chain)
            var configuration = AsyncHTTPTransport.standardConfiguration
            configuration.tlsConfiguration = tls
            let trusting = AsyncHTTPTransport(configuration: configuration)
            let answer = try await trusting.send(
                Self.request("https", "localhost:\(server.port)", "/health"), timeout: 20)
            #expect(answer.status == 200)
            // Nobody gets through to another name, or to a certificate of nobody's, however often it is tried.
            for (transport, host) in [(trusting, "127.0.0.1"), (AsyncHTTPTransport(), "localhost")] {
                await #expect {
                    try await transport.send(
                        Self.request("https", "\(host):\(server.port)", "/health"), timeout: 20)
                } throws: {
                    ($0 as? RemoteError)?.kind == .invalidAnswer
                }
            }
            #expect(server.end() == 0)
        }
    }
#endif
