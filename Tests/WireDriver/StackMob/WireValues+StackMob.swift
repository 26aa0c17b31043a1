import StrataStackMob

extension WireValues {
    /// A type as the `model` of a case names it.
    static func property(_ name: String) throws(WireFault) -> StackMobSchema.Property {
        let words = name.split(separator: " ").map(String.init)
        switch WireCase.plain(words.first ?? "") {
        case "toone", "to1": return .toOne(words.dropFirst().first ?? "")
        case "tomany": return .toMany(words.dropFirst().first ?? "")
        case "string", "text", "file", "binaryfile": return .attribute(.string)
        case "int", "integer", "int64", "integer64", "long": return .attribute(.integer64)
        case "int16", "integer16": return .attribute(.integer16)
        case "int32", "integer32": return .attribute(.integer32)
        case "double", "number", "float": return .attribute(.double)
        case "decimal": return .attribute(.decimal)
        case "bool", "boolean": return .attribute(.boolean)
        case "date": return .attribute(.date)
        case "data", "binary": return .attribute(.binary)
        case "uuid": return .attribute(.uuid)
        case "uri", "url": return .attribute(.uri)
        case "geopoint", "geo", "transformable": return .attribute(.geoPoint)
        default: throw WireFault("the type \(name.prefix(40)) is unknown")
        }
    }
}
