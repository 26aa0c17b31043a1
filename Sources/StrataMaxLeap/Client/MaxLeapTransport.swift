extension ReportingTransport {
    /// The transport of a client: logs without what lets others in, and gives the lack of an answer the code that it has in
    /// this protocol.
    convenience init(_ configuration: MaxLeapConfiguration) {
        var policy = configuration.logPolicy
        policy.hide([
            "sessionToken", "newPassword", "authData", "smsCode", "_SessionToken", "_ApplicationKey", "_MasterKey",
            "verifyCode",
        ])
        for flavor in MaxLeapFlavor.allCases {
            policy.hide([MaxLeapHeader.apiKey, .masterKey, .sessionToken].compactMap { $0.name(in: flavor) })
        }
        let transport = LoggingTransport(configuration.transport, logger: configuration.logger, policy: policy)
        self.init(transport) { error in
            let code: MaxLeapError = error.kind == .timeout ? .timeout : .connectionFailed
            return code.error(error.message, kind: error.kind, underlying: [error])
        }
    }
}
