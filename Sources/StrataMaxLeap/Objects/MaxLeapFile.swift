import Foundation

/// A file that fields of objects refer to.
///
///     let file = try await client.upload(MaxLeapFile(name: "me.jpeg", contentType: "image/jpeg", data: bytes))
///     user["photo"] = .file(file)
///     let copy = try await client.data(of: file)
///
/// Before the upload it has ``data`` and no ``url``; afterwards the server's name and address. A file with data among the
/// values of an object is uploaded when you save the object. Bytes are downloaded without keys, because the address may be on
/// another host. Deleting a file needs the master key. Stores keep a file as text, ``reference``.
public struct MaxLeapFile: Sendable, Hashable {
    /// The name: before the upload the one that the server makes its own of, whose extension counts.
    public var name: String
    /// Where the bytes are; nil before the upload.
    public var url: String?
    /// The MIME type of the bytes.
    public var contentType: String
    /// The bytes of a file that is to be uploaded; nil for one that the server reported about.
    public var data: Data?

    /// A file to be uploaded.
    public init(name: String, contentType: String = "application/octet-stream", data: Data) {
        self.name = name
        self.contentType = contentType
        self.data = data
    }

    /// A file that the server has.
    /// - Parameter url: Where the bytes are. One without a scheme is taken as `https`.
    public init(name: String, url: String) {
        self.name = name
        self.url = url.contains("://") ? url : "https://" + url
        contentType = "application/octet-stream"
    }

    /// A file as the value of an attribute: the address, `#`, and the name.
    /// - Returns: nil without an address.
    public init?(reference: String) {
        guard let mark = reference.firstIndex(of: "#"), mark > reference.startIndex,
            let name = PercentEncoding.decode(reference[reference.index(after: mark)...]), !name.isEmpty
        else {
            let path = reference.prefix { $0 != "?" && $0 != "#" }
            let name = path.split(separator: "/").last.flatMap { PercentEncoding.decode($0) }
            guard reference.contains("://"), let name else { return nil }
            self.init(name: name, url: reference)
            return
        }
        self.init(name: name, url: String(reference[..<mark]))
    }

    /// What an attribute of a store has for the file; nil before the upload.
    public var reference: String? {
        url.map { "\($0.prefix { $0 != "#" })#\(PercentEncoding.encode(name))" }
    }

    /// Reads a file from an answer.
    /// - Returns: nil if name or address is missing.
    init?(_ members: JSONObject) {
        guard let name = members["name"]?.string, let url = members["url"]?.string else { return nil }
        self.init(name: name, url: url)
    }
}
