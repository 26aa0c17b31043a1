extension ReportingTransport {
    /// The transport of a client: logs without what lets others in, and says as the old library did that there is no network.
    convenience init(_ configuration: StackMobConfiguration) {
        let transport = LoggingTransport(
            configuration.transport, dialect: configuration.dialect, logger: configuration.logger,
            policy: configuration.logPolicy)
        self.init(transport) { StackMobError.networkNotReachable.error($0.message, kind: $0.kind, underlying: [$0]) }
    }
}
