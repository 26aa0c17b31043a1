/// How names of entities and properties become names in a store or on the wire, and back.
///
///     let naming = NamingConvention(properties: .snakeCase, entities: .verbatim)
///     print(naming.storedName(ofProperty: "imageURL"), naming.storedName(ofEntity: "TodoItem"))  // image_url TodoItem
///
/// A model has one; the default is ``snakeCase``, which reads well in SQL. Choose ``verbatim`` if another program or a
/// server expects the names of the model. The convention is part of the version hash, so decide before you ship. The
/// model reports two names that would be stored under the same one, even if they differ only in case.
///
/// The way back from a stored name is a guess. For a model, ``EntityDescription/property(storedName:)`` is exact.
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

    /// The stored name of a property. An element of a composite, `address.street`, becomes `address_street` in every
    /// style.
    public func storedName(ofProperty name: String) -> String {
        name.split(separator: ".", omittingEmptySubsequences: false)
            .map { properties == .snakeCase ? Self.snakeCase(String($0)) : String($0) }
            .joined(separator: "_")
    }

    /// The stored name of an entity.
    public func storedName(ofEntity name: String) -> String {
        entities == .snakeCase ? Self.snakeCase(name) : name
    }

    /// The property name that a stored name suggests: `year_born` gives `yearBorn`.
    ///
    /// This is the way back for names in plain camelCase; words in capitals (`imageURL`) can no longer be told from
    /// others. For the properties of a model, ``EntityDescription/property(storedName:)`` is exact.
    public func propertyName(ofStored name: String) -> String {
        properties == .snakeCase ? Self.camelCase(name) : name
    }

    /// The entity name that a stored name suggests: `todo_item` gives `TodoItem`. For the entities of a model,
    /// ``ManagedObjectModel/entity(storedName:)`` is exact.
    public func entityName(ofStored name: String) -> String {
        guard entities == .snakeCase else { return name }
        let camel = Self.camelCase(name)
        return camel.prefix(1).uppercased() + camel.dropFirst()
    }

    /// The snake_case form of a name. A word begins at a capital after a small letter or a digit, and at the last of
    /// several capitals when a small letter follows: `imageURL` gives `image_url`, `HTTPServer` gives `http_server`,
    /// `line2Text` gives `line2_text`. Names in snake_case or in lower case stay as they are.
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

    /// The camelCase form of a name in snake_case. An underscore before a letter goes and makes the letter a capital;
    /// all others stay, so that nothing is lost: `line_2` stays `line_2`. Names in camelCase or in lower case stay as
    /// they are.
    public static func camelCase(_ name: String) -> String {
        var result = ""
        let characters = Array(name)
        var index = 0
        while index < characters.count {
            let isSeparator =
                characters[index] == "_" && index > 0 && characters[index - 1] != "_" && index + 1 < characters.count
                && characters[index + 1].isLowercase && characters[index + 1].uppercased().count == 1
            if isSeparator {
                result += characters[index + 1].uppercased()
                index += 2
            } else {
                result.append(characters[index])
                index += 1
            }
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
