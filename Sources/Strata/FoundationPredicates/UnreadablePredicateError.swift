/// The error for a part of a Foundation predicate that has no meaning for stores.
///
///     extension City { var label: String { "\(name), \(country.name)" } }
///
///     do {
///         print(try context.fetch(try FetchRequest(predicate: #Predicate<City> { $0.label == "Lima, Peru" })))
///     } catch let error as UnreadablePredicateError {
///         print(error.part, error.reason)  // `label` is not a property of the model
///     }
///
/// ``FetchPredicate/init(_:)`` and ``FetchRequest/init(predicate:sortedBy:limit:offset:prefetch:)`` throw it, before anything
/// is fetched. Properties that your app computes, transformables, casts to a subclass and regular expressions cannot be read.
/// Use stored properties, filter the rest in Swift, or write the condition with typed keys, which the compiler checks.
public struct UnreadablePredicateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What cannot be read: the kind of expression, and what it is applied to.
    public let part: String
    /// Why, and what to do.
    public let reason: String

    /// Names the part and the reason.
    public init(part: String, reason: String) {
        self.part = part
        self.reason = reason
    }

    /// Part and reason.
    public var description: String { "the predicate's part \(part) cannot be read: \(reason)" }
}
