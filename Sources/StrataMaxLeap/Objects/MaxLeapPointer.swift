/// The name of an object on the server: its class and the identifier that the server gave it.
///
///     post["author"] = .pointer(MaxLeapPointer("_User", me))
///     let author = try await client.fetch(MaxLeapPointer("_User", me))
///
/// A field that refers to another object holds a pointer. An object has one as soon as it is saved: ``MaxLeapObject/pointer``.
/// Reading a pointer sends nothing; fetch the object, or let it come along with a query by `including(_:)`. The object may have
/// been deleted meanwhile: then a fetch throws code 101.
public struct MaxLeapPointer: Sendable, Hashable, CustomStringConvertible {
    /// The class.
    public var className: String
    /// The identifier.
    public var objectId: String

    /// Names an object.
    public init(_ className: String, _ objectId: String) {
        self.className = className
        self.objectId = objectId
    }

    /// Class and identifier: `Post/5718a7c5169e7d0001a25911`.
    public var description: String { "\(className)/\(objectId)" }

    var json: JSONValue {
        ["__type": "Pointer", "className": .string(className), "objectId": .string(objectId)]
    }
}
