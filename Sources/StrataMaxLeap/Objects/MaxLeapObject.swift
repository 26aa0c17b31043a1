import Foundation

/// An object of a class: what the server reported about it, and what is to be saved.
///
///     var post = MaxLeapObject("Post")
///     post["title"] = "Hello"
///     try post.increment("views")
///     post = try await client.save(post)  // has an objectId from then on
///
/// It is a value: copies change on their own, and a save returns the object as it is then. Only what was changed is sent.
/// `post[key]` is the value with your changes, ``values`` are the server's, and ``operations`` are what a save sends.
///
/// An object of an answer may have only some of its fields; ``isComplete`` tells, and
/// ``MaxLeapClient/fetchIfNeeded(_:options:)`` reads the others. To work with classes and relationships instead, use a
/// ``MaxLeapStore``.
public struct MaxLeapObject: Sendable, Hashable {
    /// The class.
    public let className: String
    /// The identifier that the server gave; nil for a new object.
    public internal(set) var objectId: String?
    /// When the server made the object.
    public internal(set) var createdAt: Date?
    /// When the server changed it last.
    public internal(set) var updatedAt: Date?
    /// What the server reported about the fields.
    public internal(set) var values: [String: MaxLeapValue] = [:]
    /// What is to be saved, by field.
    public internal(set) var operations: [String: MaxLeapOperation] = [:]
    var origin: MaxLeapOrigin

    /// The fields that the server keeps itself.
    static let systemKeys: Set<String> = ["objectId", "createdAt", "updatedAt"]
    private static let userClass = "_User"

    /// A new object. Copies of it that are not changed are one object to a save: ``MaxLeapClient/save(_:options:)`` makes it
    /// once, wherever it is among the values.
    public init(_ className: String) {
        self.className = className
        origin = .new()
    }

    /// An object that the server has, of which nothing else is known.
    public init(_ className: String, objectId: String) {
        self.className = className
        self.objectId = objectId
        origin = MaxLeapOrigin(hasAllFields: false)
    }

    /// Reads an object of an answer.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/invalidAnswer`` if a value is not what its type promises.
    public init(_ className: String, _ members: JSONObject) throws(RemoteError) {
        self.className = className
        origin = members["objectId"] == nil ? .new() : MaxLeapOrigin(hasAllFields: true)
        try take(members)
    }

    /// Where the object is; nil as long as it is new.
    public var pointer: MaxLeapPointer? { objectId.map { MaxLeapPointer(className, $0) } }
    /// Whether any of its fields have been read. Of an object that a pointer led to only the identifier is known. See
    /// ``isComplete`` for whether all have.
    public var hasData: Bool { createdAt != nil || !values.isEmpty }
    /// Whether there is something to save.
    public var isDirty: Bool { !operations.isEmpty }
    /// The fields that were changed.
    public var dirtyKeys: Set<String> { Set(operations.keys) }

    /// The value of a field, with what is to be saved; setting nil takes the field away.
    public subscript(key: String) -> MaxLeapValue? {
        get {
            guard let operation = operations[key] else { return values[key] }
            // The merged operations fit the values of that time.
            return try? operation.applied(to: values[key])
        }
        set { operations[key] = newValue.map(MaxLeapOperation.set) ?? .delete }
    }

    /// Does something to a field, after what was done to it before.
    /// - Throws: ``RemoteError`` with code 111 if the field has another type, or the operations are not one.
    public mutating func perform(_ operation: MaxLeapOperation, on key: String) throws(RemoteError) {
        let merged = try operation.merged(onto: operations[key])
        _ = try merged.applied(to: values[key])
        operations[key] = merged
    }

    /// Adds to a number.
    /// - Parameter amount: A number; a negative one subtracts.
    /// - Throws: ``RemoteError`` with code 111 if the field is not a number, or the operations cannot be combined.
    public mutating func increment(_ key: String, by amount: MaxLeapValue = 1) throws(RemoteError) {
        try perform(.increment(amount), on: key)
    }

    /// Puts values at the end of an array.
    /// - Throws: ``RemoteError`` with code 111 if the field is not an array, or the operations cannot be combined.
    public mutating func add(_ values: [MaxLeapValue], to key: String) throws(RemoteError) {
        try perform(.add(values), on: key)
    }

    /// Puts those values at the end of an array that it lacks.
    /// - Throws: ``RemoteError`` with code 111 if the field is not an array, or the operations cannot be combined.
    public mutating func addUnique(_ values: [MaxLeapValue], to key: String) throws(RemoteError) {
        try perform(.addUnique(values), on: key)
    }

