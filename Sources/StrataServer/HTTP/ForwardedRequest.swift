#if Server
    import Foundation

    /// What a proxy in front of the server says about a request: who sent it, over what, and to which host. Clients sign
    /// what they see, which is the proxy.
    struct ForwardedRequest {
        /// The address of the client.
        private(set) var client: String
        /// Whether it came over TLS.
        private(set) var isSecure: Bool
        /// Host and port as the client named them.
        private(set) var host: String?

        /// Reads `Forwarded` (RFC 7239), or else `X-Forwarded-For`, `-Proto`, `-Host` and `-Port`, if a trusted proxy sends
        /// them. Of a chain of proxies the last address counts that is not a trusted proxy's: what comes before it,
        /// anybody may have written.
        init(
            headers: [(name: String, value: String)], client: String, isSecure: Bool, trusted: [ClientNetwork]
        ) {
            (self.client, self.isSecure) = (client, isSecure)
            guard Self.isTrusted(client, trusted) else { return }
            func values(_ name: String) -> [String] {
                headers.filter { $0.name.lowercased() == name }
                    .flatMap { $0.value.split(separator: ",") }
                    .map { $0.trimmingCharacters(in: .whitespaces) }
            }
            let hops: [[String: String]]
            let forwarded = values("forwarded")
            if forwarded.isEmpty {
                let last = { (name: String) in values(name).last }
                let shared = [
                    "proto": last("x-forwarded-proto"),
                    "host": Self.join(last("x-forwarded-host"), last("x-forwarded-port")),
                ].compactMapValues { $0 }
                hops = values("x-forwarded-for").map { shared.merging(["for": $0]) { $1 } }
                if hops.isEmpty { take(shared) }
            } else {
                hops = forwarded.map(Self.pairs)
            }
            for hop in hops.reversed() {
                take(hop)
                guard Self.isTrusted(self.client, trusted) else { return }
            }
        }

        private mutating func take(_ hop: [String: String]) {
            if let address = hop["for"].map(Self.address) { client = address }
            if let scheme = hop["proto"]?.lowercased() { isSecure = scheme == "https" }
            if let name = hop["host"] { host = name }
        }

        private static func isTrusted(_ address: String, _ trusted: [ClientNetwork]) -> Bool {
            trusted.contains { $0.contains(address) }
        }

        /// `for=192.0.2.60;proto=https;host=example.org`
        private static func pairs(_ text: String) -> [String: String] {
            var pairs: [String: String] = [:]
            for part in text.split(separator: ";") {
                let halves = part.split(separator: "=", maxSplits: 1)
                guard halves.count == 2 else { continue }
                pairs[halves[0].trimmingCharacters(in: .whitespaces).lowercased()] = halves[1]
                    .trimmingCharacters(in: CharacterSet(charactersIn: " \""))
            }
            return pairs
        }

        /// An address without port and brackets.
        private static func address(_ text: String) -> String {
            if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
                return String(text[text.index(after: text.startIndex)..<end])
            }
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            return parts.count == 2 ? String(parts[0]) : text
        }

        private static func join(_ host: String?, _ port: String?) -> String? {
            guard let host, let port, Int(port) != nil, HostAndPort(host)?.port == nil else { return host }
            return "\(host):\(port)"
        }
    }
#endif
