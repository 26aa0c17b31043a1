/// A `Codable` Swift type whose values an attribute keeps as JSON text.
///
/// Neither the name of the type nor its members are part of the version hash: the text of an older version must be readable
/// by the type itself, as with all `Codable` types that are kept.
public struct JSONType: Sendable, Hashable {
    /// The name of the Swift type.
    public var name: String
    /// The members, if the model declares them: the generator then writes the type and its keys. Empty if your app
    /// declares the type.
    public var members: [JSONMember]

    /// Names a type.
    public init(_ name: String, members: [JSONMember] = []) {
        self.name = name
        self.members = members
    }
}

/// A member of a ``JSONType``.
public struct JSONMember: Sendable, Hashable {
    /// The name, which is the key in the JSON text, too.
    public var name: String
    /// The type: a string, a truth value, a number, or ``AttributeType/json(_:)`` for members of its own.
    public var type: AttributeType
    /// Whether the member may be missing.
    public var isOptional: Bool
    /// Whether the member is an array of values of the type.
    public var isList: Bool

    /// Declares a member.
    public init(_ name: String, _ type: AttributeType, optional: Bool = false, list: Bool = false) {
        self.name = name
        self.type = type
        self.isOptional = optional
        self.isList = list
    }
}
