import Foundation

/// The rules by which entities and properties are spelled in StackMob's dialect, and back.
///
///     print(StackMobNames.schema(ofEntity: "BlogPost"))  // blogpost
///     print(StackMobNames.field(of: "yearBorn"))  // year_born
///     print(StackMobNames.property(ofField: "year_born", among: ["yearBorn", "name"]) ?? "-")  // yearBorn
///
/// Tables and columns of Strata's own stores are named word by word (`imageURL` is kept in `image_url`). Here each capital is a
/// word of its own (`image_u_r_l`), because that is what the dialect's other libraries do. Names of properties must begin with
/// a small letter.
public enum StackMobNames {
    /// The schema of an entity: its name in lower case, without underscores between words.
    public static func schema(ofEntity name: String) -> String { FieldNames.schema(ofEntity: name) }

    /// The field of a property: each ASCII capital becomes an underscore and the small letter, so that `yearBorn` is
    /// `year_born` and `myURL` is `my_u_r_l`.
    ///
    /// A field whose name begins with a capital gets an underscore in front, and does not lead back to the name.
    public static func field(of property: String) -> String { FieldNames.field(of: property) }

    /// The property that a field belongs to: the one of the same name, otherwise the one whose field it is, otherwise
    /// the one whose name is the field's without underscores; nil if there is none.
    public static func property(ofField field: String, among properties: some Sequence<String>) -> String? {
        FieldNames.property(ofField: field, among: properties)
    }

    /// The field of a property, see `field(of:)`.
    /// - Throws: ``RemoteError`` for names that begin with a capital, whose field could not be read back.
    public static func field(ofProperty name: String) throws(RemoteError) -> String {
        guard !name.isEmpty, !FieldNames.beginsWithCapital(name) else {
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
        let candidates = FieldNames.primaryKeys(ofEntity: name)
        if let found = candidates.first(where: properties.contains) { return found }
        let names = ((user.map { [$0] } ?? []) + candidates).joined(separator: " or ")
        throw StackMobError.incompatible("\(name) has no primary key; declare a string attribute \(names)")
    }
}
