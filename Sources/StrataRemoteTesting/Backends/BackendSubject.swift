import Strata
import StrataRemote

/// A back end to be checked by ``BackendSuite``: how to create a new server, and what the back end does not support.
///
///     struct MyServers: BackendSubject {
///         let name = "My server"
///         func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend {
///             HTTPBackend(dialect: MyDialect(), transport: try await MyServer.start())
///         }
///     }
///     let failures = await BackendSuite.run(MyServers())
///     #expect(failures.isEmpty, "\(failures)")
///
/// ``open(_:)`` is called for each check and must give an empty server: a new process on loopback, a new database, or a new
/// account of a test server. The suite's model is passed to it, for servers that need a schema. Features that the back end does
/// not declare in its capabilities are not checked; ``omissions`` are about types of values and relationships.
public protocol BackendSubject: Sendable {
    /// The name of the back end, for messages.
    var name: String { get }
    /// What the back end does not keep, out of ``ConformanceFeature/decimals``, ``ConformanceFeature/binaries``,
    /// ``ConformanceFeature/uuids``, ``ConformanceFeature/uris``, ``ConformanceFeature/geoPoints`` and
    /// ``ConformanceFeature/manyToMany``.
    var omissions: Set<ConformanceFeature> { get }
    /// Whether primary keys are integers that the server assigns. Then those of the kit's model are of type `integer64`.
    var hasIntegerKeys: Bool { get }
    /// Whether the service only takes changes that name all values of an object. Then the checks read an object before they
    /// change it, as a push does.
    var takesOnlyWholeObjects: Bool { get }
    /// Whether a pull may report objects again that have not changed. This is so if a cursor is some seconds back, so that no late
    /// change is missed. Then a pull without changes may have objects, if they are the same as before.
    var repeatsRecentChanges: Bool { get }
    /// The smallest difference between dates that the service keeps, in seconds.
    var datePrecision: Double { get }
    /// The laws that do not hold for the back end's service. Explain why in a comment if you name one.
    var exceptions: Set<BackendSuite.Law> { get }
    /// Opens a back end on a new, empty server.
    /// - Parameter model: The kit's model.
    /// - Throws: An error if the server does not start. The suite reports it.
    func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend
}

extension BackendSubject {
    /// Nothing is left out.
    public var omissions: Set<ConformanceFeature> { [] }
    /// Primary keys are strings.
    public var hasIntegerKeys: Bool { false }
    /// Changes name only what they change.
    public var takesOnlyWholeObjects: Bool { false }
    /// A pull has only what has changed.
    public var repeatsRecentChanges: Bool { false }
    /// Milliseconds.
    public var datePrecision: Double { 0.001 }
    /// All laws hold.
    public var exceptions: Set<BackendSuite.Law> { [] }
}
