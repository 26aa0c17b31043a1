import Foundation

extension HTTPBackend {
    /// As the dialect.
    public func inlineFile(_ file: RemoteFile) -> String? { dialect.inlineFile(file) }

    /// Asks for the bytes of a file, without the session.
    public func download(_ reference: String, options: RequestOptions) async throws(RemoteError) -> Data {
        var request = try dialect.downloadRequest(reference, options: options)
        for _ in 0..<5 {
            let response = try await transport.send(request, timeout: options.timeout)
            if (200..<300).contains(response.status) { return response.body }
            guard let next = request.redirected(by: response) else { throw Self.failure(response, "to be had") }
            request = next
        }
        throw RemoteError(.invalidAnswer, message: "the address of the file leads from one to the next without end")
    }

    /// Deletes a file.
    public func deleteFile(_ reference: String, options: RequestOptions) async throws(RemoteError) {
        let request = try dialect.fileDeletionRequest(reference, options: options)
        let response = try await send(request, options: options)
        guard !(200..<300).contains(response.status), response.status != 404, response.status != 410 else { return }
        throw Self.failure(response, "deleted")
    }

    private static func failure(_ response: WireResponse, _ what: String) -> RemoteError {
        RemoteError(
            RemoteError.Kind(status: response.status), code: response.status,
            message: "the file is not \(what): the server answered with status \(response.status)",
            status: response.status, body: response.body)
    }
}
