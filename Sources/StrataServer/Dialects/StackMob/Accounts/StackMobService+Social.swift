#if Server
    import Foundation
    import Strata

    // Accounts elsewhere: the verifier says who somebody is there, and a link says who that is here.
    extension StackMobService {
        func answer(
            _ endpoint: AccountEndpoint, _ provider: SocialProvider, _ call: Call, _ accounts: AccountSchema
        ) async throws(ServerError) -> ServerResponse {
            guard let verifier = server.verifier else {
                throw ServerError(501, "This server does not speak to \(provider.rawValue).")
            }
            let values = try parameters(call)
            switch endpoint {
            case .facebookAccessToken, .twitterAccessToken, .twitterLogin, .gigyaAccessToken:
                let found = try await prove(provider, values, refusal: 401)
                return try await logIn(found, creating: nil, call, accounts)
            case .facebookAccessTokenWithCreate, .twitterAccessTokenWithCreate:
                let found = try await prove(provider, values, refusal: 401)
                return try await logIn(
                    found, creating: values["username"] ?? found.identity.name ?? found.identity.identifier, call,
                    accounts)
            case .createUserWithFacebook, .createUserWithTwitter:
                try server.precheck(.create, accounts.name, call.caller)
                let found = try await prove(provider, values, refusal: 400)
                return try await create(
                    found, named: values["username"] ?? found.identity.name ?? found.identity.identifier, call, accounts
                )
            case .linkUserWithFacebook, .linkUserWithTwitter, .linkUserWithGigya:
                let account = try account(call)
                let found = try await prove(provider, values, refusal: 400)
                return try await link(found, to: account, call)
            case .unlinkUserFromFacebook, .unlinkUserFromTwitter, .unlinkUserFromGigya:
                return try await unlink(provider, try account(call), call)
            case .getFacebookUserInfo, .getTwitterUserInfo:
                let credential = try await credential(provider, try account(call), call)
                return ServerResponse(json: try await verifier.verify(credential).info)
            case .postFacebookMessage, .twitterStatusUpdate:
                guard let message = values[endpoint == .postFacebookMessage ? "message" : "tw_st"] else {
                    throw .badRequest("There is no message.")
                }
                let credential = try await credential(provider, try account(call), call)
                return ServerResponse(json: try await verifier.post(message, credential: credential))
            default: throw .notFound("There is no \(call.request.path).")
            }
        }

        /// What a client gives, whether in the query, in a form or in JSON: clients and documentation differ.
        private func parameters(_ call: Call) throws(ServerError) -> [String: String] {
            var values = Dictionary(
                (call.request.parameters ?? []).map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
            guard !call.request.body.isEmpty else { return values }
            if call.request.body.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") {
                for (name, value) in try call.json(options).members ?? [:] {
                    values[name] = value.string ?? value.description
                }
            } else {
                values.merge(try form(call)) { $1 }
            }
            return values
        }

        private func prove(
            _ provider: SocialProvider, _ values: [String: String], refusal: Int
        ) async throws(ServerError) -> LinkProof {
            let names =
                switch provider {
                case .facebook: ["fb_at"]
                case .twitter: ["tw_tk", "tw_ts"]
                case .gigya: ["gigya_uid", "gigya_sig", "gigya_ts"]
                }
            let shown = values.filter { names.contains($0.key) }
            guard shown.count == names.count else {
                throw .badRequest("\(provider.rawValue) takes \(names.joined(separator: ", ")).")
            }
            let credential = SocialCredential(provider: provider, values: shown)
            do throws(ServerError) {
                return try await server.prove(credential)
            } catch {
                guard error.status == 401 else { throw error }
                throw refusal == 401 ? Sessions.refusal(error.message) : ServerError(refusal, error.message)
            }
        }

        // MARK: Logging in and signing up

        /// Opens a session for the account of a link; without a link, makes an account if there is a name for it.
        private func logIn(
            _ proof: LinkProof, creating name: String?, _ call: Call, _ accounts: AccountSchema
        ) async throws(ServerError) -> ServerResponse {
            let server = server
            return try await call.database.write { (scope) throws(ServerError) in
                let schema = try scope.schema(accounts.name)
                let link = try scope.link(proof.credential.provider.rawValue, proof.identity.identifier, schema)
                var account = try link?.text("user").flatMap { (user) throws(ServerError) in
                    try scope.object(schema, user)
                }
                if account == nil, let name {
                    try server.precheck(.create, accounts.name, call.caller)
                    account = try scope.insertAccount(name, schema)
                }
                guard let account else {
                    throw Sessions.refusal(
                        "No account is linked with this \(proof.credential.provider.rawValue) account.")
                }
                try scope.keep(proof, for: account.text(schema.keyField) ?? "", schema)
                return ServerResponse(json: try server.sessions.answer(account, schema, scope: scope))
            }
        }

        private func create(
            _ proof: LinkProof, named name: String, _ call: Call, _ accounts: AccountSchema
        ) async throws(ServerError) -> ServerResponse {
            return try await call.database.write { (scope) throws(ServerError) in
                let schema = try scope.schema(accounts.name)
                guard try scope.link(proof.credential.provider.rawValue, proof.identity.identifier, schema) == nil
                else {
                    throw .badRequest("The \(proof.credential.provider.rawValue) account is linked already.")
                }
                let account = try scope.insertAccount(name, schema)
                try scope.keep(proof, for: name, schema)
                return ServerResponse(status: 201, json: .object(ObjectReader.members(account, schema)))
            }
        }

        // MARK: Links

        private func link(
            _ proof: LinkProof, to account: Principal.Account, _ call: Call
        ) async throws(ServerError) -> ServerResponse {
            try await call.database.write { (scope) throws(ServerError) in
                let schema = try scope.schema(account.schema)
                let known = try scope.link(proof.credential.provider.rawValue, proof.identity.identifier, schema)
                guard known == nil || known?.text("user") == account.id else {
                    throw .badRequest("The \(proof.credential.provider.rawValue) account is another's here.")
                }
                try scope.keep(proof, for: account.id, schema)
                return ServerResponse(json: [:])
            }
        }

        private static func link(
            of account: Principal.Account, _ provider: SocialProvider, _ scope: DataScope
        ) throws(ServerError) -> ManagedObject {
            let row = try scope.link(of: account.id, provider.rawValue, account.schema)
            guard let row else { throw .notFound("The account is not linked with \(provider.rawValue).") }
            return row
        }

        private func unlink(
            _ provider: SocialProvider, _ account: Principal.Account, _ call: Call
        ) async throws(ServerError) -> ServerResponse {
            try await call.database.write { (scope) throws(ServerError) in
                scope.context.delete(try Self.link(of: account, provider, scope))
                return ServerResponse(json: [:])
            }
        }

        private func credential(
            _ provider: SocialProvider, _ account: Principal.Account, _ call: Call
        ) async throws(ServerError) -> SocialCredential {
            try await call.database.read { (scope) throws(ServerError) in
                let text = try Self.link(of: account, provider, scope).text("credential") ?? ""
                let members = JSONValue.ofStored(text)?.members ?? [:]
                let values = members.compactMap { name, value in value.string.map { (name, $0) } }
                return SocialCredential(provider: provider, values: Dictionary(uniqueKeysWithValues: values))
            }
        }
    }
#endif
