#if Server
    import Strata

    // Links of accounts here with accounts elsewhere.
    extension DataScope {
        /// The link of an account elsewhere; nil if nobody here has it.
        func link(_ provider: String, _ identifier: String, _ schema: ServerSchema) throws(ServerError)
            -> ManagedObject?
        {
            try first(
                "ServerLink", ("provider", .string(provider)), ("identifier", .string(identifier)),
                ("schema", .string(schema.name)))
        }

        /// The link of an account here with a provider; nil if it has none.
        func link(of account: String, _ provider: String, _ schema: String) throws(ServerError) -> ManagedObject? {
            try first(
                "ServerLink", ("schema", .string(schema)), ("user", .string(account)), ("provider", .string(provider)))
        }

        /// All links of an account, by provider.
        func links(of account: String, _ schema: ServerSchema) throws(ServerError) -> [String: ManagedObject] {
            let rows = try all("ServerLink", ("schema", .string(schema.name)), ("user", .string(account)))
            return Dictionary(rows.map { ($0.text("provider") ?? "", $0) }, uniquingKeysWith: { first, _ in first })
        }

        /// Links an account elsewhere with one here.
        /// - Parameter credential: What the provider gave to act for the user.
        func keepLink(
            _ provider: String, _ identifier: String, credential: [String: String], for account: String,
            _ schema: ServerSchema
        ) throws(ServerError) {
            let known = try link(provider, identifier, schema)
            let row = if let known { known } else { try insert("ServerLink") }
            row["provider"] = provider
            row["identifier"] = identifier
            row["schema"] = schema.name
            row["user"] = account
            row["credential"] = try JSONValue.object(JSONObject(credential.mapValues(JSONValue.string))).stored()
        }
    }

    extension DataScope {
        /// Links an account here with the one elsewhere that was proved.
        func keep(_ proof: LinkProof, for account: String, _ schema: ServerSchema) throws(ServerError) {
            try keepLink(
                proof.credential.provider.rawValue, proof.identity.identifier, credential: proof.credential.values,
                for: account, schema)
        }
    }

    /// An account elsewhere with what proved it.
    struct LinkProof: Sendable {
        var credential: SocialCredential
        var identity: SocialIdentity
    }

    extension DataServer {
        /// Asks a provider whose account a credential proves.
        /// - Throws: ``ServerError``: 501 without a verifier, 401 for a credential that proves nothing.
        func prove(_ credential: SocialCredential) async throws(ServerError) -> LinkProof {
            guard let verifier else {
                throw ServerError(501, "This server does not speak to \(credential.provider.rawValue).")
            }
            return LinkProof(credential: credential, identity: try await verifier.verify(credential))
        }
    }
#endif
