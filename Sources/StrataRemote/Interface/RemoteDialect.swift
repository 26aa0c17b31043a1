import Foundation
import StrataStore

/// The wire format of an HTTP service: turns operations into requests and answers into records.
///
///     let backend = HTTPBackend(dialect: dialect, transport: URLSessionTransport())
///     for request in try dialect.requests(for: .query(query)) { print(request.head.path ?? "") }
///
/// A dialect is what you write to mirror your service: ``request(for:options:)`` makes a request for an operation, and
/// ``answer(_:to:)`` reads what came back. It has no state and does no input or output, so that you can test it without a
/// server. Transport, retries, sessions, mirror, outbox and conflicts exist already.
///
/// The most important duty is to tell the service's answers from those of a portal or proxy: answers that are not in the
/// service's own form must have the kind ``RemoteError/Kind/invalidAnswer``. `DialectSuite` of `StrataRemoteTesting` checks that.
/// ``JSONRecordCoder`` converts objects for services that have JSON.
public protocol RemoteDialect: Sendable {
    /// The kind of back end, for messages.
    var name: String { get }
    /// What it can do.
    var capabilities: RemoteCapabilities { get }

    /// Refuses a model that the back end cannot keep.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported``, naming entity and property.
    func check(_ model: ManagedObjectModel) throws(RemoteError)

    /// The operations, each of one request, that an operation is made of. Their answers are joined in order: pages and outcomes
    /// one after another. The default is the operation itself; reads of more primary keys than
    /// ``RemoteCapabilities/maximumIDs``, and creations of more objects than ``RemoteCapabilities/maximumBatch``, are divided.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported`` for an operation that the service does not have.
    func steps(of operation: RemoteOperation) throws(RemoteError) -> [RemoteOperation]

    /// The request for an operation that ``steps(of:)`` gave.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported`` or ``RemoteError/Kind/invalidRequest``.
    func request(for operation: RemoteOperation, options: RequestOptions) throws(RemoteError) -> WireRequest

    /// Decides whether an operation takes another request, because of what the server has answered so far. The default reads the
    /// answer to the first request.
    ///
    /// A service may answer a creation only with the path of the new object, for example, so that the object has to be read:
    ///
    ///     func continuation(
    ///         of operation: RemoteOperation, after exchanges: [DialectExchange], options: RequestOptions
    ///     ) throws(RemoteError) -> DialectContinuation {
    ///         let last = exchanges[exchanges.count - 1]
    ///         guard case .create = operation, last.response.status == 201, let path = last.response[header: "Location"]
    ///         else { return .answer(last.response) }
    ///         return .send(try WireRequest(.get, authority: "places.example", path: path))
    ///     }
    ///
    /// If a further request fails without an answer, the outcome of the operation is unknown, as it is for the first one. The
    /// store then repeats the operation from its first request.
    /// - Parameters:
    ///   - operation: An operation that ``steps(of:)`` gave.
    ///   - exchanges: The requests so far and their answers, in order; at least one. An operation takes at most
    ///     ``HTTPBackend/maximumExchanges`` requests.
    ///   - options: The options of the operation, which are applied to each request.
    /// - Throws: ``RemoteError`` if the next request cannot be made.
    func continuation(
        of operation: RemoteOperation, after exchanges: [DialectExchange], options: RequestOptions
    ) throws(RemoteError) -> DialectContinuation

