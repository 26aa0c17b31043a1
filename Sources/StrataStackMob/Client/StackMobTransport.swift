extension ReportingTransport {
    /// The transport of a client: logs without the passwords of users, and says as the old library did that there is no
    /// network.
    convenience init(_ configuration: StackMobConfiguration) {
        var policy = configuration.logPolicy
        policy.hide([configuration.dialect.userPasswordField])
        let transport = LoggingTransport(configuration.transport, logger: configuration.logger, policy: policy)
        self.init(transport) { StackMobError.networkNotReachable.error($0.message, kind: $0.kind, underlying: [$0]) }
    }
}
