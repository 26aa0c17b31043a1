/// A `Codable` type into which Foundation's `#Predicate` can look: `$0.settings.theme == "dark"`.
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
public protocol PredicateMembers {
    /// The members that predicates can look at.
    static var propertyKeyPaths: PropertyKeyPaths { get }
}
