import Foundation

/// A file on its way to a binary field of StackMob: the field takes a text with type, name and content, and holds an address
/// once the server has stored the file.
///
///     let picture = StackMobFile(name: "me.jpeg", contentType: "image/jpeg", data: bytes)
///     let user = try await client.dataStore.update("bob", in: "user", with: ["picture": .string(picture.fieldValue)])
///     print(user["picture"]?.string ?? "")  // an address
///
/// The content is sent as base64, so the request is a third larger than the file. In a store, use an attribute of type string
/// and `RemoteStore.stageFile(_:name:contentType:)`. A file cannot have the word `base64` in its name.
public typealias StackMobFile = InlineFile

extension InlineFile {
    /// The content in the text that a field takes, as the libraries for StackMob read it: the word `base64` marks where
    /// it begins, so that a file with this word in its name cannot be read.
    /// - Throws: ``RemoteError`` if it is the address of a stored file, or anything else.
    public static func data(fieldValue: String) throws(RemoteError) -> Data {
        guard fieldValue.ranges(of: "base64").count == 1, let file = try? StackMobFile(fieldValue: fieldValue) else {
            throw StackMobError.incompatible(
                "a file that is not stored yet is a text with its content in base64, not \"\(fieldValue.prefix(80))\"")
        }
        return file.data
    }
}
