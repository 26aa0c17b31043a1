import Foundation

/// How entities and properties are spelt on the wire, and back.
public enum StackMobNames {
    /// The schema of an entity: its name in lower case, without underscores between words.
    public static func schema(ofEntity name: String) -> String { name.lowercased() }

    /// The field of a property: each ASCII capital becomes an underscore and the small letter, so that `yearBorn` is
    /// `year_born` and `myURL` is `my_u_r_l`.
    /// - Throws: ``RemoteError`` for names that begin with a capital, whose field could not be read back.
    public static func field(ofProperty name: String) throws(RemoteError) -> String {
        guard let first = name.utf8.first, !isCapital(first) else {
            throw StackMobError.incompatible(
                "the property \"\(name)\" has no field in StackMob; its name must begin with a small letter")
        }
        return spelling(name)
    }

    static func spelling(_ name: String) -> String {
        var bytes: [UInt8] = []
        for byte in name.utf8 {
            if isCapital(byte) {
                bytes += [UInt8(ascii: "_"), byte | 0x20]
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The property that a field belongs to: one of the very name, else the one that is spelt so, else the one whose name
    /// is the field's with each `_x` as `X`, so that `year_2` is `year2`; nil if there is none.
    public static func property(ofField field: String, among properties: some Sequence<String>) -> String? {
        let joined = joined(field)
        var spelt: String?
        var other: String?
        for property in properties {
            if property == field { return property }
            if spelt == nil, spelling(property) == field { spelt = property }
            if property == joined { other = property }
        }
        return spelt ?? other
    }

    /// The name of a field with each underscore taken out and the sign behind it as a capital.
    static func joined(_ field: String) -> String {
        var bytes: [UInt8] = []
        var isCapital = false
        for byte in field.utf8 {
            if isCapital {
                bytes.append((UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte & ~0x20 : byte)
                isCapital = false
            } else if byte == UInt8(ascii: "_") {
                isCapital = true
            } else {
                bytes.append(byte)
            }
        }
        if isCapital { bytes.append(UInt8(ascii: "_")) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The primary key of an entity by its name: `<entity in lower case>Id`, else `<entity in lower case>_id`.
    /// - Parameter user: The name of the primary key if the entity is that of users; it comes first.
    /// - Throws: ``RemoteError`` if there is no such property.
    public static func primaryKey(
        ofEntity name: String, among properties: some Sequence<String>, user: String? = nil
    ) throws(RemoteError) -> String {
        let properties = Set(properties)
        let schema = schema(ofEntity: name)
        let candidates = (user.map { [$0] } ?? []) + [schema + "Id", schema + "_id"]
        if let user, let found = property(ofField: user, among: properties) { return found }
        if let found = candidates.first(where: properties.contains) { return found }
        throw StackMobError.incompatible(
            "\(name) has no primary key; declare a string attribute \(candidates.joined(separator: " or "))")
    }

    /// Whether a name has capitals, so that it must be a property's and not a field's.
    static func hasCapitals(_ name: String) -> Bool { name.utf8.contains(where: isCapital) }

    private static func isCapital(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
}
