public import Foundation
import StrataCoreDataModel
import StrataSQLite

/// What a Core Data store says about itself in its table `Z_METADATA`.
public struct CoreDataMetadata: Sendable, Hashable {
    /// The identity of the store; the same in Core Data's object URIs.
    public var identifier: UUID
    /// The version of Core Data that wrote the store last, `NSPersistenceFrameworkVersion`; nil if the store does not say.
    public var frameworkVersion: Int?
    /// The version identifiers of the model.
    public var versionIdentifiers: [String] = []
    /// The version hashes of the entities by name.
    public var versionHashes: [String: Data] = [:]
    /// The Base64 text that identifies the version of the model; nil in stores of systems before 2023.
    public var checksum: String?
    /// The Base64 text of the hashes' digest; nil in stores of systems before 2019.
    public var digest: String?
    /// The names of the application's own entries. Their values may be secrets and are not read.
    public var applicationKeys: [String] = []
}

extension CoreDataMetadata {
    /// Reads the table.
    /// - Throws: ``StoreError/notAStore(path:reason:)`` if Core Data did not write the file, and
    ///   ``StoreError/corrupt(path:reason:)`` if what it says cannot be read.
    init(_ connection: Connection, path: String, warnings: inout [String]) throws(StoreError) {
        let statement = try connection.prepare("SELECT Z_UUID, Z_PLIST FROM Z_METADATA", persistent: false)
        guard try statement.step() else { throw .corrupt(path: path, reason: "Z_METADATA has no row") }
        defer { statement.reset() }
        let text = statement.text(0)
        guard let identifier = UUID(uuidString: text) else {
            throw .corrupt(path: path, reason: "Z_UUID in Z_METADATA is '\(text.prefix(64))', which is not a UUID")
        }
        self.identifier = identifier
        if statement.isNull(1) {
            warnings.append("Z_PLIST in Z_METADATA is empty, so the version of the model is not known")
            return
        }
        let list: PropertyList
        do throws(PropertyListError) {
            list = try PropertyList(data: Data(statement.blobBytes(1)))
        } catch {
            throw .corrupt(path: path, reason: "Z_PLIST in Z_METADATA cannot be read: \(error.description)")
        }
        guard let members = list.dictionary else {
            throw .corrupt(path: path, reason: "Z_PLIST in Z_METADATA is not a dictionary")
        }
        frameworkVersion = members["NSPersistenceFrameworkVersion"]?.integer.flatMap { Int(exactly: $0) }
        versionIdentifiers =
            (members["NSStoreModelVersionIdentifiers"]?.array ?? []).compactMap(\.string).filter { !$0.isEmpty }
        versionHashes = (members["NSStoreModelVersionHashes"]?.dictionary ?? [:]).compactMapValues(\.data)
        checksum = members["NSStoreModelVersionChecksumKey"]?.string
        digest = members["NSStoreModelVersionHashesDigest"]?.string
        applicationKeys = members.keys.filter { !$0.hasPrefix("NS") && !$0.hasPrefix("_NS") }.sorted()
        if let type = members["NSStoreType"]?.string, type != "SQLite" {
            throw .corrupt(path: path, reason: "Z_PLIST in Z_METADATA says that the store is of the type '\(type)'")
        }
    }
}
