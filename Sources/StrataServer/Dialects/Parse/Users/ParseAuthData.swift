#if Server
    import Foundation
    import Strata

    /// What a client shows of accounts elsewhere: `{"facebook":{"id":…,"access_token":…}}`.
    struct ParseAuthData: Sendable {
        /// An account elsewhere: proved by its provider, or anonymous, which proves itself by a name that nobody can guess.
        enum Account: Sendable {
            case anonymous(String)
            case proved(LinkProof)

            var provider: String {
                switch self {
                case .anonymous: ParseAuthData.anonymous
                case .proved(let proof): proof.credential.provider.rawValue
                }
            }

            var identifier: String {
                switch self {
                case .anonymous(let id): id
                case .proved(let proof): proof.identity.identifier
                }
            }
        }

        static let anonymous = "anonymous"

        /// Those that are linked.
        private(set) var linked: [Account] = []
        /// The providers, as the core has them, whose links end.
        private(set) var unlinked: [String] = []

        /// Reads and proves them.
        init(_ json: JSONValue, _ server: DataServer) async throws(ServerError) {
            guard let members = json.members, members.count <= 8 else {
                throw ParseCode.invalidAuthData.error("authData holds the data of services by their names.")
            }
            for (name, value) in members.sorted(by: { $0.name < $1.name }) {
                let provider = SocialProvider.allCases.first { $0.rawValue.lowercased() == name }
                guard name == Self.anonymous || provider != nil else {
                    throw ParseCode.unsupportedService.error(
                        "This authentication method is unsupported: \(name.prefix(80)).")
                }
                if value.isNull {
                    unlinked.append(provider?.rawValue ?? name)
                    continue
                }
                guard let id = value["id"]?.string, (1...255).contains(id.utf8.count) else {
                    throw ParseCode.invalidAuthData.error("authData.\(name) has an id.")
                }
                guard let provider else {
                    // It stands for a password.
                    guard id.utf8.count >= 16 else {
                        throw ParseCode.invalidAuthData.error("The id of an anonymous user is a UUID.")
                    }
                    linked.append(.anonymous(id))
                    continue
                }
                let proof = try await server.prove(try Self.credential(provider, value))
                guard provider == .gigya || proof.identity.identifier == id else {
                    throw ParseCode.objectNotFound.error(
                        "\(provider.rawValue) auth is invalid for this user.", status: 404)
                }
                linked.append(.proved(proof))
            }
        }

        private static func credential(
            _ provider: SocialProvider, _ value: JSONValue
        ) throws(ServerError) -> SocialCredential {
            let names =
                switch provider {
                case .facebook: [("fb_at", "access_token")]
                case .twitter: [("tw_tk", "auth_token"), ("tw_ts", "auth_token_secret")]
                case .gigya: [("gigya_uid", "id"), ("gigya_sig", "signature"), ("gigya_ts", "timestamp")]
                }
            var values: [String: String] = [:]
            for (name, member) in names {
                guard let text = value[member]?.string ?? value[member]?.integer.map({ String($0) }) else {
                    throw ParseCode.invalidAuthData.error("The data of \(provider.rawValue) lacks \(member).")
                }
                values[name] = text
            }
            return SocialCredential(provider: provider, values: values)
        }

        /// The account here that one of them is linked with; nil if none is.
        func user(_ schema: ServerSchema, _ scope: DataScope) throws(ServerError) -> ManagedObject? {
            for account in linked {
                guard let link = try scope.link(account.provider, account.identifier, schema) else { continue }
                return try scope.object(schema, link.text("user") ?? "")
            }
            return nil
        }

        /// Links and unlinks an account here.
        /// - Throws: ``ServerError`` of code 208 for one that is another's.
        func apply(to user: String, _ schema: ServerSchema, _ scope: DataScope) throws(ServerError) {
            for provider in unlinked {
                if let link = try scope.link(of: user, provider, schema.name) { scope.context.delete(link) }
            }
            for account in linked {
                if let link = try scope.link(account.provider, account.identifier, schema), !link.isDeleted,
                    link.text("user") != user
                {
                    throw ParseCode.accountAlreadyLinked.error("this auth is already used")
                }
                switch account {
                case .anonymous(let id): try scope.keepLink(Self.anonymous, id, credential: [:], for: user, schema)
                case .proved(let proof): try scope.keep(proof, for: user, schema)
                }
            }
        }
    }
#endif
