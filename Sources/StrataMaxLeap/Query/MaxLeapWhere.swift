/// A condition on objects: a constraint of one field, or several conditions.
///
///     let query = MaxLeapQuery("Post")
///         .whereAny(.key("likes", .greater(10)), .and([.key("pinned", .equal(true)), .key("image", .exists(true))]))
///     print(try query.condition())
///
/// ``MaxLeapQuery`` has methods for the usual cases: `where(_:_:)` for one field, `whereAny(_:)` for alternatives,
/// `where(isIn:of:)` for the members of a relation. Use this type for conditions that you build in code. ``json()`` is what the
/// server receives; it throws for a value that an operator does not take, before anything is sent.
public indirect enum MaxLeapWhere: Sendable, Hashable {
    /// A field is as it must be.
    case key(String, MaxLeapConstraint)
    /// All hold.
    case and([MaxLeapWhere])
    /// At least one holds.
    case or([MaxLeapWhere])
    /// The object is a member of a relation of another one.
    case relatedTo(MaxLeapPointer, key: String)

    /// The condition as it is sent.
    ///
    /// Conditions on one field are one object, if that loses nothing, otherwise they are in an `$and`.
    /// - Throws: ``RemoteError`` with code 102 for a value that an operator does not take, or an OR without members.
    public func json() throws(RemoteError) -> JSONObject {
        var writer = MaxLeapWhereWriter()
        try writer.add(self)
        return writer.json
    }
}

/// Joins conditions that must all hold.
struct MaxLeapWhereWriter {
    private var keys: [String] = []
    private var forms: [String: [MaxLeapConstraint.Form]] = [:]
    private var groups: [JSONObject] = []

    mutating func add(_ condition: MaxLeapWhere) throws(RemoteError) {
        switch condition {
        case .and(let parts):
            for part in parts { try add(part) }
        case .or(let parts):
            guard !parts.isEmpty else {
                throw MaxLeapError.unsupported("a condition that never holds cannot be sent")
            }
            var list: [JSONValue] = []
            for part in parts { list.append(.object(try part.json())) }
            groups.append(["$or": .array(list)])
        case .relatedTo(let pointer, let key):
            groups.append(["$relatedTo": ["object": try MaxLeapValue.pointer(pointer).json(), "key": .string(key)]])
        case .key(let key, let constraint):
            guard !key.isEmpty, !key.hasPrefix("$") else {
                throw MaxLeapError.invalidKeyName.error("\"\(key.prefix(80))\" is not a valid field name")
            }
            add(try constraint.form(key), key)
        }
    }

    private mutating func add(_ form: MaxLeapConstraint.Form, _ key: String) {
        guard var list = forms[key] else {
            keys.append(key)
            forms[key] = [form]
            return
        }
        if list.contains(form) { return }
        if case .operators(let new) = form,
            let place = list.firstIndex(where: {
                if case .operators(let old) = $0 { new.names.allSatisfy { old[$0] == nil } } else { false }
            }), case .operators(let old) = list[place]
        {
            list[place] = .operators(old.merging(new))
        } else {
            list.append(form)
        }
        forms[key] = list
    }

    var json: JSONObject {
        var result: JSONObject = [:]
        var others: [JSONObject] = []
        for key in keys {
            let list = forms[key] ?? []
            if list.count == 1 {
                result[key] = list[0].json
            } else {
                others += list.map { [key: $0.json] }
            }
        }
        for (name, same) in Dictionary(grouping: groups, by: { $0.names[0] }).sorted(by: { $0.key < $1.key }) {
            if same.count == 1 { result[name] = same[0][name] } else { others += same }
        }
        if !others.isEmpty { result["$and"] = .array(others.map(JSONValue.object)) }
        return result
    }
}
