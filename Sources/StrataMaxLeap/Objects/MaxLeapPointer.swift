/// Which object: its class and the identifier that the server gave it.
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
