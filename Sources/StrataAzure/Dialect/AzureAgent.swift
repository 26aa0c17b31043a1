/// The description of the client in the headers `User-Agent` and `X-ZUMO-VERSION`.
///
///     var configuration = try AzureConfiguration("https://notes.azurewebsites.net")
///     configuration.dialect.agent.system = "Linux"
///     configuration.dialect.agent.systemVersion = "6.8"
///     print(configuration.dialect.agent.text)
///
/// Servers may use it for statistics. By default it has only the language and the version of the protocol's library. Do not
/// put anything into it that identifies a user.
public struct AzureAgent: Sendable, Hashable {
    /// The language of the library.
    public var language = "swift"
    /// The version of the library.
    public var version = "3.1.0"
    /// The operating system.
    public var system = "--"
    /// The version of the operating system.
    public var systemVersion = "--"
    /// The model of the machine.
    public var architecture = "--"

    /// Tells nothing but the language and the version.
    public init() {}

    /// The text of the headers.
    public var text: String {
        let short = version.split(separator: ".").prefix(2).joined(separator: ".")
        return "ZUMO/\(short) (lang=\(language); os=\(system); os_version=\(systemVersion); arch=\(architecture); "
            + "version=\(version))"
    }
}

/// A feature of the client that a request uses: the services count them.
///
///     print(AzureFeature.header([.tableReadQuery, .offline]) ?? "-")  // TQ,OL
///
/// Requests name them in the header `X-ZUMO-FEATURES`, as the old libraries did. The client does that by itself; the header
/// changes nothing in the answer. Use ``header(_:)`` in tests, or when you send requests by other means.
public enum AzureFeature: String, Sendable, Hashable, CaseIterable {
    // In the order of the header.

    /// A custom API, raw data.
    case apiRaw = "AG"
    /// A custom API, JSON.
    case apiJSON = "AJ"
    /// A read of a table by a query object.
    case tableReadQuery = "TQ"
    /// A read of a table by the text of a query.
    case tableReadRaw = "TR"
    /// Parameters of the application's own.
    case queryParameters = "QS"
    /// A write that names the version it was made to.
    case optimisticConcurrency = "OC"
    /// A part of a synchronization.
    case offline = "OL"
    /// A read of the next page by the address that the server gave.
    case linkHeader = "LH"
    /// A pull of what has changed.
    case incrementalPull = "IP"
    /// The renewal of a token.
    case refreshToken = "RT"

    /// The value of the header `X-ZUMO-FEATURES`; nil for no feature.
    public static func header(_ features: some Sequence<AzureFeature>) -> String? {
        let chosen = Set(features)
        return chosen.isEmpty ? nil : allCases.filter(chosen.contains).map(\.rawValue).joined(separator: ",")
    }
}
