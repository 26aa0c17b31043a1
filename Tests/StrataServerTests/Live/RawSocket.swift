#if Server
    import Foundation
    import StrataServer
    import Testing

    /// A web socket made of bytes, which may break any rule.
    final class RawSocket {
        /// A frame as it comes from the server.
        struct Frame: Equatable {
            var opcode: UInt8
            var data: [UInt8]
            var isFinal = true

            var text: String { String(decoding: data, as: UTF8.self) }
            /// The number of a frame that closes.
            var closing: Int? { opcode == 8 && data.count >= 2 ? Int(data[0]) << 8 | Int(data[1]) : nil }
        }

        let socket: Socket
        private var bytes: [UInt8] = []

        init(port: Int, receiveBuffer: Int32? = nil) throws {
            socket = try Socket(port: port, receiveBuffer: receiveBuffer)
        }

        static let usual = [
            "Host: localhost", "Connection: keep-alive, Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ]

        /// Sends a request, and gives the head of the answer.
        func ask(_ path: String, method: String = "GET", _ headers: [String] = usual) async -> String {
            socket.send((["\(method) \(path) HTTP/1.1"] + headers + ["", ""]).joined(separator: "\r\n"))
            return await head()
        }

        /// The head of an answer; its body stays.
        func head() async -> String {
            while true {
                if let end = Data(bytes).firstRange(of: Data("\r\n\r\n".utf8)) {
                    defer { bytes.removeFirst(end.upperBound) }
                    return String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
                }
                guard await more() else { return "" }
            }
        }

        /// The body of an answer, whose head says how long it is.
        func body(_ head: String) async -> String {
            let count = head.lowercased().firstMatch(of: /content-length: (\d+)/).flatMap { Int($0.1) } ?? 0
            while bytes.count < count, await more() {}
            defer { bytes.removeFirst(min(count, bytes.count)) }
            return String(decoding: bytes.prefix(count), as: UTF8.self)
        }

        private func more() async -> Bool {
            // Other tests may have all threads that are shared.
            let part = await withCheckedContinuation { continuation in
                Thread.detachNewThread { [socket] in continuation.resume(returning: socket.receiveNow()) }
            }
            bytes += part
            return !part.isEmpty
        }

        /// Sends a frame.
        /// - Parameter first: Its first byte: whether it is the last of its message, and what it is.
        @discardableResult
        func send(_ first: UInt8, _ data: some Collection<UInt8>, isMasked: Bool = true) -> Bool {
            let mask: [UInt8] = isMasked ? [1, 2, 3, 4] : []
            var frame = [first]
            let flag: UInt8 = isMasked ? 0x80 : 0
            switch data.count {
            case ..<126: frame.append(flag | UInt8(data.count))
            case ..<65_536: frame += [flag | 126, UInt8(data.count >> 8), UInt8(data.count & 255)]
            default: frame += [flag | 127] + (0..<8).reversed().map { UInt8(data.count >> ($0 * 8) & 255) }
            }
            frame += mask
            for (place, byte) in data.enumerated() { frame.append(isMasked ? byte ^ mask[place % 4] : byte) }
            return socket.send(frame)
        }

        @discardableResult
        func say(_ text: String) -> Bool { send(0x81, Array(text.utf8)) }

        /// The next frame; nil when the connection has ended.
        func frame() async -> Frame? {
            while true {
                if let (frame, count) = parsed() {
                    bytes.removeFirst(count)
                    return frame
                }
                guard await more() else { return nil }
            }
        }

        /// The next frame that is not a ping.
        func message() async -> Frame? {
            while let frame = await frame() {
                if frame.opcode != 9 { return frame }
            }
            return nil
        }

        private func parsed() -> (Frame, Int)? {
            guard bytes.count >= 2 else { return nil }
            var (length, start) = (Int(bytes[1] & 127), 2)
            let more = length == 126 ? 2 : length == 127 ? 8 : 0
            guard bytes.count >= start + more else { return nil }
            if more > 0 { length = bytes[start..<start + more].reduce(0) { $0 << 8 | Int($1) } }
            start += more
            guard bytes.count >= start + length else { return nil }
            let frame = Frame(
                opcode: bytes[0] & 15, data: Array(bytes[start..<start + length]), isFinal: bytes[0] & 0x80 != 0)
            return (frame, start + length)
        }

        /// A web socket that has connected to Parse.
        static func connected(port: Int, receiveBuffer: Int32? = nil) async throws -> RawSocket {
            let socket = try RawSocket(port: port, receiveBuffer: receiveBuffer)
            let head = await socket.ask("/parse")
            try #require(head.hasPrefix("HTTP/1.1 101"), "\(head)")
            socket.say(#"{"op":"connect","applicationId":"app"}"#)
            let answer = try #require(await socket.message())
            try #require(answer.text.contains("connected"), "\(answer)")
            return socket
        }
    }
#endif
