#if Server
    import Foundation
    import StrataWire

    /// The OAuth 1 signature of requests with the private key: two-legged, with the application's own keys.
    enum OAuthSignature {
        /// Whether a request has such a signature, valid or not.
        static func isIn(_ request: ServerRequest) -> Bool {
            request.header("Authorization")?.lowercased().hasPrefix("oauth ") == true
        }

        /// Checks the signature of a request.
        /// - Throws: ``ServerError`` 401 for a signature that is wrong in any way, or a server without keys.
        static func check(
            _ request: ServerRequest, options: ServerOptions, clock: ServerClock, replays: ReplayGuard
        ) throws(ServerError) {
            guard let publicKey = options.publicKey, let privateKey = options.privateKey else {
                throw .unauthorized("The server has no private key, so that no signature with one is right.")
            }
            guard let authorization = request.header("Authorization").flatMap(OAuth1Authorization.init(header:)) else {
                throw .unauthorized("The request must be signed with OAuth 1.")
            }
            guard authorization["oauth_consumer_key"] == publicKey, authorization.method == .hmacSHA1,
                let nonce = authorization["oauth_nonce"],
                let time = authorization["oauth_timestamp"].flatMap({ Int64($0) })
            else {
                throw .unauthorized("The OAuth signature lacks a part, or its consumer key is another application's.")
            }
            guard OAuth1Secrets(consumer: privateKey).areValid(for: OAuth1Request(request), authorization) else {
                throw .unauthorized("The signature is wrong.")
            }
            let now = clock.milliseconds / 1000
            let window = Int64(options.tokens.signatureWindow)
            let (distance, isFar) = now.subtractingReportingOverflow(time)
            guard !isFar, (-window...window).contains(distance) else {
                throw .unauthorized("The time of the signature is not the server's, \(now).")
            }
            try replays.admit(["oauth", String(time), nonce], of: "oauth", time: time, now: now, window: window)
        }
    }

    extension OAuth1Request {
        /// The parts of a request that a signature covers.
        init(_ request: ServerRequest) {
            let type = request.header("Content-Type")?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
            // Ruby's Net::HTTP calls every body a form that its caller gave no type, after the request was signed. JSON
            // is not a form.
            let isJSON = request.body.first == UInt8(ascii: "{") || request.body.first == UInt8(ascii: "[")
            let isForm = type?.lowercased() == "application/x-www-form-urlencoded" && !isJSON
            self.init(
                method: request.method, scheme: request.scheme, authority: request.header("Host") ?? "",
                target: request.target, form: isForm ? String(decoding: request.body, as: UTF8.self) : nil)
        }
    }
#endif
