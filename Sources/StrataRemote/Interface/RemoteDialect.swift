import Foundation
import StrataStore

/// The wire format of an HTTP service: turns operations into requests and answers into records. It has no state and
/// does no input or output, so that you can test it without a server.
public protocol RemoteDialect: Sendable {
    /// The kind of back end, for messages.
    var name: String { get }
    /// What it can do.
    var capabilities: RemoteCapabilities { get }

    /// Refuses a model that the back end cannot keep.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported``, naming entity and property.
    func check(_ model: ManagedObjectModel) throws(RemoteError)

    /// The operations, each of one request, that an operation is made of: itself for most. Their answers are joined in
    /// order: pages and outcomes one after another.
    func steps(of operation: RemoteOperation) throws(RemoteError) -> [RemoteOperation]

    /// The request for an operation that ``steps(of:)`` gave.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported`` or ``RemoteError/Kind/invalidRequest``.
    func request(for operation: RemoteOperation, options: RequestOptions) throws(RemoteError) -> WireRequest

    /// Reads an answer, of any status.
    /// - Throws: ``RemoteError`` for answers that report a failure or are not what the protocol promises.
    func answer(_ response: WireResponse, to operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer

    /// The server's clock, if the answer tells it.
    func time(of response: WireResponse) -> Date?

    /// The code that the service's own libraries use for an error that the store detects itself; nil if they have none.
    func code(of finding: RemoteError.Finding) -> RemoteError.Code?
}

extension RemoteDialect {
    /// Every model is fine.
    public func check(_ model: ManagedObjectModel) throws(RemoteError) {}
    /// The operation itself.
    public func steps(of operation: RemoteOperation) throws(RemoteError) -> [RemoteOperation] { [operation] }
    /// Nothing is told.
    public func time(of response: WireResponse) -> Date? { nil }
    /// No code.
    public func code(of finding: RemoteError.Finding) -> RemoteError.Code? { nil }
}
