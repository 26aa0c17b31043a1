import Foundation

extension MaxLeapClient {
    /// Uploads a file. Put what comes back into a field of an object and save that.
    /// - Throws: ``RemoteError``, with code 122 for a name that no file has, 151 if the file has no bytes here.
    public func upload(_ file: MaxLeapFile, options: RequestOptions? = nil) async throws(RemoteError) -> MaxLeapFile {
        let options = self.options(options)
        let response = try await send(dialect.uploadRequest(file, options: options), options)
        return try dialect.uploaded(response, contentType: file.contentType)
    }

    /// Deletes a file, which takes the master key.
    public func delete(_ file: MaxLeapFile, options: RequestOptions? = nil) async throws(RemoteError) {
        let options = self.options(options)
        _ = try await send(dialect.deleteFileRequest(file.name, options: options), options)
    }

    /// The bytes of a file. No key and no session goes along, since the address may be somebody else's.
    /// - Throws: ``RemoteError``, with code 151 if the file is not uploaded, 122 if its address is none of HTTP.
    public func data(of file: MaxLeapFile, options: RequestOptions? = nil) async throws(RemoteError) -> Data {
        if let data = file.data { return data }
        guard let url = file.url else {
            throw MaxLeapError.unsavedFile.error("the file \(file.name) is not uploaded yet")
        }
        guard let request = try? WireRequest(getting: url) else {
            throw MaxLeapError.invalidFileName.error("\(url.prefix(200)) is not the address of a file")
        }
        let response = try await transport.send(request, timeout: self.options(options).timeout)
        guard (200..<300).contains(response.status) else {
            throw RemoteError(
                RemoteError.Kind(status: response.status), domain: MaxLeapError.domain,
                code: MaxLeapDialect.code(ofStatus: response.status),
                message: "the bytes of \(file.name) are not to be had: status \(response.status)",
                status: response.status, body: response.body)
        }
        return response.body
    }
}

extension MaxLeapDialect: FileDialect {
    /// Before its object.
    public func delivery(of file: RemoteFile) -> FileDelivery { .upload }

    /// Deletes a file, which takes the master key.
    public func deletionRequest(
        ofFile reference: String, options: RequestOptions
    ) throws(RemoteError) -> WireRequest {
        guard let file = MaxLeapFile(reference: reference) else {
            throw MaxLeapError.invalidFileName.error("\"\(reference.prefix(80))\" is not the address of a file")
        }
        return try deleteFileRequest(file.name, options: options)
    }
}

extension MaxLeapDialect {
    /// The file that the answer to an upload tells.
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
