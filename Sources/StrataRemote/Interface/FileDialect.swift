import Foundation
import StrataStore

/// A dialect of a service that keeps files. A dialect with ``RemoteCapabilities/Features/files`` is one.
public protocol FileDialect: RemoteDialect {
    /// How a file is sent to the service.
    func delivery(of file: RemoteFile) -> FileDelivery

    /// How the bytes of a file are read. The default asks for the address.
    /// - Parameter reference: The text that the property of the object has.
    /// - Throws: ``RemoteError`` if the text is not that of a file.
    func download(ofFile reference: String, options: RequestOptions) throws(RemoteError) -> FileDownload

    /// The request that deletes a file.
    /// - Parameter reference: The text that the property of the object has.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported`` if the service does not delete single files.
    func deletionRequest(ofFile reference: String, options: RequestOptions) throws(RemoteError) -> WireRequest

    /// Reads the answer to that request, of any status. The default goes by the status, and takes a file that is not there (404
    /// and 410) for deleted.
    /// - Throws: ``RemoteError`` for answers that report a failure.
    func checkDeletion(_ response: WireResponse, ofFile reference: String) throws(RemoteError)
}

extension FileDialect {
    /// Asks for the address.
    public func download(ofFile reference: String, options: RequestOptions) throws(RemoteError) -> FileDownload {
        .address(reference)
    }

    /// Goes by the status.
    /// - Throws: ``RemoteError`` for a status other than 2xx, 404 and 410.
    public func checkDeletion(_ response: WireResponse, ofFile reference: String) throws(RemoteError) {
        guard !(200..<300).contains(response.status), response.status != 404, response.status != 410 else { return }
        throw HTTPBackend.fileFailure(response, "deleted")
    }
}

/// How a file is sent to a back end.
public enum FileDelivery: Sendable, Hashable {
    /// By ``RemoteOperation/upload(entity:_:)``, before the object that refers to it.
    case upload
    /// With its object: the property has this text, which includes the bytes.
    case text(String)
}

/// How the bytes of a file are read.
///
///     func download(ofFile reference: String, options: RequestOptions) throws(RemoteError) -> FileDownload {
///         if let file = try? InlineFile(fieldValue: reference) { return .data(file.data) }
///         return .address(reference)
///     }
public enum FileDownload: Sendable {
    /// By a GET of an address without its fragment (`#…`). The request is neither signed nor seen by middleware, since another
    /// service may keep the file.
    case address(String)
    /// By a request like any other: signed, and seen by middleware. For files that only the user of the session may read.
    case request(WireRequest)
    /// Without a request: the text of the property contains them.
    case data(Data)
}
