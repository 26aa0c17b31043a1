import Foundation
import StrataStore

/// A back end of any kind: the level at which a store plugs in that does not speak HTTP. HTTP services implement
/// ``RemoteDialect`` instead and are wrapped in an ``HTTPBackend``.
///
///     guard case .page(let page) = try await backend.perform(.query(query), options: RequestOptions()) else { return }
///     for record in page.records { print(record.identity, record.version ?? "-") }
///
/// Implement ``name``, ``capabilities``, ``check(_:)-(RemoteOperation)`` and ``perform(_:options:)``; everything else has a
/// default. Declare only what the service guarantees: the store relies on it for what is sent again, and for conflicts. Methods
/// may be called from any task, and concurrently.
///
/// `MemoryBackend` of `StrataRemoteTesting` is a complete one, and `BackendSuite` checks yours together with its server.
public protocol RemoteBackend: Sendable {
    /// The kind of back end, for messages: its name.
    var name: String { get }
    /// What it can do.
    var capabilities: RemoteCapabilities { get }

    /// Refuses a model that the back end cannot keep. Called when a store is opened.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported``, naming entity and property.
    func check(_ model: ManagedObjectModel) throws(RemoteError)

    /// Tells whether an operation can be sent, without sending it.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported`` that names the part which cannot.
    func check(_ operation: RemoteOperation) throws(RemoteError)

    /// Does it.
    /// - Throws: ``RemoteError`` if the outcome of single writes is unknown; otherwise each has its own
    ///   ``RemoteOutcome``.
    func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer

    /// Whether the records of an entity list the members of a to-many relationship that the entity keeps. If they do not, a store
    /// asks for them when an app does; see ``RemoteQuery/memberOf``.
    func lists(_ relationship: RelationshipDescription, of entity: EntityDescription) -> Bool

    /// How far the server's clock is ahead of this machine's, in seconds; 0 while it is not known.
    var clockOffset: Double { get }

    /// How a file is sent to the back end.
    func delivery(of file: RemoteFile) -> FileDelivery

    /// The bytes of a file.
    /// - Parameter reference: What the back end calls it.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/notFound`` if there is none, and
    ///   ``RemoteError/Kind/unsupported`` if the back end keeps no files.
    func download(_ reference: String, options: RequestOptions) async throws(RemoteError) -> Data

    /// Deletes a file. One that is not there is no error.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported`` if the back end does not delete single files.
    func deleteFile(_ reference: String, options: RequestOptions) async throws(RemoteError)

    /// The code that the back end's own libraries gave to what a store finds itself; nil if they gave none.
    func code(of finding: RemoteError.Finding) -> RemoteError.Code?
}

extension RemoteBackend {
    /// Records list all members.
    public func lists(_ relationship: RelationshipDescription, of entity: EntityDescription) -> Bool { true }
    /// No difference.
    public var clockOffset: Double { 0 }
    /// Every model is fine.
    public func check(_ model: ManagedObjectModel) throws(RemoteError) {}
    /// Files are uploaded before their objects.
    public func delivery(of file: RemoteFile) -> FileDelivery { .upload }
    /// There are no files.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported``, always.
    public func download(_ reference: String, options: RequestOptions) async throws(RemoteError) -> Data {
        throw RemoteError(.unsupported, domain: "Strata", message: "\(name) keeps no files")
    }
    /// There are no files.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported``, always.
    public func deleteFile(_ reference: String, options: RequestOptions) async throws(RemoteError) {
        throw RemoteError(.unsupported, domain: "Strata", message: "\(name) does not delete files")
    }
    /// No code.
    public func code(of finding: RemoteError.Finding) -> RemoteError.Code? { nil }
}

/// How requests are made: headers, parameters, timeout, and what to do when a server asks to wait.
///
///     var options = RequestOptions()
///     options.timeout = 10
///     options.headers["Accept-Language"] = "nb"
///     _ = try await backend.perform(.ping, options: options)
///
/// Set them for a whole store in ``RemoteStore/Options/request``, for its synchronization in ``SyncOptions/request``, for one
/// fetch or save in ``RemoteOptions/request``, and for single calls of a client. They replace the default as a whole; they are
/// not merged.
///
/// If a server asks to wait – usually by 429 or 503 with `Retry-After` –, the request is sent again up to ``retries`` times,
/// unless the wait is longer than ``maximumWait``. Other failures are not repeated here: a store's ``SyncEngine`` does that for pushes and pulls.
/// If a server that does not recognize repeated writes refuses one that was sent again after a status of 500 or higher, because of a
/// conflict, the error is ``RemoteError/Kind/unavailable``: the first request may have been carried out.
public struct RequestOptions: Sendable, Hashable {
    /// Whether to use HTTPS even if the back end's address is HTTP.
    public var isSecure = false
    /// Headers besides the dialect's own, which they replace.
    public var headers: [String: String] = [:]
    /// Query parameters after the dialect's own, in order; names may repeat. A name that the dialect uses itself is left out.
    public var parameters: [RemoteParameter] = []
    /// How often a request is sent again when the server asks to wait; see ``AnswerReaction/wait(seconds:)``.
    public var retries = 3
    /// Whether an ended session is renewed.
    public var renewsSession = true
    /// How many seconds to wait for an answer.
    public var timeout: Double = 60
    /// The maximum number of seconds to wait if the server asks for it. A longer wait is left to the caller, in
    /// ``RemoteError/retryAfter``.
    public var maximumWait: Double = 300

    /// The usual way.
    public init() {}
}
