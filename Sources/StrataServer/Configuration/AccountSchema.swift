#if Server
    /// A schema whose objects are accounts.
    public struct AccountSchema: Sendable, Hashable {
        /// The name of the schema.
        public var name: String
        /// The primary key, with which accounts log in.
        public var keyField: String
        /// The field that carries a password. No answer holds it.
        public var passwordField: String
        /// The field with the address for mail about a forgotten password.
        public var emailField: String

        /// Names the schema and its fields.
        public init(
            name: String = "user", keyField: String = "username", passwordField: String = "password",
            emailField: String = "email"
        ) {
            self.name = name
            self.keyField = keyField
            self.passwordField = passwordField
            self.emailField = emailField
        }
    }

    /// What passwords must be like, how they are kept, and how often somebody may guess.
    public struct PasswordPolicy: Sendable, Hashable {
        /// The fewest bytes of a new password.
        public var minimumLength = 8
        /// How many wrong passwords an address may show for one account; one more a minute.
        public var guesses = 10
        /// How many wrong passwords an address may show for all accounts; one more every ten seconds.
        public var guessesPerAddress = 50
        /// How many wrong passwords may be shown for one account from addresses that it was never used from; one more a
        /// minute.
        public var guessesPerAccount = 100
        /// The cost of a hash.
        public var cost = PasswordCost()

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

        /// 2¹⁵ rounds of 1 KiB in 3 lanes: 32 MiB and some 150 to 300 milliseconds a hash.
        public init(rounds: Int = 1 << 15, blockSize: Int = 8, parallelism: Int = 3) {
            self.rounds = rounds
            self.blockSize = blockSize
            self.parallelism = parallelism
        }
    }
#endif
