import Foundation

extension HTTPBackend {
    /// As the dialect.
    public func delivery(of file: RemoteFile) -> FileDelivery {
        (dialect as? any FileDialect)?.delivery(of: file) ?? .upload
    }

    /// Reads the bytes of a file as the dialect says; see ``FileDownload``. Without a ``FileDialect``, by a GET of its address.
    /// - Throws: ``RemoteError`` if there is no such file, or the server cannot be reached.
    public func download(_ reference: String, options: RequestOptions) async throws(RemoteError) -> Data {
        let dialect = dialect as? any FileDialect
        switch try dialect?.download(ofFile: reference, options: options) ?? .address(reference) {
        case .data(let data): return data
        case .address(let address): return try await bytes(at: address, options: options)
        case .request(let request):
            let response = try await send(request, options: options)
            guard (200..<300).contains(response.status) else { throw Self.fileFailure(response, "to be had") }
            return response.body
        }
    }

    private func bytes(at address: String, options: RequestOptions) async throws(RemoteError) -> Data {
        var request = try WireRequest(getting: address)
        for _ in 0..<5 {
            let response = try await transport.send(request, timeout: options.timeout)
            if (200..<300).contains(response.status) { return response.body }
            guard let next = request.redirected(by: response) else { throw Self.fileFailure(response, "to be had") }
            request = next
        }
        throw RemoteError(.invalidAnswer, message: "the address of the file leads from one to the next without end")
    }

    /// Deletes a file.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported`` if the service deletes no files, and if the server refuses.
    public func deleteFile(_ reference: String, options: RequestOptions) async throws(RemoteError) {
        guard let dialect = dialect as? any FileDialect else {
            throw RemoteError(.unsupported, domain: "Strata", message: "\(name) keeps no files; keep them elsewhere")
        }
        let request = try dialect.deletionRequest(ofFile: reference, options: options)
        try dialect.checkDeletion(try await send(request, options: options), ofFile: reference)
    }

    static func fileFailure(_ response: WireResponse, _ what: String) -> RemoteError {
        RemoteError(
            RemoteError.Kind(status: response.status), code: response.status,
            message: "the file is not \(what): the server answered with status \(response.status)",
            status: response.status, body: response.body)
    }
}
