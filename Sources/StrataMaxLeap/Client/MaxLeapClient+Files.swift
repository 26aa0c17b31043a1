import Foundation

extension MaxLeapClient {
    /// Uploads a file. Put what comes back into a field of an object and save that.
    /// - Parameter progress: Is told how far the bytes have been sent.
    /// - Throws: ``RemoteError``, with code 122 for a name that no file has, 151 if the file has no bytes here.
    public func upload(
        _ file: MaxLeapFile, progress: FileProgress? = nil, options: RequestOptions? = nil
    ) async throws(RemoteError) -> MaxLeapFile {
        let options = self.options(options)
        let request = try dialect.uploadRequest(file, options: options)
        let response = try await FileProgress.reporting(.upload, to: progress) { [self] () async throws(RemoteError) in
            try await self.send(request, options)
        }
        return try dialect.uploaded(response, contentType: file.contentType)
    }

    /// Deletes a file, which takes the master key.
    /// - Throws: ``RemoteError`` if the server refuses it.
    public func delete(_ file: MaxLeapFile, options: RequestOptions? = nil) async throws(RemoteError) {
        let options = self.options(options)
        _ = try await send(dialect.deleteFileRequest(file.name, options: options), options)
    }

    /// The bytes of a file. No key and no session is sent, since the address may be another service's. Redirects within the host
    /// are followed.
    /// - Parameter progress: Is told how far the bytes have come.
    /// - Throws: ``RemoteError``, with code 151 if the file is not uploaded, 122 if its address is none of HTTP.
    public func data(
        of file: MaxLeapFile, progress: FileProgress? = nil, options: RequestOptions? = nil
    ) async throws(RemoteError) -> Data {
        if let data = file.data { return data }
        guard let url = file.url else {
            throw MaxLeapError.unsavedFile.error("the file \(file.name) is not uploaded yet")
        }
        guard (try? WireRequest(getting: url)) != nil else {
            throw MaxLeapError.invalidFileName.error("\(url.prefix(200)) is not the address of a file")
        }
        let options = self.options(options)
        do throws(RemoteError) {
            return try await FileProgress.reporting(.download, to: progress) { [self] () async throws(RemoteError) in
                try await self.sender.download(url, options: options)
            }
        } catch {
            throw Self.error(error, of: file)
        }
    }

    /// An error of a download with the code that it has in this protocol.
    private static func error(_ error: RemoteError, of file: MaxLeapFile) -> RemoteError {
        guard error.domain == "HTTP" else { return error }
        var error = error
        error.domain = MaxLeapError.domain
        error.code = error.status.map(MaxLeapDialect.code(ofStatus:)) ?? MaxLeapError.other.rawValue
        error.message = "\(file.name): \(error.message)"
        return error
    }
}

extension MaxLeapDialect: FileDialect {
    /// Before its object.
    public func delivery(of file: RemoteFile) -> FileDelivery { .upload }

    /// Deletes a file, which takes the master key.
    /// - Throws: ``RemoteError`` with code 122 if the reference is not the address of a file.
    public func deletionRequest(
        ofFile reference: String, options: RequestOptions
    ) throws(RemoteError) -> WireRequest {
        guard let file = MaxLeapFile(reference: reference) else {
            throw MaxLeapError.invalidFileName.error("\"\(reference.prefix(80))\" is not the address of a file")
        }
        return try deleteFileRequest(file.name, options: options)
    }

    /// Refuses what a client refuses: MaxLeap reports errors with status 200, too.
    /// - Throws: ``RemoteError`` for an answer that reports a failure, unless there is no such file.
    public func checkDeletion(_ response: WireResponse, ofFile reference: String) throws(RemoteError) {
        guard let failure = failure(response), failure.kind != .notFound, failure.kind != .gone else { return }
        throw failure
    }
}

extension MaxLeapDialect {
    /// The file that the answer to an upload tells.
    /// - Throws: ``RemoteError`` if the answer reports a failure, or has no name or address.
    public func uploaded(
        _ response: WireResponse, contentType: String = "application/octet-stream"
    ) throws(RemoteError) -> MaxLeapFile {
        guard var file = MaxLeapFile(try object(response)) else {
            throw invalidAnswer("the answer to an upload has no name or no url", response)
        }
        file.contentType = contentType
        return file
    }
}
