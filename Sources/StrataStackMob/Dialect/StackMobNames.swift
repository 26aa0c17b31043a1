import Foundation

extension StackMobNames {
    /// The field of a property, see `field(of:)`.
    /// - Throws: ``RemoteError`` for names that begin with a capital, whose field could not be read back.
    public static func field(ofProperty name: String) throws(RemoteError) -> String {
        guard !name.isEmpty, !beginsWithCapital(name) else {
            throw StackMobError.incompatible(
                "the property \"\(name)\" has no field in StackMob; its name must begin with a small letter")
        }
        return field(of: name)
    }

    /// The primary key of an entity by its name: `<entity in lower case>Id`, else `<entity in lower case>_id`.
    /// - Parameter user: The name of the primary key if the entity is that of users; it comes first.
    /// - Throws: ``RemoteError`` if there is no such property.
    public static func primaryKey(
        ofEntity name: String, among properties: some Sequence<String>, user: String? = nil
    ) throws(RemoteError) -> String {
        let properties = Set(properties)
        if let user, let found = property(ofField: user, among: properties) { return found }
        let candidates = primaryKeys(ofEntity: name)
        if let found = candidates.first(where: properties.contains) { return found }
        let names = ((user.map { [$0] } ?? []) + candidates).joined(separator: " or ")
        throw StackMobError.incompatible("\(name) has no primary key; declare a string attribute \(names)")
    }
}
