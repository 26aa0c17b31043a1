import Foundation

/// The wire format of Azure Mobile Services, Azure Mobile Apps and Datasync services: tables, log-in, custom APIs and
/// registrations for push messages over HTTP.
///
///     let dialect = try AzureDialect(address: "https://notes.azurewebsites.net")
///     let old = try AzureDialect(address: "https://notes.azure-mobile.net", applicationKey: "…")
///     print(try dialect.filterText(FetchPredicate(format: "done == NO")))  // (done eq false)
///
/// It is a value without state: it makes requests and reads answers, without input or output. Change its settings in an
/// ``AzureConfiguration``. For stores, set ``keepsDeletedRows`` if the tables have soft delete, ``names`` if the server's
/// differ, and ``usesExtensions`` only for `strata-server`.
public struct AzureDialect: Sendable {
    /// Where the application is.
    public var address: AzureAddress
    /// Which protocol it speaks.
    public var version: AzureVersion
    /// The key of an application of ``AzureVersion/mobileServices``; nil to send none.
    public var applicationKey: String?
    /// What tells this installation of the app from all others: a UUID.
    public var installationID: String
    /// What the client reports itself.
    public var agent = AzureAgent()
    /// How entities and properties are called at the server, where that is not as in the model.
    public var names = AzureNames()
    /// Which columns of its own a server of ``AzureVersion/mobileServices`` is asked for. Stores need the version.
    public var systemColumns = AzureSystemColumns.all
    /// Whether the server's tables keep deleted rows and report them (soft delete), for all entities of a model. Then a
    /// pull learns of deletions, otherwise it compares the ids of all rows.
    public var keepsDeletedRows = false
    /// Whether writes of stores carry the names that `strata-server` recognizes a repeated write by (`Idempotency-Key`). A
    /// repeated request gets the answer of the first one: a row with an integer id whose answer was lost is inserted once.
    /// Other services do not know this.
    public var usesExtensions = false
    /// Where users log in, if that is another host: HTTPS, without a path.
    public var loginHost: AzureAddress?
    /// The path under which users log in; nil for the version's own, such as `.auth/login`.
    public var loginPath: String?
    /// The header that tokens of users are sent in.
    public var tokenHeader = AzureTokenHeader.zumo

    /// Speaks to an application.
    /// - Parameters:
    ///   - address: The address of the application, such as `https://notes.azurewebsites.net`.
    ///   - version: The protocol; nil for ``AzureVersion/mobileServices`` with an application key, and
    ///     ``AzureVersion/mobileApps`` without one.
    /// - Throws: ``RemoteError`` of code ``AzureError/invalidParameter`` if the address is invalid.
    public init(
        address: String, version: AzureVersion? = nil, applicationKey: String? = nil,
        installationID: String = UUID().uuidString
    ) throws(RemoteError) {
        self.address = try AzureAddress(address)
        self.version = version ?? (applicationKey == nil ? .mobileApps : .mobileServices)
        self.applicationKey = applicationKey
        self.installationID = installationID
    }

    /// `Azure`.
    public var name: String { "Azure" }

    /// The key of the application, tokens of users, and the codes of a log-in by a page.
    public var secretNames: Set<String> {
        [
            "X-ZUMO-AUTH", "X-ZUMO-APPLICATION", "authenticationToken", "authorization_code", "code_verifier",
            "authorizationCode", "access_token_secret",
        ]
    }

    /// An error of the client libraries, in the domain of the version.
    func error(_ code: AzureError, _ message: String? = nil, kind: RemoteError.Kind? = nil) -> RemoteError {
        code.error(message, version: version, kind: kind)
    }

    func unsupported(_ message: String) -> RemoteError { error(.invalidParameter, message, kind: .unsupported) }
}

/// The header in which the token of a user is sent.
///
///     var configuration = try AzureConfiguration("https://notes.example", version: .datasync)
///     configuration.dialect.tokenHeader = .bearer
///
/// App Service expects ``zumo``, the default. Choose ``bearer`` for a service that takes tokens as HTTP defines them, as
/// Datasync services can. The token goes only to the application's own host, and is never logged.
public enum AzureTokenHeader: Sendable, Hashable {
    /// `X-ZUMO-AUTH`, as App Service takes it.
    case zumo
    /// `Authorization: Bearer`, as other services take it.
    case bearer

    /// The request with a token in its header.
    func adding(_ token: String, to request: WireRequest) -> WireRequest {
        var copy = request
        switch self {
        case .zumo: copy.head.headerFields[.zumoAuth] = token
        case .bearer: copy.head.headerFields[.authorization] = "Bearer \(token)"
        }
        return copy
    }

    /// The token of a request.
    func token(of request: WireRequest) -> String? {
        switch self {
        case .zumo: return request.head.headerFields[.zumoAuth]
        case .bearer:
            guard let text = request.head.headerFields[.authorization], text.hasPrefix("Bearer ") else { return nil }
            return String(text.dropFirst(7))
        }
    }
}
