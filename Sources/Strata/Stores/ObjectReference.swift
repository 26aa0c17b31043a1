import Foundation
import StrataStore

/// A weak reference to an object by key, kept as the value of an attribute. It leads to an object of any store of the
/// container, has no inverse and no delete rule, and may lead to an object that no longer exists.
///
///     Attribute("town", .uri, optional: true).references("Town")
///
///     visit.town = ObjectReference(town)
///     let found = try context.resolve(visit.town)  // nil once the town is deleted
///     let visits = try context.fetch(Visit.where { $0.town == ObjectReference(town) })
///
/// References are equal if they lead to the same object. They hold the identity of the store: an object in memory has
/// another one in the next run of the program.
public struct ObjectReference<Object: ManagedObject>: Sendable, Hashable, CustomStringConvertible {
    /// What the store keeps: `strata://<store>/<entity>/<key>`, with the topmost entity of the hierarchy.
    public let uri: URL

    /// Refers to an object. The object need not be saved.
    public init(_ object: Object) { self.init(object.objectID) }

    /// Refers to the object of an ID.
    public init(_ id: ObjectID) {
        // One spelling for each object: an ID may name the entity of the object, or one that it inherits from.
        uri = id.canonicalURI
    }

    private init(uri: URL) { self.uri = uri }

    /// The reference as its store keeps it.
    public var description: String { uri.absoluteString }
}

extension ObjectReference: RowValue, ComparableAttribute, PredicateArgument {
    /// References compare with references to objects of the same class.
    public typealias Wrapped = ObjectReference<Object>

    /// The URI, boxed.
    public var attributeValue: Value { .uri(uri) }
    /// Takes a URI.
    public init?(_ value: Value) {
        guard let uri = URL(value) else { return nil }
        self.init(uri: uri)
    }
    /// A reference to no object.
    public static var zeroValue: ObjectReference { ObjectReference(uri: .zeroValue) }
    /// The URI.
    public var predicateArgument: Value { .uri(uri) }

    /// Reads the URI; ``zeroValue`` for any other text.
    public static func load(_ row: RowPointer, _ slot: Int) -> ObjectReference {
        ObjectReference(uri: URL.load(row, slot))
    }
    /// Reads the URI; nil for any other text.
    public static func validated(_ row: RowPointer, _ slot: Int) -> ObjectReference? {
        URL.validated(row, slot).map(ObjectReference.init(uri:))
    }
    /// Writes the URI.
    public func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription]) {
        uri.store(to: &slab, slot, layout())
    }
}
