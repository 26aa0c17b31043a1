import Foundation
import StrataStore
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A server of plain sockets on loopback that answers each connection with what a function gives, byte by byte as it
/// appears there, and then closes it.
final class LoopbackServer: Sendable {
    /// What came in: the head as text, with its line ends, and the body.
    struct Request: Sendable {
        var head: String
        var body: Data

        var line: String { String(head.prefix { $0 != "\r\n" && $0 != "\r" }) }

        func header(_ name: String) -> String? {
            for line in head.components(separatedBy: "\r\n").dropFirst() {
                guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == name.lowercased() else {
                    continue
                }
                return line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            }
            return nil
        }
    }

    enum Answer: Sendable {
        /// Bytes, each part so many seconds after the one before.
        case bytes([Data], pause: Double = 0)
        /// Nothing, until the other side hangs up.
        case silence

        static func http(_ status: String, headers: [String] = [], body: String = "") -> Answer {
            let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)", "Connection: close"] + headers
            return .bytes([Data((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)])
        }
    }

    let port: UInt16
    private let log = Log()

    /// What connections write to, which may live longer than the server.
    private final class Log: Sendable {
        let requests = Guarded<[Request]>([])
        let hangUps = Atomic<Int>(0)
        let isStopped = Atomic<Bool>(false)
    }

    var requests: [Request] { log.requests.withLock { $0 } }
    /// How many silent connections the other side has ended.
    var ended: Int { log.hangUps.load(ordering: .acquiring) }
    var authority: String { "127.0.0.1:\(port)" }

    init(_ answer: @escaping @Sendable (Request) -> Answer) throws {
        let listener = Self.makeSocket()
        var address = Self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [log] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0, !log.isStopped.load(ordering: .acquiring) else {
                    // Closed by the thread that uses it: the next server may get the same number.
                    close(listener)
                    if connection >= 0 { close(connection) }
                    return
                }
                Thread.detachNewThread {
                    Self.serve(connection, log, answer)
                    close(connection)
                }
            }
        }
    }

    deinit {
        log.isStopped.store(true, ordering: .releasing)
        // Wakes the thread.
        let visitor = Self.makeSocket()
        var address = Self.address(port: port)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                connect(visitor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        close(visitor)
    }

    private static func makeSocket() -> CInt {
        #if canImport(Darwin)
            socket(AF_INET, SOCK_STREAM, 0)
        #else
            socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        #endif
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    private static func serve(_ connection: CInt, _ log: Log, _ answer: (Request) -> Answer) {
        guard let request = read(connection) else { return }
        log.requests.withLock { $0.append(request) }
        switch answer(request) {
        case .silence:
            var byte: UInt8 = 0
            while recv(connection, &byte, 1, 0) > 0 {}
            log.hangUps.add(1, ordering: .releasing)
        case .bytes(let parts, let pause):
            for (index, part) in parts.enumerated() {
                if index > 0, pause > 0 { Thread.sleep(forTimeInterval: pause) }
                let sent = part.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
                guard sent == part.count else { break }
            }
        }
    }

    private static func read(_ connection: CInt) -> Request? {
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 65536)
        let end = Data("\r\n\r\n".utf8)
        while true {
            if let mark = bytes.range(of: end) {
                var request = Request(
                    head: String(decoding: bytes[..<mark.lowerBound], as: UTF8.self), body: bytes[mark.upperBound...])
                let length = request.header("Content-Length").flatMap { Int($0) } ?? 0
                if request.body.count >= length {
                    request.body = Data(request.body)
                    return request
                }
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes.append(contentsOf: buffer[..<count])
        }
    }
}
