import Foundation

extension FetchPredicate {
    /// Reads a predicate of Foundation's `#Predicate` macro.
    ///
    ///     let predicate = try FetchPredicate(#Predicate<City> { $0.country.name == "Peru" && $0.population > 100_000 })
    ///
    /// The properties of generated classes are read, comparisons, logic, arithmetic, optional chaining and `??`,
    /// `contains`, `starts(with:)`, `isEmpty`, `contains(where:)`, `allSatisfy`, `filter` and `count` of to-many
    /// relationships, ranges, `?:`, and captured values. Text is compared by its bytes, and what traps in Swift, such as
    /// a division by zero or `!` of nil, is nil here.
    /// - Throws: An ``UnreadablePredicateError`` that names the part that has no meaning for stores.
    public init<Object: ManagedObject>(_ predicate: Predicate<Object>) throws(UnreadablePredicateError) {
        let reader = PredicateReader(variables: [predicate.variable.key: .value(.evaluatedObject)])
        self = try reader.condition(predicate.expression)
    }
}

extension FetchRequest {
    /// Asks for the objects that meet a predicate of Foundation's `#Predicate` macro; see
    /// ``FetchPredicate/init(_:)``.
    /// - Throws: An ``UnreadablePredicateError`` that names the part that has no meaning for stores.
    public init(
        predicate: Predicate<Object>, sortedBy sorts: [FetchSort] = [], limit: Int? = nil, offset: Int = 0,
        prefetch: [any PrefetchPath] = []
    ) throws(UnreadablePredicateError) {
        self.init(
            where: try FetchPredicate(predicate), sortedBy: sorts, limit: limit, offset: offset, prefetch: prefetch)
    }
}
