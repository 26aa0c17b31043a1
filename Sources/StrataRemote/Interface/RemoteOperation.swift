import Foundation
import StrataStore

/// One operation that a store asks of a back end: a query, a read, writes, or a pull.
///
///     func request(for operation: RemoteOperation) throws(RemoteError) -> WireRequest {
///         switch operation {
///         case .ping: return try WireRequest(.get, authority: "shelf.example", path: "/")
///         case .pull(let pull):
///             let since = PercentEncoding.encode(pull.cursor ?? "0")
///             return try WireRequest(.get, authority: "shelf.example", path: "/\(pull.entity.name)?since=\(since)")
///         default: throw RemoteError(.unsupported, domain: "Shelf", message: "Shelf cannot take \(operation)")
///         }
///     }
///
/// A ``RemoteDialect`` turns each case into a request, a ``RemoteBackend`` carries it out. The store sends only operations that
/// fit the declared ``RemoteCapabilities``. Refuse a single operation that the service cannot do with an error of the kind
/// ``RemoteError/Kind/unsupported``: the store asks before it sends, and may do the rest itself over the mirror.
public enum RemoteOperation: Sendable {
    /// Objects that meet a condition. Answer: ``RemoteAnswer/page(_:)``.
    case query(RemoteQuery)
    /// How many objects meet a condition. Answer: ``RemoteAnswer/count(_:)``.
    case count(RemoteQuery)
    /// Objects by primary key; those that do not exist are left out. Answer: ``RemoteAnswer/page(_:)``.
    case read(entity: EntityDescription, ids: [String])
    /// New objects of one entity. Answer: ``RemoteAnswer/outcomes(_:)``, one for each.
    case create(entity: EntityDescription, [RemoteWrite])
    /// Changes of one object. Answer: ``RemoteAnswer/outcomes(_:)`` with one.
    case update(entity: EntityDescription, RemoteWrite)
    /// Deletes one object. Answer: ``RemoteAnswer/outcomes(_:)`` with one.
    case delete(entity: EntityDescription, RemoteWrite)
    /// Members added to or taken from a to-many relationship. Answer: ``RemoteAnswer/outcomes(_:)`` with one.
    case relate(entity: EntityDescription, RemoteRelation)
    /// What has changed since the last time, deletions included. Answer: ``RemoteAnswer/page(_:)``.
    case pull(RemotePull)
    /// Bytes that a property refers to from then on. Answer: ``RemoteAnswer/file(_:)``.
    case upload(entity: EntityDescription, RemoteFile)
    /// A call of code on the server. Answer: ``RemoteAnswer/reply(_:)``.
    case call(RemoteCall)
    /// Several writes in one request. Answer: ``RemoteAnswer/outcomes(_:)``, one for each write in order. If the service
    /// refuses all of them because of one, and has carried out none, throw its error: the store halves the batch until only
    /// that write is refused.
    case batch([RemoteOperation])
    /// Whether the back end can be reached, and what time it has. Answer: ``RemoteAnswer/nothing``.
    case ping
}

/// A query for the objects of an entity: condition, order, limit, and what comes along.
///
///     var query = RemoteQuery(entity: entity)
///     query.predicate = try FetchPredicate(format: "population > 1000000")
///     query.limit = 50
///     let answer = try await backend.perform(.query(query), options: RequestOptions())
///
/// A store makes queries from fetches, with those parts of the condition that the back end takes. A query without a limit asks
/// for all objects: if the service answers in pages, the answer has ``RemotePage/hasMore`` and ``RemotePage/next``, and the
/// same query comes again with ``cursor``. It then has the rest of the limit, and the same ``offset``.
///
/// Conditions must mean on the server what they mean in Strata. Refuse those that the service evaluates differently, such as
/// comparisons that ignore case.
public struct RemoteQuery: Sendable {
    /// The entity. Objects of entities that inherit from it do not count: the store sends a query for each entity.
    public var entity: EntityDescription
    /// The condition. Objects in it are given by primary key, as ``Value/string(_:)``.
    public var predicate: FetchPredicate?
    /// The order.
    public var sorts: [FetchSort] = []
    /// The maximum number of objects; nil for all.
    public var limit: Int?
    /// How many objects to skip at the beginning.
    public var offset = 0
    /// The requested properties; nil for all. The primary key is always included.
    public var properties: [String]?
    /// The relationships whose objects come along whole, as paths by name: `["country", "continent"]` brings countries and
    /// their continents. For all others primary keys come. Needs ``RemoteCapabilities/Features/expanding``.
    public var includes: [[String]] = []
    /// Further conditions, on what other queries find. Needs ``RemoteCapabilities/Features/subqueries``.
    public var subqueries: [RemoteSubquery] = []
    /// A relationship whose members the objects must be; nil for all objects. Needs
    /// ``RemoteCapabilities/Features/memberQueries``.
    public var memberOf: RemoteMembership?
    /// Whether to report ``RemotePage/total``: how many objects meet the conditions, regardless of limit and offset.
    public var countsAll = false
    /// Where the answer before this one ended; see ``RemotePage/next``.
    public var cursor: String?

