#if Postgres
    import Foundation
    import StrataStore

    /// Forwards between a client and the server on Unix sockets, and can cut the connection at a bad moment.
    final class UnixProxy: Sendable {
        /// When the connection is cut.
        enum Cut: Sendable {
            case never
            /// When the client asks to commit, before the server receives that.
            case beforeCommit
            /// When the server has committed, before the client receives the answer.
            case afterCommit
        }

        /// How often a connection is still to be cut.
        let cuts: Guarded<(cut: Cut, count: Int)> = Guarded((.never, 0))
        private let folder: String
        private let listener: Int32

        /// - Parameter target: The folder of the server's socket.
        init(target: String) throws {
            folder =
                FileManager.default.temporaryDirectory.appendingPathComponent("px-\(UInt32.random(in: 0...(.max)))")
                .path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            listener = Self.makeSocket()
            guard Self.withAddress("\(folder)/.s.PGSQL.5432", { bind(listener, $0, $1) }) == 0,
                Self.beginListening(listener)
            else { throw POSIXError(.EADDRINUSE) }
            let (socket, cuts) = (listener, cuts)
            Thread.detachNewThread {
                while true {
                    let client = accept(socket, nil, nil)
                    if client < 0 { return }
                    let server = Self.makeSocket()
                    guard Self.withAddress("\(target)/.s.PGSQL.5432", { connect(server, $0, $1) }) == 0 else { return }
                    Thread.detachNewThread { Self.forward(client, server, cuts, at: .beforeCommit) }
                    Thread.detachNewThread { Self.forward(server, client, cuts, at: .afterCommit) }
                }
            }
        }

        deinit {
            shutdown(listener, Int32(SHUT_RDWR))
            close(listener)
            try? FileManager.default.removeItem(atPath: folder)
        }

        /// The address of a database through the proxy.
        func address(of url: String) -> String {
            let name = url.split(separator: "/").last.map(String.init) ?? ""
            let host = folder.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? folder
            return "postgres://strata@\(host)/\(name)"
        }

        private static func beginListening(_ socket: Int32) -> Bool { listen(socket, 16) == 0 }

        private static func makeSocket() -> Int32 {
            #if canImport(Glibc)
                socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            #else
                socket(AF_UNIX, SOCK_STREAM, 0)
            #endif
        }

        private static func withAddress(
            _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
        ) -> Int32 {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { buffer in
                for (offset, byte) in path.utf8.enumerated() where offset < buffer.count - 1 { buffer[offset] = byte }
            }
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }

        private static func forward(_ from: Int32, _ to: Int32, _ cuts: Guarded<(cut: Cut, count: Int)>, at place: Cut)
        {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let word = Array("COMMIT\u{0}".utf8)
            while true {
                let count = recv(from, &buffer, buffer.count, 0)
                if count <= 0 { break }
                let isCommit = buffer[..<count].indices.contains { start in
                    start + word.count <= count && buffer[start..<start + word.count].elementsEqual(word)
                }
                let isCut = cuts.withLock { state in
                    guard isCommit, state.cut == place, state.count > 0 else { return false }
                    state.count -= 1
                    return true
                }
                if isCut { break }
                var sent = 0
                while sent < count {
                    let done = buffer.withUnsafeBytes {
                        send(to, $0.baseAddress! + sent, count - sent, Int32(MSG_NOSIGNAL))
                    }
                    if done <= 0 { break }
                    sent += done
                }
                if sent < count { break }
            }
            shutdown(from, Int32(SHUT_RDWR))
            shutdown(to, Int32(SHUT_RDWR))
        }
    }
#endif
