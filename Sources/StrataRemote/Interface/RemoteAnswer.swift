import Foundation

/// The answer of a back end to a ``RemoteOperation``.
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

/// What became of one write.
public enum RemoteOutcome: Sendable, Hashable {
    /// The write was carried out. The record has the server's state as far as the answer contains it; nil if it
    /// contains nothing.
    case done(RemoteRecord?)
    /// The write was not carried out. Other writes of the same operation are not affected.
    case failed(RemoteError)
}

/// What code on the server gave back.
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
