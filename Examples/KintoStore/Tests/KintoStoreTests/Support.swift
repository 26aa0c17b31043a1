import Foundation
import KintoStore
import StrataRemoteTesting

/// A back end at the server of all tests, with a user of its own.
func kinto(user: String = UUID().uuidString) async throws -> HTTPBackend {
    HTTPBackend(
        dialect: try KintoDialect(try await KintoServer.shared().address), transport: URLSessionTransport(),
        authorizer: KintoCredentials(user: user, password: "secret"))
}

/// Notes in folders.
func notes() throws -> ManagedObjectModel {
    try ManagedObjectModel(name: "Notes") {
        Entity("Note") {
            Attribute("noteId", .string)
            Attribute("text", .string, optional: true)
            Attribute("count", .integer64, optional: true)
            Attribute("written", .date, optional: true)
            Relationship("folder", to: "Folder", .optionalToOne, inverse: "notes")
        }
        Entity("Folder") {
            Attribute("folderId", .string)
            Relationship("notes", to: "Note", .toMany, inverse: "folder")
        }
    }
}
