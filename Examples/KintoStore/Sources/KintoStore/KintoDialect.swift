import Foundation
import StrataRemote

/// The wire format of Kinto, a JSON storage service with synchronization.
///
///     let dialect = try KintoDialect("https://kinto.example/v1")
///     let backend = HTTPBackend(
///         dialect: dialect, transport: URLSessionTransport(), authorizer: KintoCredentials(user: "ann", password: "secret"))
///     let store = try RemoteStore.open(model: model, backend: backend, location: .file(path: path))
///
/// Each entity is a collection of its name, in one bucket; each object is a record whose id is the primary key, with the fields
/// of a ``JSONRecordCoder``. Dates are milliseconds since 1970, as Kinto's own.
///
/// Source of the format: Kinto's documentation of its HTTP API, version 1.
public struct KintoDialect: RemoteDialect {
    public let name = "Kinto"
    /// What every Kinto server can do. Servers take 25 writes in a batch unless their settings say otherwise.
    public let capabilities = RemoteCapabilities(
        features: [
            .sorting, .paging, .counting, .readingMany, .creatingMany, .batches, .conditionalWrites,
            .incrementalPull, .deletions,
        ],
        maximumBatch: 25, maximumIDs: 40)
    /// The bucket that has the collections.
    public let bucket: String
    let coder = JSONRecordCoder(dates: .milliseconds)
    private let scheme: String
    private let authority: String
    private let root: String

    /// Speaks to a server. Nothing is sent.
    /// - Parameters:
    ///   - address: The address of the server with the version of its API: `https://kinto.example/v1`.
    ///   - bucket: The bucket that has the collections. In the personal bucket `default`, the server makes a collection when
    ///     it is first used; in all others, the collections must exist.
    /// - Throws: ``RemoteError`` of kind `invalidRequest` if the address or the bucket cannot be one.
    public init(_ address: String, bucket: String = "default") throws(RemoteError) {
        guard let url = URLComponents(string: address), let scheme = url.scheme?.lowercased(),
            scheme == "https" || scheme == "http", let host = url.host, !host.isEmpty, url.query == nil
        else {
            throw RemoteError(
                .invalidRequest, domain: "Kinto",
                message: "\"\(address.prefix(200))\" is not the address of a server, such as https://kinto.example/v1")
        }
        guard Self.isID(bucket) else {
            throw RemoteError(
                .invalidRequest, domain: "Kinto", message: "\"\(bucket.prefix(200))\" cannot be the id of a bucket")
        }
        self.bucket = bucket
        self.scheme = scheme
        authority = host + (url.port.map { ":\($0)" } ?? "")
        root = String(url.percentEncodedPath.reversed().drop { $0 == "/" }.reversed())
    }

    // MARK: Checking

    /// Refuses names that Kinto uses itself or does not take.
    public func check(_ model: ManagedObjectModel) throws(RemoteError) {
        for entity in model.entities where !entity.isAbstract {
            guard Self.isID(entity.name) else {
                throw unsupported("\(entity.name) cannot be the id of a collection; rename the entity")
            }
        }
        try coder.check(model, reserved: ["last_modified", "deleted", "schema"])
    }

    /// Whether a text can be the id of a bucket, a collection or a record.
    static func isID(_ text: String) -> Bool {
        let letters = PercentEncoding.Characters.alphanumerics
        return text.utf8.first.map(letters.contains) ?? false && text.utf8.allSatisfy(letters.union("_-").contains)
    }

    // MARK: Requests

    /// The writes of an operation, each as an operation of its own.
    static func singles(_ operation: RemoteOperation) -> [RemoteOperation] {
        switch operation {
        case .create(let entity, let writes): writes.map { .create(entity: entity, [$0]) }
        case .batch(let operations): operations.flatMap(singles)
        default: [operation]
        }
    }

