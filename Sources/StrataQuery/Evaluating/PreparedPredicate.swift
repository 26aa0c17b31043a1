/// A condition that is evaluated for many objects.
///
/// Long constant lists, as in `key IN {…}`, are searched by hash: to look for n keys among n objects takes time in
/// proportion to n.
package struct PreparedPredicate {
    private let predicate: FetchPredicate
    private let environment: EvaluationEnvironment
    private let lists = ConstantLists()

    /// - Parameter environment: What `now()` means for all of the objects.
    package init(_ predicate: FetchPredicate, _ environment: EvaluationEnvironment) {
        self.predicate = predicate
        self.environment = environment
    }

    /// Whether the condition holds for an object; see ``FetchPredicate/evaluate(on:variables:environment:)``.
    package func evaluate(on source: some PropertySource) throws(PredicateEvaluationError) -> Bool {
        try PredicateEvaluator(source, [:], environment, lists).holds(predicate)
    }
}

/// The constant lists and sets of one predicate, by hash.
final class ConstantLists {
    /// By the address of a list's elements, which stays the same and is that of no other list as long as the predicate
    /// lives: to hash a list itself would take as long as to search it.
    private var tables: [UnsafeRawPointer: ElementTable] = [:]
    /// Shorter lists are searched faster one by one.
    private static let leastCount = 16

    /// Whether a value is an element of a constant; nil if the constant is not a long list or set.
    func contains(_ value: Evaluated, in constant: Value) -> Bool? {
        let elements: [Value]
        switch constant {
        case .list(let values): elements = values
        case .set(let set): elements = set.members
        default: return nil
        }
        guard elements.count >= Self.leastCount,
            let address = elements.withUnsafeBufferPointer({ UnsafeRawPointer($0.baseAddress) })
        else { return nil }
        guard !value.isNull else { return false }
        if let table = tables[address] { return table.contains(value.value) }
        let table = ElementTable(elements)
        tables[address] = table
        return table.contains(value.value)
    }
}
