import Foundation

/// Where what is known of an object comes from. Objects are equal if what is known of them is, so this does not count.
struct MaxLeapOrigin: Sendable, Hashable {
    /// What all copies of a new object have in common, and no other object has; nil for one that the server has.
    var identity: UUID?
    /// Whether all fields are known: the server was asked for all of them, or has none yet.
    var hasAllFields: Bool

    /// The origin of an object that is made here.
    static func new() -> MaxLeapOrigin { MaxLeapOrigin(identity: UUID(), hasAllFields: true) }

    static func == (a: MaxLeapOrigin, b: MaxLeapOrigin) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}

extension MaxLeapObject {
    /// Whether all fields that the object has at the server have been read. If a query or a fetch named fields, only these are
    /// known; of an object that a pointer led to, only the identifier is. A new object is complete.
    ///
    /// ``MaxLeapClient/fetchIfNeeded(_:options:)`` reads the rest.
    public var isComplete: Bool { objectId == nil || hasData && origin.hasAllFields }

    /// Notes that an answer had only some of the fields.
    /// - Parameter related: Whether the same is true of the objects that came along.
    mutating func noteMissingFields(ofRelated related: Bool) {
        origin.hasAllFields = false
        guard related else { return }
        for (key, value) in values { values[key] = value.withMissingFields }
    }

    /// The object as it was read again. Objects that came along with it before stay, if it still refers to them; changes that
    /// wait still wait.
    func completed(by fetched: MaxLeapObject) -> MaxLeapObject {
        var result = fetched
        for case (let key, .pointer(let pointer)) in fetched.values {
            guard case .object(let known)? = values[key], known.pointer == pointer else { continue }
            result.values[key] = .object(known)
        }
        result.operations = operations
        return result
    }

    /// This object with the fields of another answer, which had only some of them.
    func merged(with part: MaxLeapObject) -> MaxLeapObject {
        var result = self
        result.values.merge(part.values) { $1 }
        if let email = part.values["email"], email != values["email"], part.values["emailVerified"] == nil {
            // Nothing is known of another address.
            result.values["emailVerified"] = nil
        }
        result.createdAt = part.createdAt ?? createdAt
        result.updatedAt = part.updatedAt ?? updatedAt
        return result
    }
}

extension MaxLeapValue {
    /// The value with all objects in it known only in part.
    fileprivate var withMissingFields: MaxLeapValue {
        switch self {
        case .object(var object):
            object.noteMissingFields(ofRelated: true)
            return .object(object)
        case .array(let elements): return .array(elements.map(\.withMissingFields))
        default: return self
        }
    }
}
