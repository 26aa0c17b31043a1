import Foundation
import StrataRemote

/// Shelf with files.
struct ShelfWithFiles: FileDialect {
    let shelf: ShelfDialect
    var name: String { shelf.name }
    var capabilities: RemoteCapabilities {
        var capabilities = shelf.capabilities
        capabilities.features.insert(.files)
        return capabilities
    }

    func check(_ model: ManagedObjectModel) throws(RemoteError) { try shelf.check(model) }

    func delivery(of file: RemoteFile) -> FileDelivery { .upload }

    func request(for operation: RemoteOperation, options: RequestOptions) throws(RemoteError) -> WireRequest {
        guard case .upload(_, let file) = operation else { return try shelf.request(for: operation, options: options) }
        let path = "/files?name=" + PercentEncoding.encode(file.name)
        var request = try WireRequest(.post, authority: shelf.authority, path: path)
        request.head.headerFields[.contentType] = file.contentType
        request.body = file.data
        return request
    }

    func answer(_ response: WireResponse, to operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer {
        guard case .upload = operation else { return try shelf.answer(response, to: operation) }
        guard let address = try response.json(domain: name)["url"]?.string else {
            throw RemoteError(answer: response, domain: name)
        }
        return .file(address)
    }

    func deletionRequest(
        ofFile reference: String, options: RequestOptions
    ) throws(RemoteError) -> WireRequest {
        guard let address = URLComponents(string: reference), address.host == shelf.authority else {
            throw RemoteError(.invalidRequest, domain: name, message: "\(reference.prefix(80)) is not a file of Shelf")
        }
        return try WireRequest(.delete, authority: shelf.authority, path: address.percentEncodedPath)
    }
}

/// Shelf whose objects have their files themselves.
struct ShelfWithInlineFiles: FileDialect {
    let shelf: ShelfDialect
    var name: String { shelf.name }
    var capabilities: RemoteCapabilities {
        var capabilities = shelf.capabilities
        capabilities.features.insert(.files)
        return capabilities
    }

    func check(_ model: ManagedObjectModel) throws(RemoteError) { try shelf.check(model) }
    func request(for operation: RemoteOperation, options: RequestOptions) throws(RemoteError) -> WireRequest {
        try shelf.request(for: operation, options: options)
    }
    func answer(_ response: WireResponse, to operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer {
        try shelf.answer(response, to: operation)
    }

    func delivery(of file: RemoteFile) -> FileDelivery {
        .text("data:\(file.contentType);base64,\(file.data.base64EncodedString())")
    }

    func download(ofFile reference: String, options: RequestOptions) throws(RemoteError) -> FileDownload {
        guard reference.hasPrefix("data:"), let comma = reference.firstIndex(of: ","),
            let data = Data(base64Encoded: String(reference[comma...].dropFirst()))
        else {
            throw RemoteError(.notFound, domain: name, message: "\(reference.prefix(80)) is not a file of Shelf")
        }
        return .data(data)
    }

    func deletionRequest(ofFile reference: String, options: RequestOptions) throws(RemoteError) -> WireRequest {
        throw RemoteError(.unsupported, domain: name, message: "set the property to nil instead")
    }
}
