import Foundation

/// The version hashes of a model's entities, by which Core Data decides whether a store fits a model.
///
/// Apple does not publish the recipe; the one used here was derived from models and the hashes that Core Data wrote for
/// them. It is not known for derived, composite and some rare kinds of attributes: entities that have or inherit one have
/// no hash here, but a reason in ``unknown``.
public struct CoreDataVersionHashes: Sendable, Hashable {
    /// The SHA-256 hashes (32 bytes) by entity name.
    public var hashes: [String: Data] = [:]
    /// Why an entity has no hash, by entity name.
    public var unknown: [String: String] = [:]

    /// Computes the hashes of all entities of a model.
    public init(_ model: CoreDataModel) {
        for entity in model.entitiesInStoreOrder {
            let lineage = model.lineage(of: entity)
            if let reason = lineage.lazy.compactMap({ Self.openFeature($0) }).first {
                unknown[entity.name] = reason
                continue
            }
            let parentHash: Data
            if let parent = entity.parent {
                guard let known = hashes[parent] else {
                    unknown[entity.name] = unknown[parent] ?? "the model has no entity \(parent)"
                    continue
                }
                parentHash = known
            } else {
                parentHash = Data()
            }
            hashes[entity.name] = Self.entityHash(entity, lineage: lineage, parentHash: parentHash)
        }
        for entity in model.entities where hashes[entity.name] == nil && unknown[entity.name] == nil {
            unknown[entity.name] = "it inherits from itself"
        }
    }

    /// A hash in hexadecimal digits.
    public func hexadecimal(_ entity: String) -> String? {
        hashes[entity].map { $0.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
    }

    /// What stores and `VersionInfo.plist` call the version's checksum: Base64 of the SHA-256 of all hashes by byte-wise
    /// order of names. Nil if a hash is unknown.
    public var checksum: String? {
        guard unknown.isEmpty else { return nil }
        var hash = SHA256Hash()
        for (_, bytes) in hashes.sorted(by: { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }) {
            hash.update(bytes)
        }
        return Data(hash.digest()).base64EncodedString()
    }

    /// The feature of an entity that the recipe does not cover.
    private static func openFeature(_ entity: CoreDataEntity) -> String? {
        for attribute in entity.attributes where !attribute.isTransient {
            let name = "\(entity.name).\(attribute.name)"
            if attribute.derivation != nil { return "\(name) is derived" }
            if attribute.type == .composite { return "\(name) is a composite" }
            if attribute.options.isSuperset(of: [.externalStorage, .preservedAfterDeletion]) {
                return "\(name) is stored externally and preserved after deletion"
            }
            if attribute.options.contains(.cloudEncryption) { return "\(name) is encrypted in CloudKit" }
            if attribute.options.contains(.truthFile) { return "\(name) is stored in an external record file" }
        }
        if entity.versionHashModifier?.isEmpty == false, !entity.uniquenessConstraints.isEmpty {
            return "\(entity.name) has both a hash modifier and uniqueness constraints"
        }
        return nil
    }

    private static func entityHash(_ entity: CoreDataEntity, lineage: [CoreDataEntity], parentHash: Data) -> Data {
        var properties: [(name: String, hash: [UInt8])] = []
        for owner in lineage {
            properties += owner.attributes.filter { !$0.isTransient }.map { (name: $0.name, hash: propertyHash($0)) }
            properties += owner.relationships.filter { !$0.isTransient }.map { (name: $0.name, hash: propertyHash($0)) }
        }
        properties.sort { Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8)) }
        var hash = SHA256Hash()
        hash.update(entity.name)
        hash.update([entity.isAbstract ? 1 : 0])
        hash.update(parentHash)
        for property in properties { hash.update(property.hash) }
        hash.update(entity.versionHashModifier ?? "")
        for constraint in entity.uniquenessConstraints { hash.update(constraint.joined(separator: ".")) }
        return Data(hash.digest())
    }

    private static func base(_ name: String, _ options: CoreDataPropertyOptions, _ modifier: String?) -> [UInt8] {
        var hash = SHA256Hash()
        hash.update(name)
        hash.update([options.contains(.optional) ? 1 : 0, 0])
        hash.update(modifier ?? "")
        return hash.digest()
    }

    private static func propertyHash(_ attribute: CoreDataAttribute) -> [UInt8] {
        var hash = SHA256Hash()
        hash.update(base(attribute.name, attribute.options, attribute.versionHashModifier))
        hash.update(Int32(attribute.type.rawValue))
        if !attribute.options.isDisjoint(with: [.externalStorage, .preservedAfterDeletion]) { hash.update([1]) }
        return hash.digest()
    }

    private static func propertyHash(_ relationship: CoreDataRelationship) -> [UInt8] {
        var hash = SHA256Hash()
        hash.update(base(relationship.name, relationship.options, relationship.versionHashModifier))
        hash.update(relationship.destination)
        hash.update(relationship.inverse ?? "")
        hash.update(Int32(clamping: relationship.maximumCount))
        hash.update(Int32(clamping: relationship.minimumCount))
        if relationship.isOrdered { hash.update([1, 0]) }
        return hash.digest()
    }
}
