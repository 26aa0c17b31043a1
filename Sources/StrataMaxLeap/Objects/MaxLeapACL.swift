/// The rules about who may read and write an object: the value of its field `ACL`.
///
///     var access = MaxLeapACL()
///     access.setRead(true, for: .everybody)
///     access.setWrite(true, for: .user(me))
///     post.acl = access
///
/// A new value allows nothing to anybody, not even to you: add your own user before you save. An object without rules, whose
/// ``MaxLeapObject/acl`` is nil, gets those that the server has for new objects. ``canRead(_:)`` and ``canWrite(_:)`` look only
/// at the rule about exactly this subject: a user may also have a right by a role, or with everybody. The master key ignores
/// all rules.
public struct MaxLeapACL: Sendable, Hashable {
    /// Whom a rule is about.
    public enum Subject: Sendable, Hashable {
        /// Everybody, logged in or not.
        case everybody
        /// A user, by identifier.
        case user(String)
        /// All users with a role, by its name.
        case role(String)

        var key: String {
            switch self {
            case .everybody: "*"
            case .user(let id): id
            case .role(let name): "role:" + name
            }
        }
    }

    private var rules: [String: MaxLeapValue] = [:]

    /// Nobody may read or write.
    public init() {}

    /// The rules of a field's value. Members that are not known, such as MaxLeap's `creator`, are kept.
    /// - Throws: ``RemoteError`` with code 123 if the value is not a dictionary.
    public init(_ value: MaxLeapValue) throws(RemoteError) {
        guard case .dictionary(let rules) = value else {
            throw MaxLeapError.invalidACL.error("\(value.kind) is not an access rule", kind: .invalidAnswer)
        }
        self.rules = rules
    }

    /// Whether somebody may read, by a rule about exactly these.
    public func canRead(_ subject: Subject) -> Bool { allows("read", subject) }
    /// Whether somebody may write, by a rule about exactly these.
    public func canWrite(_ subject: Subject) -> Bool { allows("write", subject) }
    /// Lets somebody read, or takes that back.
    public mutating func setRead(_ allowed: Bool, for subject: Subject) { set("read", allowed, subject) }
    /// Lets somebody write, or takes that back.
    public mutating func setWrite(_ allowed: Bool, for subject: Subject) { set("write", allowed, subject) }

    /// The user who made the object, as MaxLeap tells it; nil if it does not, or if a key made it.
    public var creator: String? {
        guard case .dictionary(let creator)? = rules["creator"] else { return nil }
        return creator["id"]?.string
    }

    /// The rules as the value of a field.
    public var value: MaxLeapValue { .dictionary(rules) }

    private func allows(_ right: String, _ subject: Subject) -> Bool {
        guard case .dictionary(let rights)? = rules[subject.key] else { return false }
        return rights[right] == .boolean(true)
    }

    private mutating func set(_ right: String, _ allowed: Bool, _ subject: Subject) {
        var rights: [String: MaxLeapValue] = [:]
        if case .dictionary(let there)? = rules[subject.key] { rights = there }
        rights[right] = allowed ? .boolean(true) : nil
        rules[subject.key] = rights.isEmpty ? nil : .dictionary(rights)
    }
}

extension MaxLeapObject {
    /// Who may read and write the object; nil if the server decides, or if the field is not an access rule.
    public var acl: MaxLeapACL? {
        get { self["ACL"].flatMap { try? MaxLeapACL($0) } }
        set { self["ACL"] = newValue?.value }
    }
}
