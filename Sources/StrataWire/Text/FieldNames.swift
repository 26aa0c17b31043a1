/// How entities and properties of a model are spelt as schemas and fields of a service, and back.
///
/// Tables and columns are named word by word (`imageURL` is kept in `image_url`). Here each capital is a word of its own
/// (`image_u_r_l`), so that each name leads back to the property.
package enum FieldNames {
    /// The schema of an entity: its name in lower case, without underscores between words.
    package static func schema(ofEntity name: String) -> String { name.lowercased() }

    /// The field of a property: each ASCII capital becomes an underscore and the small letter, so that `yearBorn` is
    /// `year_born` and `myURL` is `my_u_r_l`.
    ///
    /// A field whose name begins with a capital gets an underscore in front, and does not lead back to the name.
    package static func field(of property: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(property.utf8.count + 4)
        for byte in property.utf8 {
            if isCapital(byte) {
                bytes.append(UInt8(ascii: "_"))
                bytes.append(byte | 0x20)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The property that a field belongs to: the one of the same name, otherwise the one whose field it is, otherwise
    /// the one that is `camelCase(_:)` of it; nil if there is none.
    package static func property(ofField field: String, among properties: some Sequence<String>) -> String? {
        let camelCase = camelCase(field)
        var spelt: String?
        var other: String?
        for property in properties {
            if property == field { return property }
            if spelt == nil, Self.field(of: property) == field { spelt = property }
            if property == camelCase { other = property }
        }
        return spelt ?? other
    }

    /// The name of a field without underscores, each letter after one as a capital: `year_born` is `yearBorn`, `year_2`
    /// is `year2`.
    package static func camelCase(_ field: String) -> String {
        var bytes: [UInt8] = []
        var followsUnderscore = false
        for byte in field.utf8 {
            if followsUnderscore {
                bytes.append((UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte & ~0x20 : byte)
                followsUnderscore = false
            } else if byte == UInt8(ascii: "_") {
                followsUnderscore = true
            } else {
                bytes.append(byte)
            }
        }
        if followsUnderscore { bytes.append(UInt8(ascii: "_")) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The names that the primary key of an entity may have by convention, the first that exists counts:
    /// `<entity in lower case>Id`, else `<entity in lower case>_id`.
    package static func primaryKeys(ofEntity name: String) -> [String] {
        let schema = schema(ofEntity: name)
        return [schema + "Id", schema + "_id"]
    }

    /// Whether a name has capitals, so that it must be a property's and not a field's.
    package static func hasCapitals(_ name: String) -> Bool { name.utf8.contains(where: isCapital) }

    /// Whether a name begins with a capital, so that its field does not lead back to it.
    package static func beginsWithCapital(_ name: String) -> Bool { name.utf8.first.map(isCapital) ?? false }

    private static func isCapital(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
}
