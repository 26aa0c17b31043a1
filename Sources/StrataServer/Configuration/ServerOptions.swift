#if Server
    import Foundation

    /// How a server behaves. They are many stored properties, because each is a name of the configuration.
    public struct ServerOptions: Sendable {
        /// Whether there is a development database besides the production database. Clients of API version 0, and those
        /// that name no version, use it, and may extend its schemas by using them. Without it, the production database
        /// answers all versions.
        public var isDevelopment = true
        /// The schemas whose objects are accounts.
        public var accountSchemas = [AccountSchema()]
        /// The key of clients whose dialect signs requests; nil takes any. It is in every app and no secret.
        public var publicKey: String?
        /// The secret that belongs to the public key. Requests that are signed with it by OAuth 1 are exempt from all
        /// access rules, and push requests need it; nil refuses both.
        public var privateKey: String?
        /// What comes before the paths of files in answers, such as `https://example.org`; nil takes the `Host` of the
        /// request.
        public var baseURL: String?
        /// Who may do what.
        public var access = AccessRules()
        /// What the server bears.
        public var limits = ServerLimits()
        /// What passwords must be like.
        public var passwords = PasswordPolicy()
        /// How long tokens and signatures are good for.
        public var tokens = TokenOptions()
        /// Who may reach the server, and how.
        public var network = NetworkOptions()
        /// Custom code that other servers answer, by the name of the method.
        public var hooks: [String: CustomHook] = [:]
        /// Where which dialects are spoken.
        public var dialects = [DialectMount.standard]
        /// How the file is written.
        public var storage = StorageOptions()

        /// The defaults.
        public init() {}

        /// Whether what deleted objects held is kept with their marks, because a dialect can take deletions back.
        var keepsDeletedContent: Bool { dialects.contains { $0.kind.undeletes } }

        /// The account schema with the given name; nil for any other schema.
        func accounts(_ schema: String) -> AccountSchema? { accountSchemas.first { $0.name == schema } }
    }

    /// How long tokens, signatures and temporary passwords are good for, in seconds.
    public struct TokenOptions: Sendable, Hashable {
        /// An access token.
        public var lifetime = 3600
        /// A refresh token that is not used.
        public var refreshLifetime = 30 * 24 * 3600
        /// A bearer token. Whether it can be refreshed is up to the dialect.
        public var bearerLifetime = 90 * 24 * 3600
        /// How long the same refresh token may come again and have the same answer. Clients whose requests end at the
        /// same moment, or whose answer got lost, send it twice. Later it was stolen.
        public var refreshGrace = 60
        /// How far the time of a signature may be from the server's.
        public var signatureWindow = 300
        /// A temporary password.
        public var temporaryPasswordLifetime = 24 * 3600

        /// The defaults.
        public init() {}
    }

    /// Who may reach a server, and how.
    public struct NetworkOptions: Sendable, Hashable {
        /// Whether only requests over TLS are answered, except for `/health`.
        public var requiresTLS = false
        /// Proxies that end TLS in front of the server. What they say in `Forwarded` or `X-Forwarded-…` about the address
        /// of the client, the scheme and the host is believed; nobody else is.
        public var trustedProxies: [ClientNetwork] = []
        /// The origins of pages whose scripts may use the server, such as `https://app.example.org`; `*` stands for any.
        public var origins: [String] = []
        /// Who may read `/_metrics`.
        public var metricsReaders: [ClientNetwork] = ["127.0.0.0/8", "::1"].compactMap(ClientNetwork.init)
        /// Whether ``HTTPService`` may serve rules that let anyone write, or development, beyond this machine.
        public var isDeliberatelyOpen = false

        /// The defaults.
        public init() {}
    }

    /// How a server keeps its data.
    public struct StorageOptions: Sendable, Hashable {
        /// The PostgreSQL database that several servers share, by its URL `postgres://user@host/database`; nil for SQLite files in
        /// the folder. It has a schema `production` and a schema `development`.
        public var database: String?
        /// Whether an acknowledged write survives a power failure, and not only the end of the process. PostgreSQL
        /// has its own setting, `synchronous_commit`.
        public var survivesPowerFailure = true
        /// How long the answers to requests with an `Idempotency-Key` are remembered, in seconds.
        public var answerLifetime = 24 * 3600
        /// How long deletions are told to clients that keep a copy, in seconds. Who was away for longer starts over.
        public var deletionLifetime = 90 * 24 * 3600
        /// How many deletions are told at most, roughly: they are counted now and then.
        public var deletions = 1_000_000

        /// The defaults.
        public init() {}

        /// Whether a text can be a ``database``.
        public static func isDatabase(_ text: String) -> Bool {
            ["postgres://", "postgresql://"].contains { text.hasPrefix($0) && text.utf8.count > $0.utf8.count }
        }

        /// A URL of a database without its password and what follows.
        static func publicPart(of url: String) -> String {
            // The last one: a password may have more, although a URL should have them encoded.
            let place = url.lastIndex(of: "@").map { String(url[url.index(after: $0)...]) } ?? url
            let plain = place.split(separator: "?").first.map(String.init) ?? place
            return plain.contains("://") ? plain : "postgres://" + plain
        }
    }
#endif
