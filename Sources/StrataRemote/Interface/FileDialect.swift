/// A dialect of a service that keeps files. A dialect with ``RemoteCapabilities/Features/files`` is one.
public protocol FileDialect: RemoteDialect {
    /// How a file is sent to the service.
    func delivery(of file: RemoteFile) -> FileDelivery

    /// The request that deletes a file.
    /// - Parameter reference: The text that the property of the object has.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported`` if the service does not delete single files.
    func deletionRequest(ofFile reference: String, options: RequestOptions) throws(RemoteError) -> WireRequest
}

/// How a file is sent to a back end.
public enum FileDelivery: Sendable, Hashable {
    /// By ``RemoteOperation/upload(entity:_:)``, before the object that refers to it.
    case upload
    /// With its object: the property has this text, which includes the bytes.
    case text(String)
}
