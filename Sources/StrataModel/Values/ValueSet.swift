/// The members of a ``Value/set(_:)``: each once, in no order that means anything.
///
///     let codes = ValueSet(["PE", "BO", "PE"])
///     print(codes.members.count)  // 2
///     let condition = FetchPredicate.comparison(.keyPath(["countryId"]), .isIn, .constant(.set(codes)), [])
///
/// Predicates use sets for the members of unordered relationships and for a Swift `Set` as an argument. A path over a
/// set drops nil and repeated values, while one over a ``Value/list(_:)`` keeps them. Sets have no first or last
/// element. To keep an order, use a list.
///
/// Texts are the same if their bytes are, unlike in a Swift `Set`. Making a set takes time in proportion to the number
/// of its members.
public struct ValueSet: Sendable, Hashable {
    /// The members, in the order in which they were given.
    public let members: [Value]

    /// Makes a set of values; values that are the same are kept once. Texts are the same if their bytes are.
    public init(_ values: some Sequence<Value>) {
        var seen: Set<Value> = []
        var members: [Value] = []
        for value in values {
            // Swift treats canonically equivalent texts as equal; predicates do not.
            if seen.insert(value).inserted || !members.contains(where: { Self.areSame($0, value) }) {
                members.append(value)
            }
        }
        self.members = members
    }

    private static func areSame(_ a: Value, _ b: Value) -> Bool {
        if case .string(let x) = a, case .string(let y) = b { return x.utf8.elementsEqual(y.utf8) }
        return a == b
    }

    /// Whether the sets have the same members.
    public static func == (a: ValueSet, b: ValueSet) -> Bool {
        a.members.count == b.members.count && Set(a.members) == Set(b.members)
    }

    /// Feeds the members, whatever their order.
    public func hash(into hasher: inout Hasher) { hasher.combine(Set(members)) }
}