    /// Reads an answer, of any status.
    /// - Throws: ``RemoteError`` for answers that report a failure or are not what the protocol promises.
    func answer(_ response: WireResponse, to operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer

    /// The server's clock, if the answer tells it.
    func time(of response: WireResponse) -> Date?

    /// Whether the records of an entity list the members of a to-many relationship that the entity keeps. If they do not, a store
    /// asks for them when an app does; see ``RemoteQuery/memberOf``.
    func lists(_ relationship: RelationshipDescription, of entity: EntityDescription) -> Bool

    /// What an answer asks of the client in addition to the outcome of the request. Most services use the status to say that
    /// a session has ended or that the client should wait; some use the body.
    func reaction(to response: WireResponse) -> AnswerReaction?

    /// Headers, parameters and members of JSON objects whose values are secret, in addition to those that every
    /// ``LogPolicy`` hides. They are never logged. Names are compared without regard to case.
    var secretNames: Set<String> { get }

    /// The code that the service's own libraries gave to what a store finds itself; nil if they gave none.
    func code(of finding: RemoteError.Finding) -> RemoteError.Code?
}

extension RemoteDialect {
    /// Every model is fine.
    public func check(_ model: ManagedObjectModel) throws(RemoteError) {}
    /// The operation, divided into parts of the sizes that the capabilities name.
    public func steps(of operation: RemoteOperation) throws(RemoteError) -> [RemoteOperation] {
        operation.divided(maximumIDs: capabilities.maximumIDs, maximumBatch: capabilities.maximumBatch)
    }
    /// The answer to the first request.
    public func continuation(
        of operation: RemoteOperation, after exchanges: [DialectExchange], options: RequestOptions
    ) throws(RemoteError) -> DialectContinuation { .answer(exchanges[exchanges.count - 1].response) }
    /// Nothing is told.
    public func time(of response: WireResponse) -> Date? { nil }
    /// Records list all members.
    public func lists(_ relationship: RelationshipDescription, of entity: EntityDescription) -> Bool { true }
    /// What the status says; see ``AnswerReaction/init(status:)``.
    public func reaction(to response: WireResponse) -> AnswerReaction? { AnswerReaction(status: response.status) }
    /// None.
    public var secretNames: Set<String> { [] }
    /// No code.
    public func code(of finding: RemoteError.Finding) -> RemoteError.Code? { nil }
}

extension RemoteDialect {
    /// The requests of an operation, in the order in which they are sent, as far as they do not depend on answers; see
    /// ``continuation(of:after:options:)``. Nothing is sent.
    ///
    ///     for request in try dialect.requests(for: .query(query)) { print(request.head.method, request.head.path ?? "") }
    ///
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported`` or ``RemoteError/Kind/invalidRequest``.
    public func requests(
        for operation: RemoteOperation, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> [WireRequest] {
        var requests: [WireRequest] = []
        for step in try steps(of: operation) { requests.append(try request(for: step, options: options)) }
        return requests
    }
}

extension RemoteOperation {
    /// The operation in parts of one request each, as the default of ``RemoteDialect/steps(of:)`` divides it: reads of more primary
    /// keys, and creations of more objects, than one request takes. It is itself if it is small enough, or cannot be divided.
    ///
    /// A dialect that divides other operations in its own way divides the rest like this. This one is of a service that adds and
    /// removes members by different requests:
    ///
    ///     let capabilities = RemoteCapabilities(features: [.readingMany, .relating], maximumIDs: 50)
    ///     func steps(of operation: RemoteOperation) -> [RemoteOperation] {
    ///         guard case .relate(let entity, let relation) = operation else {
    ///             return operation.divided(
    ///                 maximumIDs: capabilities.maximumIDs, maximumBatch: capabilities.maximumBatch)
    ///         }
    ///         return relation.parts.map { .relate(entity: entity, $0) }
    ///     }
    ///
    /// A batch stays as it is. If a dialect with ``RemoteCapabilities/Features/batches`` returns its operations one by one,
    /// ``HTTPBackend`` asks for the steps of each.
    /// - Parameters:
    ///   - maximumIDs: The maximum number of primary keys in one read; less than 1 counts as 1.
    ///   - maximumBatch: The maximum number of objects in one creation; less than 1 counts as 1.
    public func divided(maximumIDs: Int, maximumBatch: Int) -> [RemoteOperation] {
        switch self {
        case .read(let entity, let ids) where ids.count > maximumIDs:
            Self.parts(ids, maximumIDs).map { .read(entity: entity, ids: $0) }
        case .create(let entity, let writes) where writes.count > maximumBatch:
            Self.parts(writes, maximumBatch).map { .create(entity: entity, $0) }
        default: [self]
        }
    }

    private static func parts<T>(_ list: [T], _ size: Int) -> [[T]] {
        let size = max(1, size)
        return stride(from: 0, to: list.count, by: size).map { Array(list[$0..<min(list.count, $0 + size)]) }
    }
}
