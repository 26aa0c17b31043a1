import PlainJSONStore
import StrataRemote

/// The dialect of a simulation: the sample's, with smaller pages and groups, so that there are several of each.
struct SimulatedDialect: RemoteDialect {
    private let dialect = PlainJSONDialect(authority: "server.example")
    let capabilities: RemoteCapabilities

    init(_ variant: ServerVariant) {
        capabilities = RemoteCapabilities(
            features: variant.features, maximumBatch: variant.maximumBatch, maximumIDs: 3,
            maximumPage: variant.maximumPage)
    }

    var name: String { dialect.name }

    func steps(of operation: RemoteOperation) throws(RemoteError) -> [RemoteOperation] {
        try dialect.steps(of: operation)
    }

    func request(for operation: RemoteOperation, options: RequestOptions) throws(RemoteError) -> WireRequest {
        try dialect.request(for: operation, options: options)
    }

    func answer(_ response: WireResponse, to operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer {
        try dialect.answer(response, to: operation)
    }
}
