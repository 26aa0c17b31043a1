/// A `Codable` type whose members Foundation's `#Predicate` can use in conditions: `$0.settings.theme == "dark"`.
///
/// The generator conforms the types whose members the model file lists. A type of your own names those members whose
/// names are the keys in the JSON text:
///
///     struct Settings: Codable {
///         var theme: String
///         var fontSize: Int
///     }
///     extension Settings: PredicateMembers {
///         static var propertyKeyPaths: PropertyKeyPaths { PropertyKeyPaths("theme fontSize", [\Settings.theme, \Settings.fontSize]) }
///     }
///
/// A member that you do not name makes the predicate unreadable: reading it throws an ``UnreadablePredicateError``. If you use
/// typed keys instead of `#Predicate`, you do not need the protocol; see ``JSONKey``.
public protocol PredicateMembers {
    /// The members that predicates can use, with their names in the JSON text.
    static var propertyKeyPaths: PropertyKeyPaths { get }
}
