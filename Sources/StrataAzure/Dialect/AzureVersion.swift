/// Which of the three protocols a server speaks.
///
///     let configuration = try AzureConfiguration("https://notes.example", version: .datasync)
///     print(configuration.dialect.version.apiVersion ?? "-")  // 3.0.0
///
/// All have tables under `tables/`; they differ in headers, in the names of the columns that the server keeps by itself, and in
/// the words of queries. ``AzureClient`` chooses ``mobileServices`` with an application key and ``mobileApps`` without one;
/// name ``datasync`` yourself. ``datasync`` takes only whole rows: save to the mirror with the policy `.cacheOnly`, and push.
public enum AzureVersion: Sendable, Hashable, CaseIterable {
    /// Azure Mobile Services, the first version: an application key, and columns such as `__version` that are asked for.
    case mobileServices
    /// Azure Mobile Apps on App Service, the second version: `ZUMO-API-VERSION: 2.0.0`, and columns such as `version`
    /// that always come.
    case mobileApps
    /// The Datasync services that followed: OData 4, `PUT` in place of `PATCH`, and lists that are objects.
    case datasync

    /// The value of the header `ZUMO-API-VERSION`; nil where there is none.
    public var apiVersion: String? {
        switch self {
        case .mobileServices: nil
        case .mobileApps: "2.0.0"
        case .datasync: "3.0.0"
        }
    }

    /// The domain that the client libraries gave to their error codes.
    public var errorDomain: String {
        switch self {
        case .mobileServices: "com.Microsoft.WindowsAzureMobileServices.ErrorDomain"
        case .mobileApps, .datasync: "com.Microsoft.MicrosoftAzureMobile.ErrorDomain"
        }
    }

    /// The name of the parameter that asks for deleted rows, too.
    var includesDeletedName: String { self == .datasync ? "__includedeleted" : "__includeDeleted" }

    /// The parameter that asks for the number of all rows.
    var totalCountParameter: String { self == .datasync ? "$count=true" : "$inlinecount=allpages" }

    /// Where users log in, without slashes at its ends.
    public var loginPath: String { self == .mobileServices ? "login" : ".auth/login" }
}

/// A column that the server keeps by itself: times, version, and whether a row is deleted.
///
///     print(AzureSystemProperty.updatedAt.column(in: .mobileServices))  // __updatedAt
///     print(AzureSystemProperty.updatedAt.column(in: .mobileApps))  // updatedAt
///
/// Items that you read have these columns; updates do not send them, except for the version, which is the condition of the
/// write. In a model, declare attributes named `createdAt`, `updatedAt`, `version` or `deleted` only if you need the values.
/// Tables with integers as ids have none of them.
public enum AzureSystemProperty: String, Sendable, Hashable, CaseIterable {
    // In the order in which they are asked for.

    /// When the row was made.
    case createdAt
    /// When the row was last changed.
    case updatedAt
    /// Whether the row was deleted and is kept to report that.
    case deleted
    /// What tells this state of the row from all others.
    case version

    /// The name of the column.
    public func column(in version: AzureVersion) -> String {
        version == .mobileServices ? "__" + rawValue : rawValue
    }

    /// Whether a column is one of the server's own.
    static func isColumn(_ name: String, in version: AzureVersion) -> Bool {
        version == .mobileServices ? name.hasPrefix("__") : AzureSystemProperty(rawValue: name) != nil
    }
}

/// The columns of its own that a server of Mobile Services is asked for.
///
///     var configuration = try AzureConfiguration("https://notes.azure-mobile.net", applicationKey: "key")
///     configuration.dialect.systemColumns = .some([.version, .updatedAt])
///
/// It becomes the parameter `__systemProperties` of requests. The default is ``all``. Without the version, updates and deletes
/// are not conditional, and stores cannot find conflicts. The newer versions of the protocol always send these columns and
/// ignore the setting.
public enum AzureSystemColumns: Sendable, Hashable {
    /// All of them.
    case all
    /// Some of them; none is an answer without any.
    case some(Set<AzureSystemProperty>)

    /// The value of the parameter `__systemProperties`; nil if nothing is asked for.
    var parameter: String? {
        switch self {
        case .all: "*"
        case .some(let chosen):
            chosen.isEmpty
                ? nil
                : AzureSystemProperty.allCases.filter(chosen.contains)
                    .map { $0.column(in: .mobileServices) }.joined(separator: ",")
        }
    }

    /// Whether a column is among those that are asked for.
    func contains(_ column: String) -> Bool {
        switch self {
        case .all: true
        case .some(let chosen): chosen.contains { $0.column(in: .mobileServices) == column }
        }
    }
}
