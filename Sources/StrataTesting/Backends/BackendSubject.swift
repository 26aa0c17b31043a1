import Strata
import StrataRemote

/// A back end to be tried by ``BackendSuite``: how a new server is made, and what the back end leaves out.
///
///     struct MyServers: BackendSubject {
///         let name = "My server"
///         func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend {
///             HTTPBackend(dialect: MyDialect(), transport: try await MyServer.start())
///         }
///     }
///     let failures = await BackendSuite.run(MyServers())
///     #expect(failures.isEmpty, "\(failures)")
public protocol BackendSubject: Sendable {
    /// The name of the back end, for messages.
    var name: String { get }
    /// What the back end does not keep: of ``ConformanceFeature/decimals``, ``ConformanceFeature/binaries``,
    /// ``ConformanceFeature/uuids``, ``ConformanceFeature/uris``, ``ConformanceFeature/geoPoints`` and
    /// ``ConformanceFeature/manyToMany``.
    var omissions: Set<ConformanceFeature> { get }
    /// The laws that do not hold for the service that the back end speaks to. Say why where you name one.
    var exceptions: Set<BackendSuite.Law> { get }
    /// Opens a back end at a server of its own, without objects.
    /// - Parameter model: The kit's model.
    func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend
}

extension BackendSubject {
    /// Nothing is left out.
    public var omissions: Set<ConformanceFeature> { [] }
    /// All laws hold.
    public var exceptions: Set<BackendSuite.Law> { [] }
}
