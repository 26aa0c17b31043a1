/// A `Codable` Swift type whose values an attribute keeps as JSON text.
///
///     let layout = JSONType("Layout", members: [JSONMember("theme", .string), JSONMember("tags", .string, list: true)])
///     Entity("Document") {
///         Attribute("layout", .json(layout), optional: true)
///     }
///
/// With members, the generator writes the type and typed keys for its members. Without members, your app declares the
/// type, which conforms to ``TransformableValue``, and conditions use ``JSONKey``. Nothing checks the text in the
/// store, so conditions treat every member as one that may be missing or of another kind.
///
/// Neither the name of the type nor its members are part of the version hash: the text of an older version must be
/// readable by the type itself, as with all `Codable` types that are kept. Text that it cannot read gives nil, or the
/// zero value, and an error to ``ManagedObjectContext/onFaultError``.
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

/// A member of a ``JSONType``: a property of the generated Swift type, and a key in the JSON text.
///
///     let window = JSONType("Window", members: [JSONMember("width", .integer), JSONMember("height", .integer)])
///     let layout = JSONType("Layout", members: [
///         JSONMember("theme", .string),
///         JSONMember("window", .json(window), optional: true),
///         JSONMember("tags", .string, list: true),
///     ])
///
/// A member is a string, a truth value, a whole or floating-point number, or a type with members of its own, up to 16
/// levels deep; with `list: true`, an array of these. New members should be optional, because the text of existing
/// objects lacks them. The same type name must have the same members everywhere in a model.
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
