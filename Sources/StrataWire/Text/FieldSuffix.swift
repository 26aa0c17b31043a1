/// The suffix of a field's name whose value is computed from the one that the server has: `"likes[inc]": 1` adds 1.
package enum FieldSuffix: String, CaseIterable, Sendable {
    /// Adds to a number.
    case increment = "[inc]"
    /// Appends elements to an array.
    case append = "[add]"
    /// Appends the elements that the array lacks.
    case appendUnique = "[addunique]"
    /// Removes every equal element from an array.
    case remove = "[remove]"

    /// The name of the field and the suffix; nil for a name without one.
    package static func split(_ name: String) -> (field: String, suffix: FieldSuffix)? {
        guard name.utf8.last == UInt8(ascii: "]"), let suffix = allCases.first(where: { name.hasSuffix($0.rawValue) })
        else { return nil }
        return (String(name.dropLast(suffix.rawValue.count)), suffix)
    }
}
