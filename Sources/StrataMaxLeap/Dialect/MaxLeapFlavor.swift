/// Which of the two dialects a server speaks: MaxLeap's or Parse's.
///
///     let parse = try MaxLeapDialect(.parse, address: MaxLeapAddress("https://example.com/parse"), applicationID: id)
///     print(parse.flavor == .parse)  // true
///
/// They share paths, conditions and types, and differ in headers, a few methods and the forms of some answers. Only MaxLeap has
/// log-in and passwords by SMS; only Parse has live queries. Choose it when you create the ``MaxLeapDialect``; everything else
/// follows.
public enum MaxLeapFlavor: String, Sendable, Hashable, CaseIterable {
    /// MaxLeap.
    case maxLeap
    /// Parse Server, and what speaks like it.
    case parse
}

/// A header of requests, whatever the dialect calls it.
///
///     print(MaxLeapHeader.sessionToken.name(in: .parse) ?? "-")  // X-Parse-Session-Token
///     print(MaxLeapHeader(named: "x-ml-appid") == .applicationID)  // true
///
/// Use it where code deals with the wire format of both services, such as a proxy or a test server. `init(named:)` also knows
/// the older names of MaxLeap. Values of ``apiKey``, ``masterKey`` and ``sessionToken`` are secret, and the client does not log
/// them.
public enum MaxLeapHeader: String, Sendable, Hashable, CaseIterable {
    /// The application.
    case applicationID
    /// The key of clients.
    case apiKey
    /// The key that may do everything.
    case masterKey
    /// The session of a user.
    case sessionToken
    /// The installation of the app; MaxLeap takes it in bodies.
    case installationID
    /// The file that is deleted; Parse has it in the path.
    case fileID
    /// Asks for sessions that can be ended; MaxLeap's always can.
    case revocableSession

    /// The name in a dialect; nil if it has no such header.
    public func name(in flavor: MaxLeapFlavor) -> String? {
        switch (self, flavor) {
        case (.applicationID, .maxLeap): "X-ML-AppId"
        case (.applicationID, .parse): "X-Parse-Application-Id"
        case (.apiKey, .maxLeap): "X-ML-APIKey"
        case (.apiKey, .parse): "X-Parse-REST-API-Key"
        case (.masterKey, .maxLeap): "X-ML-MasterKey"
        case (.masterKey, .parse): "X-Parse-Master-Key"
        case (.sessionToken, .maxLeap): "X-ML-Session-Token"
        case (.sessionToken, .parse): "X-Parse-Session-Token"
        case (.installationID, .parse): "X-Parse-Installation-Id"
        case (.fileID, .maxLeap): "X-ML-Fid"
        case (.revocableSession, .parse): "X-Parse-Revocable-Session"
        case (.installationID, .maxLeap), (.fileID, .parse), (.revocableSession, .maxLeap): nil
        }
    }

    /// The header with the given name in either dialect, older names included; nil if it is not such a header. Case
    /// does not matter.
    public init?(named name: String) {
        let name = name.lowercased()
        let older: [String: MaxLeapHeader] = [
            "x-las-appid": .applicationID, "x-las-apikey": .apiKey, "x-las-masterkey": .masterKey,
            "x-las-session-token": .sessionToken, "x-las-fid": .fileID, "x-zcloud-appid": .applicationID,
            "x-zcloud-apikey": .apiKey, "x-zcloud-masterkey": .masterKey, "x-parse-client-key": .apiKey,
        ]
        let found =
            older[name]
            ?? Self.allCases.first { header in
                MaxLeapFlavor.allCases.contains { header.name(in: $0)?.lowercased() == name }
            }
        guard let found else { return nil }
        self = found
    }
}
