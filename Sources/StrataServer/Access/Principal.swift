#if Server
    import Strata

    /// Who a request speaks for.
    struct Principal: Sendable, Hashable {
        /// The account; nil for a request without a log-in.
        var account: Account?
        /// Whether the request is signed with the private key of the application, which stands above all rules.
        var hasPrivateKey = false

        struct Account: Sendable, Hashable {
            var schema: String
            var id: String
            /// The digest of the access token.
            var token: String
            /// What the rules may ask for; empty where no rule does.
            var roles: Set<String> = []
            /// The form of `sm_owner`.
            var owner: String { schema + "/" + id }
        }

        static let nobody = Principal(account: nil)

        /// Checks what does not depend on an object.
        /// - Returns: What objects must be like.
        /// - Throws: ``ServerError`` 401 for a lacking log-in, role or private key, 405 for what nobody may.
        func grant(_ level: AccessRules.Level, _ what: @autoclosure () -> String) throws(ServerError) -> AccessGrant {
            if hasPrivateKey { return .everything }
            switch level {
            case .anyone: return .everything
            case .nobody: throw .nobodyMay("Nobody may \(what()).")
            case .privateKey: throw .unauthorized("Only the private key may \(what()).")
            case .loggedIn:
                _ = try loggedIn(what())
                return .everything
            case .owner: return .some([.owner(try loggedIn(what()).owner)])
            case .relationship(let field): return .some([.member(of: field, try loggedIn(what()))])
            case .role(let role):
                guard try loggedIn(what()).roles.contains(role) else {
                    throw .unauthorized("Only accounts with the role \(role) may \(what()).")
                }
                return .everything
            case .any(let levels): return try grant(any: levels, what())
            }
        }

        private func grant(any levels: [AccessRules.Level], _ what: String) throws(ServerError) -> AccessGrant {
            var conditions: [AccessGrant.Condition] = []
            var refusal = ServerError.nobodyMay("Nobody may \(what).")
            for level in levels {
                do throws(ServerError) {
                    switch try grant(level, what) {
                    case .everything: return .everything
                    case .some(let more): conditions += more
                    }
                } catch {
                    // A log-in that lacks says more than a door that is closed to all.
                    if error.status == 401 { refusal = error }
                }
            }
            guard !conditions.isEmpty else { throw refusal }
            return .some(conditions)
        }

        private func loggedIn(_ what: String) throws(ServerError) -> Account {
            guard let account else { throw .unauthorized("Log in to \(what).") }
            return account
        }
    }
#endif
