#if Server
    import Strata

    /// Who may do what, by schema and operation.
    public struct AccessRules: Sendable, Hashable {
        /// Who may do something.
        public enum Level: String, Sendable, Hashable, CaseIterable {
            /// Everybody.
            case anyone
            /// Whoever is logged in.
            case loggedIn
            /// The account that made the object; an account itself belongs to its user. Queries find own objects alone.
            case owner
            /// Nobody.
            case nobody
        }

        /// What is done with an object.
        public enum Operation: String, Sendable, Hashable, CaseIterable {
            /// Reading and querying it.
            case read
            /// Making it.
            case create
            /// Changing it.
            case update
            /// Deleting it.
            case delete
        }

        /// The levels of one schema.
        public struct Rule: Sendable, Hashable {
            /// Who may do each.
            public var levels: [Operation: Level]

            /// Sets the levels; what is not named is open to anyone.
            public init(
                read: Level = .anyone, create: Level = .anyone, update: Level = .anyone, delete: Level = .anyone
            ) {
                levels = [.read: read, .create: create, .update: update, .delete: delete]
            }
        }

        /// For schemas without a rule of their own.
        public var standard = Rule()
        /// For accounts, where the user schema has no rule of its own: all may sign up and be read, changes are the
        /// owner's.
        public var accounts = Rule(update: .owner, delete: .owner)
        /// By schema.
        public var schemas: [String: Rule] = [:]
        /// Who may call custom code, by method; ``Level/owner`` is as ``Level/loggedIn``.
        public var methods: [String: Level] = [:]

        /// Everything open, except that accounts are changed and deleted by their owners.
        public init() {}

        /// Who may do something with the objects of a schema.
        func level(_ operation: Operation, schema: String, isUser: Bool) -> Level {
            (schemas[schema] ?? (isUser ? accounts : standard)).levels[operation] ?? .nobody
        }
    }

    /// Who a request speaks for.
    struct Principal: Sendable, Hashable {
        /// The account; nil for a request without a signature.
        var account: Account?

        struct Account: Sendable, Hashable {
            var schema: String
            var id: String
            /// The digest of the access token.
            var token: String
            /// The form of `sm_owner`.
            var owner: String { schema + "/" + id }
        }

        static let nobody = Principal(account: nil)

        /// Checks that an object belongs to an owner. Names are compared byte by byte as the store does: to Swift, two
        /// accounts whose names look alike but are written with other code points would be one.
        static func check(_ owner: String, owns object: ManagedObject) throws(ServerError) {
            guard let found = object.text("sm_owner"), found.utf8.elementsEqual(owner.utf8) else {
                throw .forbidden("The object belongs to somebody else.")
            }
        }

        /// Checks what does not depend on an object.
        /// - Returns: The owner that objects must have; nil if any will do.
        func check(_ level: AccessRules.Level, _ what: @autoclosure () -> String) throws(ServerError) -> String? {
            switch level {
            case .anyone: return nil
            case .nobody: throw .forbidden("Nobody may \(what()).")
            case .loggedIn, .owner:
                guard let account else { throw .unauthorized("Log in to \(what()).") }
                return level == .owner ? account.owner : nil
            }
        }
    }
#endif
