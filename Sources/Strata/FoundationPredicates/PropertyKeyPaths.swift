/// The Swift key paths of the properties of an entity, with their names: what generated classes declare, so that
/// Foundation's predicates can be read.
///
///     final class Harbour: ManagedObject {
///         override class var entityName: String { "Harbour" }
///         override class var propertyKeyPaths: PropertyKeyPaths {
///             PropertyKeyPaths("name depth", [\Harbour.name, \Harbour.depth])
///         }
///         var name: String { self["name"] as? String ?? "" }
///         var depth: Double { self["depth"] as? Double ?? 0 }
///     }
///
/// You need it only for classes that you write by hand (``ManagedObject/propertyKeyPaths``), and for `Codable` types
/// (``PredicateMembers``). Key paths as ``UpsertKey`` use the same table.
///
/// A key path of a computed property does not know its name, but it is equal to every other key path of that property.
public struct PropertyKeyPaths {
    private let names: [Substring]
    private let keyPaths: [AnyKeyPath]

    /// Pairs names, separated by spaces or line breaks, with key paths. Elements of composites are named `address.street` and have
    /// the key path from the composite.
    public init(_ names: String, _ keyPaths: [AnyKeyPath]) {
        self.names = names.split(whereSeparator: \.isWhitespace)
        self.keyPaths = keyPaths
    }

    /// The name of the property; nil if the key path leads to none, such as one that the application computes.
    public func name(of keyPath: AnyKeyPath) -> String? {
        keyPaths.firstIndex(of: keyPath).map { String(names[$0]) }
    }
}
