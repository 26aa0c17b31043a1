#if Server
    import ChildProcesses
    import Foundation
    import StrataServer
    import Testing

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Darwin)
        import Darwin
    #endif

    extension Bench {
        /// Serves over loopback while a closure runs.
        func serving<T: Sendable>(_ body: @escaping @Sendable (Int) async throws -> T) async throws -> T {
            let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
            let service = HTTPService(server)
            let task = Task {
                defer { continuation.finish() }
                try await service.run(endsOnSignals: false) { continuation.yield($0) }
            }
            var iterator = ports.makeAsyncIterator()
            let port = try #require(await iterator.next(), "the service did not start")
            do {
                let value = try await body(port)
                task.cancel()
                _ = await task.result
                return value
            } catch {
                task.cancel()
                _ = await task.result
                throw error
            }
        }
    }

    /// The server as a process of its own.
    final class ServerProcess {
        let process = Process()
        let folder: URL
        private(set) var port = 0
        private let log: URL

        /// The server ended instead of taking requests.
        struct Ended: Error {
            var lines: [String]
        }

        init(folder: URL, arguments: [String] = []) throws {
            self.folder = folder
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            log = folder.appending(path: "log-\(UUID().uuidString).jsonl")
            try #require(FileManager.default.createFile(atPath: log.path, contents: nil))
            process.executableURL = try TestExecutable.named("strata-server")
            process.arguments =
                ["--port", "0", "--data", folder.appending(path: "data").path, "--log-level", "notice"] + arguments
            process.standardError = try FileHandle(forWritingTo: log)
            // A reader of the tests' output waits for all processes that have it open.
            process.standardOutput = FileHandle.nullDevice
            try process.start()
            while port == 0 {
                guard process.isRunning else { throw Ended(lines: lines) }
                let line = lines.first { $0.contains("\"listening\"") }
                if let line, let json = try? JSONValue(parsing: Data(line.utf8)) {
                    port = json["url"]?.string.flatMap { $0.split(separator: ":").last }.flatMap { Int($0) } ?? 0
                }
                if port == 0 { usleep(5_000) }
            }
        }

        /// What it logged.
        var lines: [String] {
            ((try? String(contentsOf: log, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
        }

        /// The resident memory in bytes; nil where the system does not tell.
        var memory: Int? {
            guard let status = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
            else { return nil }
            return status.firstMatch(of: /VmRSS:\s+(\d+) kB/).flatMap { Int($0.1) }.map { $0 * 1024 }
        }

        func kill() {
            Foundation.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }

        func end() -> Int32 {
            process.terminate()
            process.waitUntilExit()
            return process.terminationStatus
        }

        deinit { if process.isRunning { kill() } }
    }

    /// Custom code that blocks its thread until it is released.
    final class BlockingMethod: Sendable {
        private let (gate, begun) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

        /// Answers with `{"is":"over"}`.
        var method: CustomMethod {
            { [gate, begun] _ throws(ServerError) in
                begun.signal()
                gate.wait()
                return ServerResponse(json: ["is": "over"])
            }
        }

        /// Waits until so many calls block their threads.
        func isCalled(_ count: Int = 1) async {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { [begun] in
                    for _ in 0..<count { begun.wait() }
                    continuation.resume()
                }
            }
        }

        /// Releases calls.
        func release(_ count: Int = 1) { for _ in 0..<count { gate.signal() } }
    }

    /// Programs that the system may have.
    enum Tool {
        static func areThere(_ names: [String]) -> Bool { names.allSatisfy { path(of: $0) != nil } }

        private static func path(of name: String) -> String? {
            ["/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"].map { $0 + name }
                .first { FileManager.default.isExecutableFile(atPath: $0) }
        }

        /// Runs a program to its end, which must be a success, and gives what it prints.
        static func run(_ name: String, _ arguments: [String]) throws -> Data {
            let (output, status) = try end(name, arguments)
            try #require(status == 0, "\(name) \(arguments) ended with \(status)")
            return output
        }

        /// Runs a program to its end, whatever that is.
        static func end(_ name: String, _ arguments: [String]) throws -> (output: Data, status: Int32) {
            let process = Process()
            process.executableURL = URL(filePath: try #require(path(of: name)))
            process.arguments = arguments
            let pipe = Pipe.forLaunch()
            process.standardOutput = pipe
            process.standardError = FileHandle.nullDevice
            try process.start()
            let output = pipe.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return (output, process.terminationStatus)
        }

        /// Makes a certificate for `localhost` that nobody else trusts.
        /// - Parameter folder: Made where it is missing.
        /// - Returns: The paths of its key and of itself.
        static func certificate(in folder: URL) throws -> (key: String, chain: String) {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let (key, chain) = (folder.appending(path: "key.pem").path, folder.appending(path: "chain.pem").path)
            _ = try run(
                "openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", chain,
                ])
            return (key, chain)
        }
    }

    /// A plain TCP connection to a server on this machine.
    final class Socket: Sendable {
        private let descriptor: Int32

        /// - Parameter receiveBuffer: How much the system buffers before it is read, in bytes; nil for as much as it
        ///   likes.
        init(port: Int, receiveBuffer: Int32? = nil) throws {
            #if canImport(Glibc)
                descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #else
                descriptor = socket(AF_INET, SOCK_STREAM, 0)
            #endif
            if var size = receiveBuffer {
                setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(port).bigEndian
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            // The address is a sockaddr_in, which is what the family says; the pointer lives as long as the call.
            let status = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            try #require(status == 0, "connect: \(String(cString: strerror(errno)))")
            var timeout = timeval(tv_sec: 20, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        }

        deinit { close(descriptor) }

        /// Sends bytes.
        /// - Returns: Whether the other side still takes any.
        @discardableResult
        func send(_ bytes: some Collection<UInt8>) -> Bool {
            var rest = Array(bytes)[...]
            while !rest.isEmpty {
                #if canImport(Glibc)
                    let flags = Int32(MSG_NOSIGNAL)
                #else
                    let flags: Int32 = 0
                #endif
                let count = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, flags) }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }

        @discardableResult
        func send(_ text: String) -> Bool { send(text.utf8) }

        /// Says that nothing more is sent.
        func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

        /// What comes next, at most 64 KB; empty if the other side has closed, or says nothing for 20 seconds. Blocks the
        /// thread.
        func receiveNow() -> Data {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            return Data(buffer.prefix(max(0, count)))
        }

        /// The same on a thread of its own.
        func receive() async -> Data {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: self.receiveNow()) }
            }
        }

        /// Reads until the other side closes: at first a little, ten times a second, then as fast as it comes. It has a
        /// thread of its own, so that a busy machine does not make it slower than it means to be.
        /// - Returns: The number of bytes.
        func countAll(slowlyFor time: Duration) async -> Int {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    let end = ContinuousClock.now + time
                    var count = 0
                    for round in 1... {
                        let part = self.receiveNow()
                        if part.isEmpty { break }
                        count += part.count
                        if round.isMultiple(of: 16), ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.1) }
                    }
                    continuation.resume(returning: count)
                }
            }
        }

        /// All that comes until the other side closes. Waits on a thread of its own, because a server in this process
        /// needs those of the tasks.
        func receiveAll() async -> String {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    var data = Data()
                    while true {
                        let part = self.receiveNow()
                        if part.isEmpty { break }
                        data += part
                    }
                    continuation.resume(returning: String(decoding: data, as: UTF8.self))
                }
            }
        }
    }
#endif
