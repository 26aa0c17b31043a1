import Foundation

/// The secrets that sign requests by OAuth 1.
package struct OAuth1Secrets: Sendable, Hashable {
    /// The secret of the application.
    package var consumer: String
    /// The secret of the token; empty for an application that signs in its own name.
    package var token: String

    /// Collects the secrets.
    package init(consumer: String, token: String = "") {
        self.consumer = consumer
        self.token = token
    }

    /// Both secrets as one key: each encoded, joined by `&`. It is the signature of the method `PLAINTEXT`.
    var key: String { PercentEncoding.encode(consumer) + "&" + PercentEncoding.encode(token) }
}

#if Remote
    extension OAuth1Secrets {
        /// The signature of a request.
        /// - Parameters:
        ///   - authorization: The parameters of the protocol.
        ///   - method: The method that the parameters name.
        ///   - queryForm: How the parameters of the query count.
        package func signature(
            of request: OAuth1Request, _ authorization: OAuth1Authorization, method: OAuth1Method = .hmacSHA1,
            queryForm: OAuth1Request.QueryForm = .decoded
        ) -> String {
            switch method {
            case .plaintext: key
            case .hmacSHA1:
                HMACSHA1.code(
                    of: Array(request.baseString(authorization, queryForm: queryForm).utf8), key: key
                ).base64EncodedString()
            }
        }

        /// Whether a request is signed with these secrets. The query may have been signed in either form. The time that
        /// this takes says nothing about the right signature.
        /// - Returns: false also for a method that ``OAuth1Method`` does not have.
        package func areValid(for request: OAuth1Request, _ authorization: OAuth1Authorization) -> Bool {
            guard let given = authorization["oauth_signature"] else { return false }
            switch authorization.method {
            case .plaintext: return ConstantTime.areEqual(given.utf8, key.utf8)
            case .hmacSHA1:
                guard let code = Data(base64Encoded: given) else { return false }
                return OAuth1Request.QueryForm.allCases.contains { form in
                    HMACSHA1.isCode(
                        code, of: Array(request.baseString(authorization, queryForm: form).utf8), key: key)
                }
            case nil: return false
            }
        }
    }
#endif
