import Foundation

/// The answer of a back end to a ``RemoteOperation``.
///
///     switch try await backend.perform(.count(query), options: RequestOptions()) {
///     case .count(let number): print(number, "objects")
///     default: print("not a number")
///     }
///
/// Each operation has one kind of answer, which ``RemoteOperation`` names: queries, reads and pulls answer with a page, writes
/// with outcomes. A store treats an answer of another kind as an error. Failures of the whole request are thrown as
/// ``RemoteError``; failures of single writes are outcomes.
public enum RemoteAnswer: Sendable {
    /// Objects.
    case page(RemotePage)
    /// A number of objects.
    case count(Int)
    /// What became of each write.
    case outcomes([RemoteOutcome])
    /// The value of a property that refers to an uploaded file.
    case file(String)
    /// What code on the server gave back.
    case reply(RemoteReply)
    /// Done, without more to say.
    case nothing
}

/// Objects that a back end has, or a part of them.
///
///     let page = RemotePage(
///         records: [RemoteRecord(entity: "City", id: "1", values: ["name": .value(.string("Lima"))], version: "3")],
///         deleted: [RemoteIdentity(entity: "City", id: "7")], next: "57", hasMore: false)
///
/// It answers queries, reads and pulls. Set ``hasMore`` and ``next`` if the service has given only a part: the store then asks
/// for the rest. A complete answer to a query must have all objects that match, because the mirror removes those that are
/// missing from it and from the server.
///
/// Report a record that makes no sense in ``unreadable``, so that it does not hide the others. After a pull, ``next`` is the
/// cursor for the next one, even if ``hasMore`` is false.
public struct RemotePage: Sendable, Hashable {
    /// The objects, in the order that was asked for.
    public var records: [RemoteRecord]
    /// Deleted objects; only in answers to a pull.
    public var deleted: [RemoteIdentity]
    /// Invalid records of the answer. The others count all the same.
    public var unreadable: [UnreadableRecord]
    /// How many objects there are in all, if the back end told; see ``RemoteQuery/countsAll``.
    public var total: Int?
    /// The cursor for the rest, or, after a pull, for later changes. nil if this was all.
    public var next: String?
    /// Whether more can be had immediately with ``next``. After a pull there is always a cursor for the next time.
    public var hasMore: Bool

    /// Describes an answer.
    public init(
        records: [RemoteRecord] = [], deleted: [RemoteIdentity] = [], unreadable: [UnreadableRecord] = [],
        total: Int? = nil, next: String? = nil, hasMore: Bool = false
    ) {
        self.records = records
        self.deleted = deleted
        self.unreadable = unreadable
        self.total = total
        self.next = next
        self.hasMore = hasMore
    }
}

/// The outcome of one write: carried out, or failed.
///
///     let record = RemoteRecord(entity: "City", id: "7", version: "4")
///     let done = RemoteAnswer.outcomes([.done(record)])
///     let conflict = RemoteAnswer.outcomes([.failed(RemoteError(.conflict, message: "the revision is 5"))])
///
/// A back end returns one for each write, in order. Give the record in ``done(_:)`` if the answer has it, with the new version:
/// the store saves it, and need not read the object again. ``failed(_:)`` is about this write only, and its kind decides what
/// becomes of the change. Throw an error instead if it says nothing about single writes, as one of the network does.
public enum RemoteOutcome: Sendable, Hashable {
    /// The write was carried out. The record has the server's state as far as the answer contains it; nil if it
    /// contains nothing.
    case done(RemoteRecord?)
    /// The write was not carried out. Other writes of the same operation are not affected.
    case failed(RemoteError)
}

/// The reply of code on the server: status, type and bytes.
///
///     if case .reply(let reply) = answer, reply.contentType == "application/json" {
///         let json = try JSONValue(parsing: reply.body)
///         print(json["total"]?.integer ?? 0)
///     }
///
/// It answers ``RemoteOperation/call(_:)``. The body is not interpreted: parse it by ``contentType``, which has no parameters
/// such as a character set. Whether a status of failure is a reply or an error is decided by the dialect.
public struct RemoteReply: Sendable, Hashable {
    /// The HTTP status, or 200 where there is none.
    public var status: Int
    /// The MIME type without parameters; nil if there is none.
    public var contentType: String?
    /// The bytes.
    public var body: Data

    /// Describes a reply.
    public init(status: Int, contentType: String?, body: Data) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }
}
