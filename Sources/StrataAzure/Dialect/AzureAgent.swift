/// What a client reports itself in the headers `User-Agent` and `X-ZUMO-VERSION`.
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

/// What of the library a request came from: the services count it.
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
    /// A part of a synchronisation.
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