    /// Asks for all objects of an entity.
    public init(entity: EntityDescription) { self.entity = entity }
}

/// A write of one object: a creation, a change or a delete.
///
///     let rename = RemoteWrite(id: "7", values: ["name": .value(.string("Qosqo"))], baseVersion: "3")
///     let answer = try await backend.perform(.update(entity: entity, rename), options: RequestOptions())
///
/// A creation has all values, an update only those that changed, and a delete none. A nil value is given as
/// ``RemoteValue/value(_:)`` of ``Value/null``. If ``operations`` are set, the server computes these properties from what it
/// has.
///
/// A write may be sent several times, because an answer was lost: each attempt has the same ``token`` and the same content.
/// Send ``baseVersion`` as the condition of the write if the service has versions; nil means that it must be written
/// unconditionally.
public struct RemoteWrite: Sendable, Hashable {
    /// The primary key.
    public var id: String
    /// What to write, by property name: everything for a new object, what has changed for an update, nothing for a
    /// delete.
    public var values: [String: RemoteValue]
    /// Changes that the server computes from what it has, by property name.
    public var operations: [String: FieldOperation]
    /// The version that the change was made to. A back end with ``RemoteCapabilities/Features/conditionalWrites``
    /// refuses the write with ``RemoteError/Kind/conflict`` if it has another; nil for any.
    public var baseVersion: String?
    /// The name of this write, the same at each attempt. A back end with
    /// ``RemoteCapabilities/Features/idempotencyTokens`` carries it out once, however often it is sent.
    public var token: UUID
    /// Values that are sent but never kept here, such as passwords.
    public var secrets: [String: String]
    /// Whether the values are all that the object has, as in a synchronization, or just what a save changed.
    public var isWhole: Bool

    /// Describes a write.
    public init(
        id: String, values: [String: RemoteValue] = [:], operations: [String: FieldOperation] = [:],
        baseVersion: String? = nil, token: UUID = UUID(), secrets: [String: String] = [:], isWhole: Bool = false
    ) {
        self.id = id
        self.values = values
        self.operations = operations
        self.baseVersion = baseVersion
        self.token = token
        self.secrets = secrets
        self.isWhole = isWhole
    }
}

/// A change of a to-many relationship of one object, by members.
///
///     let change = RemoteRelation(id: "7", relationship: "tags", added: ["red"], removed: ["blue"])
///     for part in change.parts { print(part.added, part.removed) }
///
/// Only back ends with ``RemoteCapabilities/Features/relating`` get it; others get the whole list of members in a
/// ``RemoteWrite``. Two clients that add different members do not conflict. To add a member twice, or to remove one that is
/// missing, is not an error. If the service adds and removes by different requests, send ``parts``; a change with several
/// requests has one outcome.
public struct RemoteRelation: Sendable, Hashable {
    /// The primary key of the owner.
    public var id: String
    /// The name of the relationship.
    public var relationship: String
    /// The primary keys of members that it is to have. Existing members are not an error.
    public var added: [String]
    /// The primary keys of members that it must not have. Missing members are not an error.
    public var removed: [String]
    /// The name of this write; see ``RemoteWrite/token``.
    public var token: UUID

    /// Describes a change of members.
    public init(id: String, relationship: String, added: [String] = [], removed: [String] = [], token: UUID = UUID()) {
        self.id = id
        self.relationship = relationship
        self.added = added
        self.removed = removed
        self.token = token
    }
}

