import StrataStore

extension StackMobClient {
    /// The client that all parts of an app share; nil until you set it.
    ///
    /// ```swift
    /// StackMobClient.default = try StackMobClient(publicKey: key)
    /// // Anywhere else:
    /// let cities = try await StackMobClient.default?.dataStore.query(StackMobQuery("city"))
    /// ```
    ///
    /// Strata itself never uses it. An app with one application needs no other client; tests and servers, which have several,
    /// hand on their own instead. It may be set and read from any task.
    public static var `default`: StackMobClient? {
        get { shared.withLock { $0 } }
        set { shared.withLock { $0 = newValue } }
    }

    private static let shared = Guarded<StackMobClient?>(nil)
}
