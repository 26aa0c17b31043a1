import ArgumentParser
import StrataAzure
import StrataKinto
import StrataMaxLeap
import StrataModel
import StrataQuery
import StrataStackMob

/// The back ends whose requests can be explained. Dialects of other packages print theirs with
/// `RemoteDialect.requests(for:options:)`.
enum ExplainBackend: String, ExpressibleByArgument, CaseIterable, Encodable {
    case stackmob
    case maxleap
    case parse
    /// Azure Mobile Apps, version 2 of the protocol.
    case azure
    /// Azure Mobile Services, version 1 of the protocol.
    case mobileservices
    case datasync
    case kinto

    /// A key or the name of an application, as none is needed to see the rest. The keys of StackMob have 36 characters.
    private static let key = String(repeating: "0", count: 36)

    private func dialect(for model: ManagedObjectModel) throws(RemoteError) -> any RemoteDialect {
        switch self {
        case .stackmob: try StackMobDialect(publicKey: Self.key, model: model)
        case .maxleap: try MaxLeapDialect(applicationID: Self.key, apiKey: Self.key, model: model)
        case .parse:
            try MaxLeapDialect(
                .parse, address: try MaxLeapAddress("https://parse.example/parse"), applicationID: Self.key,
                model: model)
        case .azure: try AzureDialect(address: "https://azure.example")
        case .mobileservices: try AzureDialect(address: "https://azure.example", applicationKey: Self.key)
        case .datasync: try AzureDialect(address: "https://azure.example", version: .datasync)
        case .kinto: try KintoDialect("https://kinto.example/v1")
        }
    }

    /// The requests of a fetch, in the order in which they are sent.
    /// - Throws: ``ExplainFault`` that names the part which the back end cannot do.
    func requests(
        _ plan: FetchPlan, of entity: EntityDescription, in model: ManagedObjectModel, counting: Bool
    ) throws(ExplainFault) -> [WireRequest] {
        var query = RemoteQuery(entity: entity)
        query.predicate = plan.predicate
        query.sorts = plan.sorts
        query.limit = plan.limit
        query.offset = plan.offset
        do throws(RemoteError) {
            let dialect = try dialect(for: model)
            var requests: [WireRequest] = []
            let includesSubentities = plan.includesSubentities && entity.hasSubentities
            for part in includesSubentities ? query.byEntity(in: model) : [query] {
                requests += try dialect.requests(for: counting ? .count(part) : .query(part))
            }
            return requests
        } catch {
            throw ExplainFault(error.kind == .unsupported ? .unsupported : .condition, error.message)
        }
    }
}

/// A fetch as `strata explain --backend` prints it. The keys are the names of the properties; nil is `null`.
struct ExplainBackendReport: Encodable {
    struct Field: Encodable {
        let name: String
        let value: String
    }

    struct Request: Encodable {
        let method: String
        /// The path as it is sent, with the encoded parameters.
        let path: String
        /// The parameters, decoded.
        let parameters: [Field]
        let headers: [Field]

        init(_ request: WireRequest) {
            method = request.head.method.rawValue
            path = request.head.path ?? "/"
            let query = path.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
            parameters = (QueryParameters.read(query) ?? []).map { Field(name: $0.name, value: $0.value) }
            headers = request.head.headerFields.map { Field(name: $0.name.rawName, value: $0.value) }
        }
    }

    let model: String
    let entity: String
    let backend: ExplainBackend
    let format: String?
    let predicate: String?
    let tree: PredicateOutline?
    let requests: [Request]

    init(
        model: ManagedObjectModel, entity: String, backend: ExplainBackend, format: String?,
        predicate: FetchPredicate?, _ requests: [WireRequest]
    ) {
        self.model = model.name
        self.entity = entity
        self.backend = backend
        self.format = format
        self.predicate = predicate?.description
        tree = predicate.map { PredicateOutline($0) }
        self.requests = requests.map(Request.init)
    }

    private enum CodingKeys: String, CodingKey { case model, entity, backend, format, predicate, tree, requests }

    // Written out, because the encoder would leave out keys without a value.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(model, forKey: .model)
        try container.encode(entity, forKey: .entity)
        try container.encode(backend, forKey: .backend)
        try container.encode(format, forKey: .format)
        try container.encode(predicate, forKey: .predicate)
        try container.encode(tree, forKey: .tree)
        try container.encode(requests, forKey: .requests)
    }

    /// The report as text.
    var lines: [String] {
        var lines = ["tree"] + (tree ?? PredicateOutline("all objects")).lines(indent: 2)
        for request in requests {
            lines += ["", "request", "  \(request.method) \(request.path)"]
            if !request.parameters.isEmpty {
                lines += ["", "parameters"] + request.parameters.map { "  \($0.name) = \($0.value)" }
            }
            lines += ["", "headers"] + request.headers.map { "  \($0.name): \($0.value)" }
        }
        return lines
    }
}