    public func request(for operation: RemoteOperation, options: RequestOptions) throws(RemoteError) -> WireRequest {
        switch operation {
        case .query(let query): try request(.get, records(query.entity), options, try parameters(query))
        case .count(let query): try request(.head, records(query.entity), options, try parameters(query))
        case .read(let entity, let ids):
            try request(.get, records(entity), options, [Self.parameter(ids: ids)])
        case .pull(let pull): try request(.get, records(pull.entity), options, try parameters(pull))
        case .ping: try request(.get, "/", options)
        case .create(_, let writes) where writes.count == 1: try request(try write(operation), options)
        case .update, .delete: try request(try write(operation), options)
        case .create, .batch: try request(try batch(Self.singles(operation)), options)
        case .relate, .upload, .call: throw unsupported("the service has no such operation")
        }
    }

    private func records(_ entity: EntityDescription) -> String {
        "/buckets/\(bucket)/collections/\(entity.name)/records"
    }

    private func request(
        _ method: HTTPRequest.Method, _ path: String, _ options: RequestOptions, _ parameters: [String] = [],
        json: JSONValue? = nil
    ) throws(RemoteError) -> WireRequest {
        let query = parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&")
        return try WireRequest(
            method, scheme: options.isSecure ? "https" : scheme, authority: authority, path: root + path + query,
            json: json)
    }

    private func request(_ write: Write, _ options: RequestOptions) throws(RemoteError) -> WireRequest {
        var request = try request(write.method, write.path, options, json: write.body)
        for (name, value) in write.headers { request.head.headerFields[name] = value }
        return request
    }

    // MARK: Writes

    /// A request that writes: sent by itself, or as a part of a batch.
    private struct Write {
        var method: HTTPRequest.Method
        var path: String
        var headers: [(HTTPField.Name, String)] = []
        var body: JSONValue?
    }

    /// A creation must not replace an object, and a change must not replace one that others have changed meanwhile.
    private func write(_ operation: RemoteOperation) throws(RemoteError) -> Write {
        switch operation {
        case .create(let entity, let writes) where writes.count == 1:
            Write(
                method: .put, path: try path(entity, writes[0].id), headers: [(.ifNoneMatch, "*")],
                body: ["data": try data(of: writes[0], entity, isNew: true)])
        case .update(let entity, let write):
            Write(
                method: .patch, path: try path(entity, write.id), headers: condition(write),
                body: ["data": try data(of: write, entity, isNew: false)])
        case .delete(let entity, let write):
            Write(method: .delete, path: try path(entity, write.id), headers: condition(write))
        default: throw unsupported("a batch of anything else than creations, updates and deletes")
        }
    }

    /// A new record has a field for each attribute, if only null: Kinto puts null before all other values, as Strata does, but
    /// records without the field last.
    private func data(of write: RemoteWrite, _ entity: EntityDescription, isNew: Bool) throws(RemoteError) -> JSONValue
    {
        var fields: JSONObject = [:]
        if isNew {
            for attribute in entity.attributes where !attribute.isTransient && attribute.name != entity.primaryKeyField
            {
                fields[attribute.name] = .null
            }
        }
        fields.merge(try coder.fields(of: write, entity))
        return .object(fields)
    }

    private func path(_ entity: EntityDescription, _ id: String) throws(RemoteError) -> String {
        guard Self.isID(id) else {
            throw RemoteError(
                .invalidRequest, domain: "Kinto",
                message: "\"\(id.prefix(200))\" cannot be the id of a record: letters, digits, _ and - are allowed",
                identity: RemoteIdentity(entity: entity.name, id: id))
        }
        return records(entity) + "/" + id
    }

    private func condition(_ write: RemoteWrite) -> [(HTTPField.Name, String)] {
        write.baseVersion.map { [(.ifMatch, "\"\($0)\"")] } ?? []
    }

    private func batch(_ operations: [RemoteOperation]) throws(RemoteError) -> Write {
        var requests: [JSONValue] = []
        for operation in operations {
            let write = try write(operation)
            var request: JSONObject = ["method": .string(write.method.rawValue), "path": .string(write.path)]
            request["headers"] = .object(JSONObject(write.headers.map { ($0.0.rawName, .string($0.1)) }))
            if let body = write.body { request["body"] = body }
            requests.append(.object(request))
        }
        return Write(method: .post, path: "/batch", body: ["requests": .array(requests)])
    }

    func unsupported(_ what: String) -> RemoteError {
        RemoteError(.unsupported, domain: "Kinto", message: "Kinto: \(what)")
    }
}