extension RemoteRelation {
    /// The same change for a service that adds and removes members by different requests: one change that only adds, and
    /// one that only removes, as far as there is something to do. Each has a token of its own, the same one at each attempt.
    public var parts: [RemoteRelation] {
        var parts: [RemoteRelation] = []
        if !added.isEmpty {
            var part = self
            part.removed = []
            parts.append(part)
        }
        if !removed.isEmpty {
            var part = self
            part.added = []
            // The server must not take it for the repetition of the other.
            var bytes = token.uuid
            bytes.15 ^= parts.isEmpty ? 0 : 1
            part.token = UUID(uuid: bytes)
            parts.append(part)
        }
        return parts
    }
}

/// A request for the objects of an entity that have changed since the last pull.
///
///     var pull = RemotePull(entity: entity)
///     guard case .page(let page) = try await backend.perform(.pull(pull), options: RequestOptions()) else { return }
///     print(page.records.count, "changed,", page.deleted.count, "deleted")
///     pull.cursor = page.next
///
/// The first pull of a mirror has no cursor and asks for everything. After that, the store sends ``RemotePage/next`` of the
/// last answer, which it keeps in the mirror's file. A cursor can be anything that the service understands: a revision, a time,
/// a token. If the service no longer knows it, throw an error of the kind ``RemoteError/Kind/cursorExpired``: the entity is
/// then read from the beginning. The record of an object must never be missing from a pull because it has changed between two
/// pages.
public struct RemotePull: Sendable {
    /// The entity.
    public var entity: EntityDescription
    /// ``RemotePage/next`` of the answer before; nil to begin.
    public var cursor: String?
    /// The maximum number of objects in an answer.
    public var limit: Int

    /// Describes a pull.
    public init(entity: EntityDescription, cursor: String? = nil, limit: Int = 500) {
        self.entity = entity
        self.cursor = cursor
        self.limit = limit
    }
}

/// The bytes of a file that a property of an object refers to.
///
///     let file = RemoteFile(property: "photo", name: "me.jpeg", contentType: "image/jpeg", data: bytes)
///     let answer = try await backend.perform(.upload(entity: entity, file), options: RequestOptions())
///     if case .file(let reference) = answer { print("photo is now", reference) }
///
/// A store uploads the file before it sends the object, and writes the reference of the answer into the property. Back ends
/// with ``RemoteCapabilities/Features/files`` get it. Apps call ``RemoteStore/stageFile(_:name:contentType:)`` and save the
/// object.
public struct RemoteFile: Sendable, Hashable {
    /// The property that refers to the file.
    public var property: String
    /// The name of the file.
    public var name: String
    /// The MIME type.
    public var contentType: String
    /// The bytes.
    public var data: Data

    /// Describes a file.
    public init(property: String, name: String, contentType: String, data: Data) {
        self.property = property
        self.name = name
        self.contentType = contentType
        self.data = data
    }
}

/// A call of code that runs on the server.
///
///     let call = RemoteCall(method: "POST", name: "sum/of", parameters: [RemoteParameter("scale", "2")], body: bytes)
///     if case .reply(let reply) = try await backend.perform(.call(call), options: RequestOptions()) {
///         print(reply.status, reply.body.count)
///     }
///
/// Back ends with ``RemoteCapabilities/Features/calls`` carry it out. The answer is a ``RemoteReply`` with the bytes as they
/// came. A client of the service may have methods of its own for this, which are easier to use. A call is not part of a save, is
/// not queued without a network, and does not change the mirror: pull after it if it has changed objects.
public struct RemoteCall: Sendable, Hashable {
    /// The HTTP method.
    public var method: String
    /// The name of the function, a path without a leading slash.
    public var name: String
    /// Parameters in order; names may come more than once.
    public var parameters: [RemoteParameter]
    /// The body, or nil.
    public var body: Data?
    /// The MIME type of the body; nil to say nothing.
    public var contentType: String?

    /// Describes a call.
    public init(
        method: String = "GET", name: String, parameters: [RemoteParameter] = [], body: Data? = nil,
        contentType: String? = nil
    ) {
        self.method = method
        self.name = name
        self.parameters = parameters
        self.body = body
        self.contentType = contentType
    }
}

/// A named parameter of a request, not encoded.
///
///     var options = RequestOptions()
///     options.parameters = [RemoteParameter("lang", "nb"), RemoteParameter("tag", "a&b")]
///
/// Names and values are percent-encoded when the request is made. Parameters keep their order, and a name may come more than
/// once. In ``RequestOptions/parameters``, a name that the dialect uses itself is left out; in a ``RemoteCall``, all are sent.
public struct RemoteParameter: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value, not encoded.
    public var value: String

    /// Names a value.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
