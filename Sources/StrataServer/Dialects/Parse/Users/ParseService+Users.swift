#if Server
    import Foundation
    import Strata

    // Users made and changed.
    extension ParseService {
        /// The members of a body that are not fields.
        private static let own: Set<String> = ["username", "password", "authData", "objectId"]

        /// `POST users`: a new user with name and password, or one who is known elsewhere, who is logged in if there is one.
        func signUp(_ call: ParseCall) async throws(ServerError) -> ServerResponse {
            let accounts = try accounts()
            try checkACL(call.body)
            if let data = call.body["authData"], !data.isNull {
                return try await signUp(by: try await ParseAuthData(data, server), call, accounts)
            }
            try server.precheck(.create, accounts.name, call.caller)
            guard let name = call.body["username"]?.string, !name.isEmpty else {
                throw ParseCode.usernameMissing.error("bad or missing username")
            }
            guard let password = call.body["password"]?.string, !password.isEmpty else {
                throw ParseCode.passwordMissing.error("password is required")
            }
            let repeatable = try repeatable(call)
            if let repeatable, try await isDone(repeatable, call) { return try await logIn(call) }
            try await checkIsFree(name, accounts, call)
            let hash = try await server.hasher.hash(password, for: call.caller.client)
            return try await call.caller.database.write { (scope) throws(ServerError) in
                let (account, schema) = try insertUser(named: name, call, accounts, scope)
                account["sm_password"] = hash
                // The token of a session is not kept; who signs up again logs in.
                try repeatable?.keep(ServerResponse(status: 201), scope)
                return try signedUp(account, schema, call, scope, adding: ["username": .string(name)])
            }
        }

        private func isDone(_ write: RepeatableWrite, _ call: ParseCall) async throws(ServerError) -> Bool {
            try await call.caller.database.read { (scope) throws(ServerError) in try write.answer(scope) != nil }
        }

        private func signUp(
            by data: ParseAuthData, _ call: ParseCall, _ accounts: AccountSchema
        ) async throws(ServerError) -> ServerResponse {
            guard !data.linked.isEmpty else { throw ParseCode.invalidAuthData.error("authData has no account.") }
            let named = call.body["username"]?.string
            var hash: String?
            if let password = call.body["password"]?.string, named != nil {
                hash = try await server.hasher.hash(password, for: call.caller.client)
            }
            let password = hash
            return try await call.caller.database.write { (scope) throws(ServerError) in
                let known = try scope.catalogue[accounts.name].flatMap { (schema) throws(ServerError) in
                    try data.user(schema, scope)
                }
                if let known, let schema = scope.catalogue[accounts.name] {
                    try data.apply(to: known.text(schema.keyField) ?? "", schema, scope)
                    var members = try own(known, schema, call, scope)
                    members["sessionToken"] = .string(try server.sessions.openBearer(known, schema, scope: scope))
                    return secret(members)
                }
                try server.precheck(.create, accounts.name, call.caller)
                let (account, schema) = try insertUser(named: named, call, accounts, scope)
                if let password { account["sm_password"] = password }
                try data.apply(to: account.text(schema.keyField) ?? "", schema, scope)
                var more: JSONObject = ["isNew": true]
                more.merge(try own(account, schema, call, scope))
                return try signedUp(account, schema, call, scope, adding: more)
            }
        }

        /// Makes the account of a user. Its primary key is the name, where that can be in a path.
        private func insertUser(
            named name: String?, _ call: ParseCall, _ accounts: AccountSchema, _ scope: DataScope
        ) throws(ServerError) -> (ManagedObject, ServerSchema) {
            let members = JSONObject(call.body.filter { !Self.own.contains($0.name) })
            let (reader, schema) = try ParseBody.read(members, accounts.name, className: "_User", call, scope, self)
            let isKey = name.map { $0 != "me" && $0 != "." && $0 != ".." && !DialectRegistry.isReservedAccountName($0) }
            let key = isKey == true ? name ?? "" : ObjectWriter.newKey()
            if let name, try scope.account(schema, login: name) != nil { throw Self.taken }
            let account = try scope.insertAccount(key, schema)
            if let name, name != key { try scope.setLogin(name, of: account, schema) }
            let writer = server.writer(scope, call.caller, reading: { _ in reader.body })
            try writer.fill(account, schema)
            try scope.claim(account, schema)
            return (account, schema)
        }

        private static var taken: ServerError {
            ParseCode.usernameTaken.error("Account already exists for this username.")
        }

        /// A password is not hashed for a name that is not to be had.
        private func checkIsFree(
            _ name: String, _ accounts: AccountSchema, _ call: ParseCall
        ) async throws(ServerError) {
            let isTaken = try await call.caller.database.read { (scope) throws(ServerError) in
                guard let schema = scope.catalogue[accounts.name] else { return false }
                return try scope.account(schema, login: name) != nil
            }
            if isTaken { throw Self.taken }
        }

        private func signedUp(
            _ account: ManagedObject, _ schema: ServerSchema, _ call: ParseCall, _ scope: DataScope,
            adding more: JSONObject
        ) throws(ServerError) -> ServerResponse {
            var more = more
            more["sessionToken"] = .string(try server.sessions.openBearer(account, schema, scope: scope))
            var answer = try created(account, schema, call, scope, adding: more)
            answer.headers.append(("Cache-Control", "no-store"))
            return answer
        }

        /// `PUT users/<id>`: fields, another name, another password, accounts elsewhere.
        func updateUser(_ call: ParseCall, _ name: String, _ id: String) async throws(ServerError) -> ObjectWrite {
            let members = JSONObject(call.body.filter { !Self.own.contains($0.name) })
            let isOwn = call.caller.principal.account.map { $0.schema == name && $0.id == id } == true
            let changesIdentity = ["username", "password", "authData"].contains {
                call.body[$0].map { !$0.isNull } == true
            }
            // Other clients that the rules let change an account must not become its user.
            guard isOwn || !changesIdentity || call.caller.principal.hasPrivateKey else {
                throw ParseCode.operationForbidden.error(
                    "Only the user changes name, password and services.", status: 403)
            }
            var hash: String?
            if let password = call.body["password"], !password.isNull {
                guard let text = password.string else {
                    throw ParseCode.passwordMissing.error("password takes a string")
                }
                hash = try await server.hasher.hash(text, for: call.caller.client)
            }
            var data: ParseAuthData?
            if let json = call.body["authData"], !json.isNull { data = try await ParseAuthData(json, server) }
            let (password, services, login) = (hash, data, call.body["username"]?.string)
            return { (scope) throws(ServerError) in
                let (account, _) = try existing(name, id, .update, call, scope)
                let (reader, schema) = try ParseBody.read(members, name, className: "_User", call, scope, self)
                let writer = server.writer(scope, call.caller, reading: { _ in reader.body })
                try writer.update(account, by: reader.body.values, schema, relations: RelationTree())
                if let login, login != account.text("sm_login") ?? account.text(schema.keyField) {
                    do throws(ServerError) {
                        try scope.setLogin(login, of: account, schema)
                    } catch {
                        throw error.cause == .duplicateKey ? Self.taken : error
                    }
                }
                if let password {
                    try scope.setPassword(
                        password, of: account, schema, keeping: call.caller.principal.account?.token)
                }
                try services?.apply(to: id, schema, scope)
                return try updated(account, schema, reader.computed, call, scope)
            }
        }
    }
#endif
