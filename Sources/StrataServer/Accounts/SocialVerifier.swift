#if Server
    /// Where else somebody may have an account.
    public enum SocialProvider: String, Sendable, Hashable, CaseIterable {
        /// Facebook.
        case facebook = "Facebook"
        /// Twitter.
        case twitter = "Twitter"
        /// Gigya.
        case gigya = "Gigya"
    }

    /// What a client shows to prove an account elsewhere.
    public struct SocialCredential: Sendable, Hashable {
        /// Where the account is.
        public var provider: SocialProvider
        /// The parameters by name: `fb_at`; `tw_tk` and `tw_ts`; `gigya_uid`, `gigya_sig` and `gigya_ts`.
        public var values: [String: String]

        /// Collects what a client shows.
        public init(provider: SocialProvider, values: [String: String]) {
            self.provider = provider
            self.values = values
        }
    }

    /// An account elsewhere.
    public struct SocialIdentity: Sendable, Hashable {
        /// What the provider calls it; never given to another.
        public var identifier: String
        /// A name for a new account here, where the client gives none.
        public var name: String?
        /// What the provider tells about the account.
        public var info: JSONValue

        /// Collects what is known.
        public init(identifier: String, name: String? = nil, info: JSONValue = [:]) {
            self.identifier = identifier
            self.name = name
            self.info = info
        }
    }

    /// Asks other services about accounts. A server has none by default and answers such requests with 501; those who
    /// embed it give one that speaks to the provider, or to a double in tests.
    public protocol SocialVerifier: Sendable {
        /// The account that a credential proves.
        /// - Throws: ``ServerError``: 401 for a credential that proves nothing, 502 if the provider cannot be asked.
        func verify(_ credential: SocialCredential) async throws(ServerError) -> SocialIdentity
        /// Posts a message for an account.
        /// - Parameter credential: What the account was last proved with.
        /// - Returns: The provider's answer.
        /// - Throws: ``ServerError``: 502 if the provider cannot be asked.
        func post(_ message: String, credential: SocialCredential) async throws(ServerError) -> JSONValue
    }
#endif
