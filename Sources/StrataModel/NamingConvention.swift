/// How names of entities and properties become names in a store or on the wire, and back.
public struct NamingConvention: Sendable, Hashable {
    /// The ways of spelling a name.
    public enum Style: String, Sendable, Hashable, CaseIterable {
        /// `yearBorn` becomes `year_born`.
        case snakeCase
        /// Names stay as they are.
        case verbatim
    }

    /// The spelling of property names in the store.
    public var properties: Style
    /// The spelling of entity names in the store.
    public var entities: Style

    /// Chooses spellings.
    public init(properties: Style, entities: Style) {
        self.properties = properties
        self.entities = entities
    }

    /// snake_case for both: `yearBorn` is kept in the column `year_born`, `TodoItem` in the table `todo_item`.
    public static let snakeCase = NamingConvention(properties: .snakeCase, entities: .snakeCase)
    /// All names stay as they are.
    public static let verbatim = NamingConvention(properties: .verbatim, entities: .verbatim)

    /// The stored name of a property.
    public func storedName(ofProperty name: String) -> String {
        properties == .snakeCase ? Self.snakeCase(name) : name
    }

    /// The stored name of an entity.
    public func storedName(ofEntity name: String) -> String {
        entities == .snakeCase ? Self.snakeCase(name) : name
    }

    /// The snake_case form of a name.
    public static func snakeCase(_ name: String) -> String {
        var result = ""
        let characters = Array(name)
        for (index, character) in characters.enumerated() {
            if character.isUppercase, index > 0, characters[index - 1] != "_" {
                let afterLower = !characters[index - 1].isUppercase
                let beforeLower = index + 1 < characters.count && characters[index + 1].isLowercase
                if afterLower || beforeLower { result.append("_") }
            }
            result += character.lowercased()
        }
        return result
    }

    /// The name with its first word in lower case: `TodoItem` becomes `todoItem`, `URLEntry` becomes `urlEntry`.
    public static func lowerCamelCase(_ name: String) -> String {
        let capitals = name.prefix(while: \.isUppercase).count
        guard capitals > 0 else { return name }
        let length = capitals == 1 || capitals == name.count ? capitals : capitals - 1
        return name.prefix(length).lowercased() + name.dropFirst(length)
    }
}
