import Foundation
import StrataStore

/// A back end of any kind: the level at which a store that is not HTTP service plugs in. HTTP services implement
/// ``RemoteDialect`` instead and are wrapped in an ``HTTPBackend``.
///
/// Methods may be called from any task, and concurrently.
public protocol RemoteBackend: Sendable {
    /// The kind of back end, for messages: `StackMob`.
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
    /// - Throws: ``RemoteError`` if nothing can be said of single writes; else each has its own ``RemoteOutcome``.
    func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer

    /// How far the server's clock is ahead of this machine's, in seconds; 0 as long as nothing is known.
    var clockOffset: Double { get }

    /// The code that the back end's own libraries gave to what a store finds itself; nil if they gave none.
    func code(of finding: RemoteError.Finding) -> RemoteError.Code?
}

extension RemoteBackend {
    /// No difference.
    public var clockOffset: Double { 0 }
    /// Every model is fine.
    public func check(_ model: ManagedObjectModel) throws(RemoteError) {}
    /// No code.
    public func code(of finding: RemoteError.Finding) -> RemoteError.Code? { nil }
}

/// How one request is to be made.
public struct RequestOptions: Sendable, Hashable {
    /// Whether it goes by HTTPS even if the back end's address is HTTP.
    public var isSecure = false
    /// Headers besides the dialect's own, which they replace.
    public var headers: [String: String] = [:]
    /// How often a request is sent again when the server asks for that with `Retry-After`.
    public var retries = 3
    /// Whether an ended session is renewed.
    public var renewsSession = true
    /// How many seconds to wait for an answer.
    public var timeout: Double = 60
    /// The most seconds to wait because the server asks for it; a longer wait is left to the caller, who finds it in
    /// ``RemoteError/retryAfter``.
    public var maximumWait: Double = 300
    /// MIME types of answers that are taken besides the dialect's own.
    public var acceptedContentTypes: Set<String> = []

    /// The usual way.
    public init() {}
}
