#if Server
    import Crypto
    import Foundation

    /// The `Authorization: MAC …` header, and what it signs.
    struct MACSignature: Sendable, Hashable {
        var id: String
        var timestamp: String
        var nonce: String
        var mac: String

        /// Reads the header; nil for any other text.
        init?(header: String) {
            guard let fields = AuthorizationFields.read(header, scheme: "MAC"), let id = fields["id"],
                let timestamp = fields["ts"], let nonce = fields["nonce"], let mac = fields["mac"],
                [id, timestamp, nonce, mac].allSatisfy({ !$0.isEmpty && $0.utf8.count <= 512 })
            else { return nil }
            self.id = id
            self.timestamp = timestamp
            self.nonce = nonce
            self.mac = mac
        }

        /// The signature of a request: base64 of HMAC-SHA1 over time, nonce, method, URI, host and port, each with a
        /// line feed, and one more line feed.
        static func code(
            key: String, timestamp: String, nonce: String, method: String, uri: String, host: String, port: Int
        ) -> Data {
            let message = "\(timestamp)\n\(nonce)\n\(method)\n\(uri)\n\(host)\n\(port)\n\n"
            return Data(
                HMAC<Insecure.SHA1>.authenticationCode(
                    for: Data(message.utf8), using: SymmetricKey(data: Data(key.utf8))))
        }

        /// Whether the signature is that of a request.
        ///
        /// The path may be signed as sent or without escapes, since old clients did both; of the query the escapes of
        /// most characters are undone.
        func isValid(for request: ServerRequest, key: String) -> Bool {
            guard let given = Data(base64Encoded: mac) else { return false }
            let (host, port) = Self.hostAndPort(request)
            var uris: [String] = []
            for path in [request.path, PercentCoding.decode(request.path) ?? request.path] {
                for query in [PercentCoding.signedQuery(request.query) ?? request.query, request.query] {
                    let uri = query.isEmpty ? path : path + "?" + query
                    if !uris.contains(uri) { uris.append(uri) }
                }
            }
            return uris.contains { uri in
                let expected = Self.code(
                    key: key, timestamp: timestamp, nonce: nonce, method: request.method, uri: uri, host: host,
                    port: port)
                return PasswordHasher.areEqual(given, expected)
            }
        }

        static func hostAndPort(_ request: ServerRequest) -> (host: String, port: Int) {
            let header = request.header("Host") ?? ""
            let standard = request.isSecure ? 443 : 80
            guard let colon = header.lastIndex(of: ":"), !header[colon...].contains("]"),
                let port = Int(header[header.index(after: colon)...])
            else { return (header, standard) }
            return (String(header[..<colon]), port)
        }
    }

    /// The `name="value"` pairs of an `Authorization` header.
    enum AuthorizationFields {
        /// The pairs; nil if the header is of another scheme or no list of pairs.
        static func read(_ header: String, scheme: String) -> [String: String]? {
            guard header.count > scheme.count, header.prefix(scheme.count).lowercased() == scheme.lowercased(),
                header.dropFirst(scheme.count).first == " ", header.utf8.count <= 8192
            else { return nil }
            var fields: [String: String] = [:]
            for part in header.dropFirst(scheme.count + 1).split(separator: ",") {
                let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard halves.count == 2 else { return nil }
                let value = halves[1].trimmingCharacters(in: .whitespaces)
                guard value.count >= 2, value.first == "\"", value.last == "\"" else { return nil }
                fields[halves[0].trimmingCharacters(in: .whitespaces)] = String(value.dropFirst().dropLast())
            }
            return fields
        }
    }
#endif
