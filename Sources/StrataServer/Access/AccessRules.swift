#if Server
    /// Who may do what, by schema and operation.
    public struct AccessRules: Sendable, Hashable {
        /// What is done with an object.
        public enum Operation: String, Sendable, Hashable, CaseIterable {
            /// Reading and querying it.
            case read
            /// Making it. Levels that depend on an object ask only for a log-in here.
            case create
            /// Changing it.
            case update
            /// Deleting it.
            case delete
        }

        /// The levels of one schema.
        public struct Rule: Sendable, Hashable {
            /// Who may do each. An operation without a level is for nobody.
            public var levels: [Operation: Level]

            /// Sets the levels; what you do not name is for nobody.
            public init(
                read: Level = .nobody, create: Level = .nobody, update: Level = .nobody, delete: Level = .nobody
            ) {
                levels = [.read: read, .create: create, .update: update, .delete: delete]
            }

            /// One level for all operations.
            public init(all level: Level) { self.init(read: level, create: level, update: level, delete: level) }
        }

        /// For schemas without a rule of their own.
        public var standard: Rule
        /// For accounts, where the user schema has no rule of its own.
        public var accounts: Rule
        /// By schema.
        public var schemas: [String: Rule] = [:]
        /// Who may call custom code that ``methods`` does not name.
        public var standardMethod: Level
        /// Who may call custom code, by method. Levels that depend on an object are as ``Level/loggedIn``.
        public var methods: [String: Level] = [:]

        /// The rules of a server that nobody else reaches: everything is open, except that accounts are read, changed
        /// and deleted by their owners only. ``HTTPService`` refuses to serve them beyond this machine.
        public init() {
            standard = Rule(all: .anyone)
            accounts = Rule(read: .owner, create: .anyone, update: .owner, delete: .owner)
            standardMethod = .anyone
        }

        /// Rules that allow nothing to start from.
        public static let closed: AccessRules = {
            var rules = AccessRules()
            rules.standard = Rule()
            rules.accounts = Rule()
            rules.standardMethod = .nobody
            return rules
        }()

        /// Who may do something with the objects of a schema.
        func level(_ operation: Operation, schema: String, isUser: Bool) -> Level {
            (schemas[schema] ?? (isUser ? accounts : standard)).levels[operation] ?? .nobody
        }

        /// Who may call a method of custom code.
        func level(method: String) -> Level { methods[method] ?? standardMethod }

        /// Whether the roles of accounts count anywhere.
        var needRoles: Bool {
            ([standard, accounts] + schemas.values).contains { $0.levels.values.contains(where: \.needsRoles) }
                || ([standardMethod] + methods.values).contains(where: \.needsRoles)
        }
    }
#endif