    /// Takes every equal value out of an array.
    /// - Throws: ``RemoteError`` with code 111 if the field is not an array, or the operations cannot be combined.
    public mutating func remove(_ values: [MaxLeapValue], from key: String) throws(RemoteError) {
        try perform(.remove(values), on: key)
    }

    /// Puts objects into a relation.
    /// - Throws: ``RemoteError`` with code 111 if the field is not a relation, or the operations cannot be combined.
    public mutating func addRelation(_ objects: [MaxLeapPointer], to key: String) throws(RemoteError) {
        try perform(.relation(add: objects, remove: []), on: key)
    }

    /// Takes objects out of a relation.
    /// - Throws: ``RemoteError`` with code 111 if the field is not a relation, or the operations cannot be combined.
    public mutating func removeRelation(_ objects: [MaxLeapPointer], from key: String) throws(RemoteError) {
        try perform(.relation(add: [], remove: objects), on: key)
    }

    /// Forgets what is to be saved.
    /// - Parameter key: The field; nil for all.
    public mutating func revert(_ key: String? = nil) {
        if let key { operations[key] = nil } else { operations = [:] }
    }
}

extension MaxLeapObject {
    /// What is to be saved, as it is sent: fields with their values or operations, sorted by name.
    /// - Throws: ``RemoteError`` for a value that cannot be sent, with code 105 for names that no field has.
    public func changes() throws(RemoteError) -> JSONObject {
        var body: JSONObject = [:]
        for (key, operation) in operations.sorted(by: { $0.key < $1.key }) {
            guard Self.isKey(key), !Self.systemKeys.contains(key) else {
                throw MaxLeapError.invalidKeyName.error(
                    "\(className): \"\(key.prefix(80))\" is not the name of a writable field; use letters, digits "
                        + "and underscores, a letter first")
            }
            do throws(RemoteError) {
                // A new object has nothing to take away.
                if objectId == nil, operation == .delete { continue }
                body[key] = try operation.json()
            } catch {
                var error = error
                error.message = "\(className).\(key): \(error.message)"
                throw error
            }
        }
        return body
    }

    /// Whether a text can be the name of a field or class: letters, digits and underscores, a letter first. The names of
    /// the server's own classes begin with an underscore.
    static func isKey(_ name: some StringProtocol, ofClass: Bool = false) -> Bool {
        var rest = Substring(name).utf8
        if ofClass, rest.first == UInt8(ascii: "_") { rest = rest.dropFirst() }
        let characters = PercentEncoding.Characters.alphanumerics.union("_")
        guard let first = rest.first, PercentEncoding.Characters.alphanumerics.contains(first),
            !(0x30...0x39).contains(first)
        else { return false }
        return rest.allSatisfy(characters.contains)
    }

    /// Takes over what a server told: all of its members.
    mutating func take(_ members: JSONObject) throws(RemoteError) {
        let marks: Set<String> = members["__type"] == nil ? [] : ["__type", "className"]
        let told = try Self.values(members.filter { !Self.systemKeys.contains($0.name) && !marks.contains($0.name) })
        if let id = members["objectId"]?.string { objectId = id }
        if let date = Self.date(members["createdAt"]) { createdAt = date }
        if let date = Self.date(members["updatedAt"]) { updatedAt = date }
        values.merge(told) { $1 }
        // Sessions keep their users in files.
        if className == Self.userClass { values["password"] = nil }
    }

    /// The object after a save: pending values have been saved, and the values that the server reported count. The password of
    /// a user is not among them.
    func saved(_ answer: JSONObject) throws(RemoteError) -> MaxLeapObject {
        var copy = self
        for (key, operation) in operations { copy.values[key] = try operation.applied(to: values[key]) }
        copy.operations = [:]
        // The server verifies another address first. It says so only if it is asked.
        if className == Self.userClass, let change = operations["email"], copy.values["emailVerified"] != nil {
            copy.values["emailVerified"] = change == .delete ? nil : .boolean(false)
        }
        // How many objects an update met is nothing of the object.
        try copy.take(objectId == nil ? answer : JSONObject(answer.filter { $0.name != "number" }))
        if copy.updatedAt == nil { copy.updatedAt = copy.createdAt }
        return copy
    }

    static func values(_ members: some Sequence<JSONObject.Member>) throws(RemoteError) -> [String: MaxLeapValue] {
        var values: [String: MaxLeapValue] = [:]
        for (name, value) in members {
            do throws(RemoteError) {
                values[name] = try MaxLeapValue(value)
            } catch {
                var error = error
                error.message = "\(name): \(error.message)"
                throw error
            }
        }
        return values
    }

    /// A time of the system: plain text, or a date object.
    static func date(_ json: JSONValue?) -> Date? { (json?.string ?? json?["iso"]?.string).flatMap(MaxLeapDate.date) }
}
