import Foundation
import StrataRemote

/// The service with files: the property of an object has the file itself, as the text of a `data:` address (RFC 2397).
///
/// Nothing is uploaded before the object, and nothing is asked for when an app reads the bytes.
public struct PlainJSONBackend: RemoteBackend {
    private let base: HTTPBackend

    /// Speaks to a server.
    public init(authority: String, transport: any HTTPTransport) {
        base = HTTPBackend(dialect: PlainJSONDialect(authority: authority), transport: transport)
    }

    public var name: String { base.name }
    public var clockOffset: Double { base.clockOffset }
    public var capabilities: RemoteCapabilities {
        var capabilities = base.capabilities
        capabilities.features.insert(.files)
        return capabilities
    }

    public func check(_ model: ManagedObjectModel) throws(RemoteError) { try base.check(model) }
    public func check(_ operation: RemoteOperation) throws(RemoteError) { try base.check(operation) }
    public func perform(
        _ operation: RemoteOperation, options: RequestOptions
    ) async throws(RemoteError) -> RemoteAnswer { try await base.perform(operation, options: options) }

    // MARK: Files

    public func delivery(of file: RemoteFile) -> FileDelivery {
        .text("data:\(file.contentType);base64,\(file.data.base64EncodedString())")
    }

    public func download(_ reference: String, options: RequestOptions) async throws(RemoteError) -> Data {
        guard reference.hasPrefix("data:"), let comma = reference.firstIndex(of: ","),
            let data = Data(base64Encoded: String(reference[comma...].dropFirst()))
        else {
            throw RemoteError(.notFound, domain: name, message: "\(reference.prefix(80)) is not a file of \(name)")
        }
        return data
    }
}
