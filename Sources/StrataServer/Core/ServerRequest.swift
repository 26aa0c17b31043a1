#if Server
    import Foundation
    import StrataWire

    /// A request as the core sees it, whatever brought it.
    public struct ServerRequest: Sendable {
        /// The method in capitals.
        public var method: String
        /// The path as sent: it begins with `/` and is percent-encoded.
        public var path: String
        /// The query as sent, without the question mark; empty if there is none.
        public var query: String
        /// The headers in their order.
        public var headers: [(name: String, value: String)]
        /// The body.
        public var body: Data
        /// Who asks, for the bound on requests: an address.
        public var client: String
        /// Whether the request came over TLS.
        public var isSecure: Bool

        /// Collects the parts of a request.
        /// - Parameter target: Path and query as they appear in the first line: `/city?capital=true`.
        public init(
            _ method: String, _ target: String, headers: [(name: String, value: String)] = [], body: Data = Data(),
            client: String = "local", isSecure: Bool = false
        ) {
            self.method = method.uppercased()
            var target = target[...]
            if !target.hasPrefix("/") { Self.dropAuthority(&target) }
            let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
            let path = String(target[..<mark])
            self.path = path.hasPrefix("/") ? path : "/" + path
            query = String(target[mark...].dropFirst())
            self.headers = headers
            self.body = body
            self.client = client
            self.isSecure = isSecure
        }

        /// A request through a proxy names the whole URL.
        private static func dropAuthority(_ target: inout Substring) {
            guard let scheme = target.firstRange(of: "://"), !target[..<scheme.lowerBound].contains("/") else { return }
            target = target[scheme.upperBound...]
            target = target[(target.firstIndex { $0 == "/" || $0 == "?" } ?? target.endIndex)...]
        }

        /// The names and values of the query in their order; nil if one is not UTF-8. As in forms, `+` is a space: this is how
        /// most HTTP libraries write one, and those that mean a plus sign write `%2B`.
        package var parameters: [QueryParameters.Parameter]? { QueryParameters.read(query, isForm: true) }

        /// The first value of a header; names have no case.
        public func header(_ name: String) -> String? {
            headers.first { HeaderName.areEqual($0.name, name) }?.value
        }

        /// Path and query as sent.
        var target: String { query.isEmpty ? path : path + "?" + query }
        /// How it came: `https` or `http`.
        var scheme: String { isSecure ? "https" : "http" }

        /// The parts of a path, without escapes.
        static func segments(_ path: String) throws(ServerError) -> [String] {
            var segments: [String] = []
            for raw in path.utf8.split(separator: UInt8(ascii: "/")) {
                guard raw.contains(UInt8(ascii: "%")) else {
                    segments.append(String(Substring(raw)))
                    continue
                }
                guard let segment = PercentEncoding.decode(Substring(raw)) else {
                    throw .badRequest("The path is not UTF-8.")
                }
                segments.append(segment)
            }
            return segments
        }
    }

    /// Names of headers, which are ASCII and have no case.
    enum HeaderName {
        /// Whether two names are one. Every request asks this many times, so that it makes no copies.
        static func areEqual(_ one: String, _ other: String) -> Bool {
            let (one, other) = (one.utf8, other.utf8)
            return one.count == other.count && zip(one, other).allSatisfy { lowercase($0) == lowercase($1) }
        }

        private static func lowercase(_ byte: UInt8) -> UInt8 {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
    }

    /// An answer of the core.
    public struct ServerResponse: Sendable {
        /// The status.
        public var status: Int
        /// The headers in their order.
        public var headers: [(name: String, value: String)]
        /// The body.
        public var body: Data
        /// What follows the answer on the connection, if it begins a web socket.
        var dialogue: (any SocketDialogue)?

        /// Collects the parts of an answer.
        public init(status: Int, headers: [(name: String, value: String)] = [], body: Data = Data()) {
            self.status = status
            self.headers = headers
            self.body = body
        }

        /// An answer in JSON. A value that JSON cannot spell, such as an infinite number, becomes an answer of status 500
        /// that says where it is.
        public init(status: Int = 200, json: JSONValue, headers: [(name: String, value: String)] = []) {
            let headers = [("Content-Type", "application/json")] + headers
            do throws(JSONWritingError) {
                self.init(status: status, headers: headers, body: try json.data())
            } catch {
                let message = JSONValue.string("The answer cannot be written: \(error).")
                self.init(status: 500, headers: headers, body: Data("{\"error\":\(message)}".utf8))
            }
        }

        /// The first value of a header; names have no case.
        public func header(_ name: String) -> String? {
            headers.first { HeaderName.areEqual($0.name, name) }?.value
        }

        /// The body as JSON; nil if it is not JSON.
        public var json: JSONValue? { try? JSONValue(parsing: body) }
    }
#endif
