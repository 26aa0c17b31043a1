import Foundation
import StrataRemote

/// The property of an object has the file itself, as the text of a `data:` address (RFC 2397).
///
/// Nothing is uploaded before the object, and nothing is asked for when an app reads the bytes.
extension PlainJSONDialect: FileDialect {
    public func delivery(of file: RemoteFile) -> FileDelivery {
        .text("data:\(file.contentType);base64,\(file.data.base64EncodedString())")
    }

    public func download(ofFile reference: String, options: RequestOptions) throws(RemoteError) -> FileDownload {
        guard reference.hasPrefix("data:"), let comma = reference.firstIndex(of: ","),
            let data = Data(base64Encoded: String(reference[comma...].dropFirst()))
        else {
            throw RemoteError(.notFound, domain: name, message: "\(reference.prefix(80)) is not a file of \(name)")
        }
        return .data(data)
    }

    public func deletionRequest(ofFile reference: String, options: RequestOptions) throws(RemoteError) -> WireRequest {
        throw RemoteError(.unsupported, domain: name, message: "a file goes with its object; set the property to nil")
    }
}
