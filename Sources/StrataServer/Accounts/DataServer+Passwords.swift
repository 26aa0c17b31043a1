#if Server
    import Foundation
    import Strata

    // Who has shown a password, and how passwords change.
    extension DataServer {
        /// An account whose password somebody has shown.
        struct Admission: Sendable {
            /// The primary key of the account.
            let account: String
            /// What becomes its password, if anything.
            fileprivate let hash: String?
            /// Whether that takes the place of a temporary password, so that all sessions end.
            fileprivate let endsSessions: Bool
        }

        private struct KeptPasswords: Sendable {
            var account: String?
            var password: String?
            var temporary: String?

            init(_ account: ManagedObject?, _ schema: ServerSchema, now: Int64) {
                self.account = account?.text(schema.keyField)
                password = account?.text("sm_password")
                if (account?.whole("sm_temporary_until") ?? 0) > now { temporary = account?.text("sm_temporary") }
            }
        }

        /// Finds out whether a password is an account's. A wrong one counts as a guess.
        /// - Parameters:
        ///   - name: What the account logs in with.
        ///   - new: What is to take the place of a temporary password; nil refuses those.
        /// - Throws: ``ServerError`` of cause ``ServerError/Cause/credentials`` for a wrong name or password,
        ///   ``ServerError/Cause/temporaryPassword`` for a temporary one without `new`; 503 for too many guesses.
        func authenticate(
            _ name: String, _ password: String, new: String?, _ accounts: AccountSchema, _ caller: Caller
        ) async throws(ServerError) -> Admission {
            let client = caller.client
            let attempt = try guesses.begin(
                schema: accounts.name, account: name, from: client, milliseconds: clock.milliseconds)
            let kept: KeptPasswords
            let isRight: Bool
            do throws(ServerError) {
                kept = try await caller.database.read { (scope) throws(ServerError) in
                    let schema = try scope.schema(accounts.name)
                    return KeptPasswords(try scope.account(schema, login: name), schema, now: scope.now)
                }
                isRight = try await hasher.verify(password, kept.password, for: client)
            } catch {
                guesses.forgive(attempt, milliseconds: clock.milliseconds)
                throw error
            }
            if isRight, let account = kept.account {
                guesses.succeed(attempt, milliseconds: clock.milliseconds)
                // A hash of an older cost is created again while the password is at hand.
                let isOutdated =
                    kept.password.map(hasher.isOutdated) == true && password.utf8.count >= hasher.policy.minimumLength
                let renewed = isOutdated ? try await hasher.hash(password, for: client) : nil
                return Admission(account: account, hash: renewed, endsSessions: false)
            }
            // Temporary passwords are random, so that a plain digest of them cannot be searched through.
            guard let temporary = kept.temporary, let account = kept.account,
                ConstantTime.areEqual(Sessions.digest(password).utf8, temporary.utf8)
            else { throw Sessions.refusal("The \(accounts.keyField) or the \(accounts.passwordField) is wrong.") }
            guesses.succeed(attempt, milliseconds: clock.milliseconds)
            guard let new else {
                throw ServerError(401, .temporaryPassword, "Temporary password reset required.")
            }
            return Admission(account: account, hash: try await hasher.hash(new, for: client), endsSessions: true)
        }

        /// Takes up an admission: opens what a session needs for the account.
        func admit<T: Sendable>(
            _ admission: Admission, _ accounts: AccountSchema, _ caller: Caller,
            _ body: @escaping @Sendable (ManagedObject, ServerSchema, DataScope) throws(ServerError) -> T
        ) async throws(ServerError) -> T {
            try await caller.database.write { (scope) throws(ServerError) in
                let schema = try scope.schema(accounts.name)
                guard let account = try scope.object(schema, admission.account) else {
                    throw Sessions.refusal("The account is gone.")
                }
                if let hash = admission.hash {
                    if admission.endsSessions {
                        try scope.setPassword(hash, of: account, schema, keeping: nil)
                    } else {
                        account["sm_password"] = hash
                    }
                }
                return try body(account, schema, scope)
            }
        }

        /// Whether a password is that of the account with a key. A wrong one counts as a guess.
        func isPassword(
            _ password: String, of id: String, _ schema: String, _ caller: Caller
        ) async throws(ServerError) -> Bool {
            let client = caller.client
            let attempt = try guesses.begin(
                schema: schema, account: id, from: client, milliseconds: clock.milliseconds)
            do throws(ServerError) {
                let kept = try await caller.database.read { (scope) throws(ServerError) in
                    try scope.object(scope.schema(schema), id)?.text("sm_password")
                }
                guard try await hasher.verify(password, kept, for: client) else { return false }
            } catch {
                guesses.forgive(attempt, milliseconds: clock.milliseconds)
                throw error
            }
            guesses.succeed(attempt, milliseconds: clock.milliseconds)
            return true
        }

        /// Gives the account that is logged in another password. All its sessions end, but for the one that asks.
        func changePassword(of account: Principal.Account, to new: String, _ caller: Caller) async throws(ServerError) {
            let hash = try await hasher.hash(new, for: caller.client)
            try await caller.database.write { (scope) throws(ServerError) in
                let schema = try scope.schema(account.schema)
                guard let object = try scope.object(schema, account.id) else {
                    throw .noObject(schema.name, account.id)
                }
                try scope.setPassword(hash, of: object, schema, keeping: account.token)
            }
        }

        // MARK: Forgotten passwords

        /// In milliseconds.
        private static let pauseBetweenMails: Int64 = 60_000

        /// Mails a temporary password. It is done after the answer, which is the same whether there is such an account or
        /// not, so that it does not reveal who has one.
        /// - Parameter byAddress: Whether the name may be the address of the account, too.
        func forgotPassword(
            _ name: String, byAddress: Bool = false, _ accounts: AccountSchema, _ caller: Caller
        ) throws(ServerError) {
            let server = self
            try background.start {
                do throws(ServerError) {
                    try await caller.database.write { (scope) throws(ServerError) in
                        try server.mailTemporaryPassword(to: name, byAddress, accounts, scope)
                    }
                } catch {
                    server.logger.error("mail", metadata: ["error": "\(error.message)"])
                }
            }
        }

        private func mailTemporaryPassword(
            to name: String, _ byAddress: Bool, _ accounts: AccountSchema, _ scope: DataScope
        ) throws(ServerError) {
            let schema = try scope.schema(accounts.name)
            let now = scope.now
            let lifetime = Int64(options.tokens.temporaryPasswordLifetime) * 1000
            var found = try scope.account(schema, login: name)
            if found == nil, byAddress, let field = schema.field(accounts.emailField), field.kind == .string {
                let all = try scope.all(schema.entityName, (field.name, .string(name)))
                // An address that several accounts have is not proof of any.
                if all.count == 1 { found = all[0] }
            }
            // Who asks again within a minute has mail on the way; a stranger cannot fill somebody's box.
            guard let account = found,
                (account.whole("sm_temporary_until") ?? 0) <= now + lifetime - Self.pauseBetweenMails
            else { return }
            let login = account.text("sm_login") ?? account.text(schema.keyField) ?? ""
            let field = schema.field(accounts.emailField).flatMap { account.text($0.name) }
            guard let address = field ?? (MailFolder.isAddress(login) ? login : nil), MailFolder.isAddress(address)
            else {
                logger.notice("mail", metadata: ["error": "an account has no address for a temporary password"])
                return
            }
            let temporary = String(Sessions.secret().prefix(20))
            account["sm_temporary"] = Sessions.digest(temporary)
            account["sm_temporary_until"] = now + lifetime
            let (mail, logger, hours) = (mail, logger, options.tokens.temporaryPasswordLifetime / 3600)
            scope.afterCommit {
                do {
                    try mail.send(
                        to: address, subject: "Your temporary password",
                        text: """
                            Your temporary password is \(temporary)\r
                            It is good for \(hours) hours. Choose a new one when you log in with it.
                            """, milliseconds: now)
                } catch {
                    logger.error("mail", metadata: ["error": "\(error.localizedDescription)"])
                }
            }
        }
    }
#endif
