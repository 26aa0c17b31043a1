#if Server
    import Foundation

    /// How a server behaves. It has one of the stored properties for each option.
    public struct ServerOptions: Sendable {
        /// Whether clients of API version 0 may extend the schemas by using them.
        public var isDevelopment = true
        /// The schema whose objects are accounts.
        public var userSchema = "user"
        /// The primary key of accounts.
        public var userKeyField = "username"
        /// The field that carries a password.
        public var passwordField = "password"
        /// The field with the address for mail about a forgotten password.
        public var emailField = "email"
        /// The key that clients must name in `X-StackMob-API-Key`; nil takes any.
        public var publicKey: String?
        /// The secret that goes with the public key, for signatures of push requests; nil refuses them.
        public var privateKey: String?
        /// What stands before the paths of files in answers, such as `https://example.org`; nil takes the `Host` of the
        /// request.
        public var baseURL: String?
        /// Who may do what.
        public var access = AccessRules()
        /// What the server bears.
        public var limits = ServerLimits()
        /// The cost of password hashes.
        public var passwordCost = PasswordCost()
        /// How many seconds an access token is good for.
        public var tokenLifetime = 3600
        /// How far the time of a signature may be from the server's, in seconds.
        public var signatureWindow = 300
        /// How long a temporary password is good for, in seconds.
        public var temporaryPasswordLifetime = 24 * 3600
        /// How long the answers to requests with an `Idempotency-Key` are remembered, in seconds.
        public var answerLifetime = 24 * 3600
        /// Whether passwords and tokens are only taken over TLS.
        public var requiresTLSForTokens = false
        /// Whether an acknowledged write survives a power failure, and not only the end of the process.
        public var survivesPowerFailure = true

        /// The defaults.
        public init() {}
    }

    /// Bounds that keep a server's memory and time its own. It has one of the stored properties for each bound.
    public struct ServerLimits: Sendable, Hashable {
        /// The maximum body of a request, in bytes.
        public var bodySize = 10 * 1024 * 1024
        /// The deepest nesting of JSON.
        public var jsonDepth = 32
        /// What ``jsonDepth`` may be at most: an answer has more levels around what a body brought.
        static let largestJSONDepth = JSONValue.maximumDepth - 20
        /// The maximum number of objects in one answer; more are cut as by a range.
        public var answerObjects = 100_000
        /// The maximum number of objects in one request: created together, changed or deleted, values in an array, or
        /// requests of a batch.
        public var requestObjects = 10_000
        /// The maximum number of conditions of a query and of elements of an `[in]`.
        public var conditions = 1_000
        /// How many requests a client may send in a second on average; 0 for any number.
        public var requestsPerSecond = 0
        /// How many requests a client may send together before the average counts.
        public var requestBurst = 200
        /// The maximum number of open connections.
        public var connections = 4_096
        /// How long a request may take to come in, and to be answered, in seconds.
        public var requestTimeout = 30.0
        /// How long a client may take to read 64 KiB of an answer, in seconds.
        public var answerTimeout = 30.0
        /// What the bodies and answers of all requests may take together, in bytes. A body counts eight times, for what
        /// it is read into.
        public var memory = 512 * 1024 * 1024
        /// The maximum answer to a query, in bytes of its objects; more are cut as by a range.
        public var answerSize = 32 * 1024 * 1024
        /// How long a connection may stay idle, in seconds.
        public var idleTimeout = 60.0
        /// How many signatures are remembered to know replays by.
        public var rememberedSignatures = 1_000_000

        /// The defaults.
        public init() {}
    }

    /// The cost of a password hash by scrypt (RFC 7914).
    public struct PasswordCost: Sendable, Hashable {
        /// Work and memory: a power of two.
        public var rounds: Int
        /// The size of a block in units of 128 bytes.
        public var blockSize: Int
        /// How many lanes.
        public var parallelism: Int

        /// 2¹⁵ rounds of 1 KiB: 32 MiB and some 50 to 100 milliseconds a hash.
        public init(rounds: Int = 1 << 15, blockSize: Int = 8, parallelism: Int = 1) {
            self.rounds = rounds
            self.blockSize = blockSize
            self.parallelism = parallelism
        }
    }
#endif
