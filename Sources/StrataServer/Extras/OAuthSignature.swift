#if Server
    import Crypto
    import Foundation

    /// The OAuth 1 signature of push requests: two-legged, with the application's own keys.
    enum OAuthSignature {
        /// Checks the signature of a request.
        /// - Throws: ``ServerError`` 401 for a signature that is wrong in any way, or a server without keys.
        static func check(
            _ request: ServerRequest, options: ServerOptions, clock: ServerClock, replays: ReplayGuard
        ) throws(ServerError) {
            guard let publicKey = options.publicKey, let privateKey = options.privateKey else {
                throw .unauthorized("The server has no keys for push requests; give it a public and a private one.")
            }
            guard let header = request.header("Authorization"),
                let raw = AuthorizationFields.read(header, scheme: "OAuth")
            else { throw .unauthorized("Push requests are signed with OAuth 1.") }
            var fields: [String: String] = [:]
            for (name, value) in raw { fields[name] = PercentCoding.decode(value) ?? value }
            guard fields["oauth_consumer_key"] == publicKey, fields["oauth_signature_method"] == "HMAC-SHA1",
                let nonce = fields["oauth_nonce"], let time = fields["oauth_timestamp"].flatMap(Int64.init),
                let signature = fields["oauth_signature"].flatMap({ Data(base64Encoded: $0) })
            else {
                throw .unauthorized("The OAuth signature lacks a part, or its consumer key is another application's.")
            }
            let expected = code(
                method: request.method, baseURL: baseURL(request),
                parameters: parameters(fields, query: request.query), privateKey: privateKey)
            guard PasswordHasher.areEqual(signature, expected) else { throw .unauthorized("The signature is wrong.") }
            let now = clock.milliseconds / 1000
            let window = Int64(options.signatureWindow)
            let (distance, isFar) = now.subtractingReportingOverflow(time)
            guard !isFar, (-window...window).contains(distance) else {
                throw .unauthorized("The time of the signature is not the server's, \(now).")
            }
            try replays.admit(["oauth", String(time), nonce], time: time, now: now, window: window)
        }

        /// HMAC-SHA1 over method, URL and parameters, keyed by the private key and an empty token secret.
        static func code(method: String, baseURL: String, parameters: String, privateKey: String) -> Data {
            let base = [method, PercentCoding.encode(baseURL), PercentCoding.encode(parameters)].joined(separator: "&")
            let key = PercentCoding.encode(privateKey) + "&"
            return Data(
                HMAC<Insecure.SHA1>.authenticationCode(
                    for: Data(base.utf8), using: SymmetricKey(data: Data(key.utf8))))
        }

        /// The parameters as they are signed: those of the protocol and those of the query as they stand in the URL,
        /// sorted by name.
        static func parameters(_ fields: [String: String], query: String) -> String {
            var pairs = fields.filter { $0.key.hasPrefix("oauth_") && $0.key != "oauth_signature" }
                .map { (name: $0.key, value: $0.value) }
            for part in query.split(separator: "&") {
                let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                pairs.append((String(halves[0]), halves.count > 1 ? String(halves[1]) : ""))
            }
            pairs.sort { ($0.name, $0.value) < ($1.name, $1.value) }
            return pairs.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        }

        /// The URL without query: small letters in scheme and host, a port only where it is not the standard one.
        static func baseURL(_ request: ServerRequest) -> String {
            let (host, port) = MACSignature.hostAndPort(request)
            let standard = request.isSecure ? 443 : 80
            return (request.isSecure ? "https" : "http") + "://" + host.lowercased()
                + (port == standard ? "" : ":\(port)") + request.path
        }
    }
#endif
