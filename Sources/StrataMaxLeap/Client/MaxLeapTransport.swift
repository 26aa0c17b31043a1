extension ReportingTransport {
    /// The transport of a client: logs without what lets others in, and gives the lack of an answer the code that it has in
    /// this protocol.
    convenience init(_ configuration: MaxLeapConfiguration) {
        let transport = LoggingTransport(
            configuration.transport, dialect: configuration.dialect, logger: configuration.logger,
            policy: configuration.logPolicy)
        self.init(transport) { error in
            let code: MaxLeapError = error.kind == .timeout ? .timeout : .connectionFailed
            return code.error(error.message, kind: error.kind, underlying: [error])
        }
    }
}

extension MaxLeapDialect {
    /// Keys of the application, sessions, passwords, codes and tokens of other services, in either dialect.
    public var secretNames: Set<String> {
        var names: Set<String> = [
            "sessionToken", "newPassword", "authData", "smsCode", "_SessionToken", "_ApplicationKey", "_MasterKey",
            "verifyCode",
        ]
        for flavor in MaxLeapFlavor.allCases {
            names.formUnion([MaxLeapHeader.apiKey, .masterKey, .sessionToken].compactMap { $0.name(in: flavor) })
        }
        return names
    }

    /// The end of a session is told by a code, often with a status that other failures have, too; so is the wish to wait.
    public func reaction(to response: WireResponse) -> AnswerReaction? {
        // Answers with a success are read for their own sake; those that report an error are short.
        guard response.status >= 400 || flavor == .maxLeap && response.body.count < 1000 else { return nil }
        let json = try? JSONValue(parsing: response.body)
        // An object may have a field with the name `code`.
        guard response.status >= 400 || json?["errorCode"]?.integer != nil else { return nil }
        switch Self.told(json).code {
        case MaxLeapError.invalidSessionToken.rawValue?, MaxLeapError.invalidSessionTokenOfParse.rawValue?:
            return .sessionEnded
        // The code of Parse, and that of MaxLeap. Without `Retry-After`, neither says for how long.
        case 155?, MaxLeapError.rateLimited.rawValue?:
            return .wait(seconds: response[header: "Retry-After"] == nil ? 1 : nil)
        case let code?
        where MaxLeapError.kind(ofCode: code) != .throttled && code != MaxLeapError.unauthorized.rawValue:
            return nil
        default: return AnswerReaction(status: response.status)
        }
    }
}
