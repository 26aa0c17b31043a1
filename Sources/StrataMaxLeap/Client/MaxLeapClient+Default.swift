import StrataStore

extension MaxLeapClient {
    /// The client that all parts of an app share; nil until you set it.
    ///
    /// ```swift
    /// MaxLeapClient.default = MaxLeapClient(MaxLeapConfiguration(try MaxLeapDialect(applicationID: id, apiKey: key)))
    /// // Anywhere else:
    /// let posts = try await MaxLeapClient.default?.find(MaxLeapQuery("Post"))
    /// ```
    ///
    /// Strata itself never uses it. An app with one application needs no other client; tests and servers, which have several,
    /// hand on their own instead. It may be set and read from any task.
    public static var `default`: MaxLeapClient? {
        get { shared.withLock { $0 } }
        set { shared.withLock { $0 = newValue } }
    }

    private static let shared = Guarded<MaxLeapClient?>(nil)
}
