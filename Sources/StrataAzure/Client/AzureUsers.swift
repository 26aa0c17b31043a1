/// The users of an Azure application, in the words that all services share. ``AzureClient`` has log-in by a page, too.
///
///     let user = try await client.users.logIn(ProviderToken("google", token: token))
///     print(user.id, user.providers)
///     try await client.users.logOut()
///
/// Azure's users are those of other services: there is neither a sign-up nor a password, and no account is linked to another. A
/// token is sent as `access_token`, and its secret as `access_token_secret`; give what else the provider needs, such as
/// `id_token`, in ``ProviderToken/fields``.
public struct AzureUsers: RemoteUsers {
    let client: AzureClient

    /// `Azure Mobile Services`, `Azure Mobile Apps` or `Datasync`.
    public var service: String {
        switch client.configuration.dialect.version {
        case .mobileServices: "Azure Mobile Services"
        case .mobileApps: "Azure Mobile Apps"
        case .datasync: "Datasync"
        }
    }
    /// Log-in by other services, and renewing the session but in ``AzureVersion/mobileServices``.
    public var abilities: UserAbilities {
        client.configuration.dialect.version == .mobileServices ? [.providers] : [.providers, .refreshing]
    }

    /// The user of the session, by the name that the service gave.
    public var currentUser: RemoteUser? { client.session.user.map(Self.user) }

    /// Logs in by a token of a provider.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    @discardableResult
    public func logIn(_ token: ProviderToken) async throws(RemoteError) -> RemoteUser {
        var fields: JSONObject = ["access_token": .string(token.token)]
        if let secret = token.secret { fields["access_token_secret"] = .string(secret) }
        fields.merge(token.fields)
        do throws(AzureFailure) {
            return Self.user(try await client.logIn(provider: token.provider, token: .object(fields)))
        } catch {
            throw error.error
        }
    }

    /// Forgets the user here. The protocol has no way to tell the server.
    /// - Throws: Nothing.
    public func logOut() async throws(RemoteError) { client.logOut() }

    /// Renews the token of the user.
    /// - Throws: ``RemoteError`` for the reasons that ``RemoteUsers`` names.
    @discardableResult
    public func refreshUser() async throws(RemoteError) -> RemoteUser {
        guard abilities.contains(.refreshing) else { throw lacking(.refreshing) }
        do throws(AzureFailure) {
            return Self.user(try await client.refresh())
        } catch {
            throw error.error
        }
    }

    /// The part of the name before the colon tells the provider: `Facebook:1234`; `sid` stands for any.
    private static func user(_ user: AzureUser) -> RemoteUser {
        let parts = user.id.split(separator: ":", maxSplits: 1)
        let provider = parts.count == 2 && parts[0] != "sid" ? parts[0].lowercased() : nil
        return RemoteUser(id: user.id, providers: provider.map { [$0] } ?? [])
    }
}
