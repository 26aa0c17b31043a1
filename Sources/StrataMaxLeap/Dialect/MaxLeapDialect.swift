/// The wire format of MaxLeap, and with another setting that of Parse: how an application, its users and its objects are spoken
/// of over HTTP.
///
///     let maxLeap = try MaxLeapDialect(applicationID: id, apiKey: key)
///     let parse = try MaxLeapDialect(.parse, address: MaxLeapAddress("https://example.com/parse"), applicationID: id)
///
/// It is a value without state. Set ``names`` if the server's differ from the model's, pass it to a ``MaxLeapConfiguration``,
/// and create a ``MaxLeapClient`` with that. For `strata-server`, set ``usesExtensions``: then a save whose answer was lost
/// makes no second object. You can also make requests and read answers with it, to test without a network.
public struct MaxLeapDialect: Sendable {
    /// Which of the two it is.
    public var flavor: MaxLeapFlavor
    /// Where the server is.
    public var address: MaxLeapAddress
    /// The application.
    public var applicationID: String
    /// The key of clients; nil for a Parse Server that asks for none.
    public var apiKey: String?
    /// The key that may do everything, for tools and servers. It goes along in place of ``apiKey``. Apps must not have it.
    public var masterKey: String?
    /// The installation of the app, which Parse is told with each request.
    public var installationID: String?
    /// How entities and properties are spelt on the server.
    public var names = MaxLeapNames()
    /// Whether the server takes the `objectId` that a new object of a store has here, as Parse Server does with
    /// `allowCustomObjectId`. Usually it gives one of its own, which takes the place of the one here.
    public var sendsObjectIds = false
    /// Whether updates and deletes of stores carry `?where=` with the time of the version that they were made to, so that
    /// MaxLeap refuses one that others have changed meanwhile. Parse does not know this. ``usesExtensions`` includes it.
    public var usesConditionalWrites = false
    /// Whether the dialect uses the extensions of `strata-server`. Writes of stores carry names by which it recognizes a
    /// repeated one (`Idempotency-Key`), so that a creation whose answer was lost makes one object. Updates and deletes carry
    /// the version that they were made to, in Parse's dialect, too. Other servers do not know this.
    public var usesExtensions = false
    /// The model. Needed to read included objects, and to look into related ones in conditions.
    public var model: ManagedObjectModel?

    /// Speaks for an application.
    /// - Parameters:
    ///   - address: Where the server is. Parse has no usual one.
    ///   - apiKey: The key of clients.
    /// - Throws: ``RemoteError`` with code 109 if the application has no name, MaxLeap no key, or the address would send keys
    ///   over plain HTTP to another machine.
    public init(
        _ flavor: MaxLeapFlavor = .maxLeap, address: MaxLeapAddress = .world, applicationID: String,
        apiKey: String? = nil, masterKey: String? = nil, model: ManagedObjectModel? = nil
    ) throws(RemoteError) {
        guard !applicationID.isEmpty else {
            throw MaxLeapError.notInitialized.error("the application has no identifier")
        }
        guard flavor == .parse || apiKey?.isEmpty == false || masterKey?.isEmpty == false else {
            throw MaxLeapError.notInitialized.error(
                "MaxLeap needs an API key or a master key in addition to the application")
        }
        guard flavor == .maxLeap || address != .world else {
            throw MaxLeapError.notInitialized.error("Parse has no usual address; tell that of your server")
        }
        guard address.isPrivate else {
            throw MaxLeapError.notInitialized.error(
                "\(address) would show keys and passwords to everybody on the way; use https")
        }
        self.flavor = flavor
        self.address = address
        self.applicationID = applicationID
        self.apiKey = apiKey
        self.masterKey = masterKey
        self.model = model
    }

    /// `MaxLeap` or `Parse`.
    public var name: String { flavor == .maxLeap ? "MaxLeap" : "Parse" }
}
