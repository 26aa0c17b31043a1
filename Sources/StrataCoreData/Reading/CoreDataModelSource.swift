public import StrataCoreDataModel

/// Where the model of a Core Data store comes from.
///
///     let store = try CoreDataStore.open(path: "Notes.sqlite", model: .file(path: "Notes.xcdatamodeld"))
public enum CoreDataModelSource: Sendable, Hashable {
    /// The copy of the model that stores since 2015 have in them; if there is none, what the tables show.
    case automatic
    /// A file: `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`. Of several versions it is the one whose hashes the store has.
    case file(path: String)
    /// A model that you have read.
    case model(CoreDataModelFile)
    /// What the tables show: the entities, and attributes and relationships with names in small letters. Truth values are
    /// whole numbers, transformable values are bytes, and what entities inherit from their parent stands with the parent.
    case inferred
}

/// The model of a store, and how it was found.
public struct CoreDataStoreModel: Sendable, Hashable {
    /// How a model was found.
    public enum Origin: Sendable, Hashable {
        /// In the store.
        case cache
        /// In a file, as one of its versions.
        case file(version: String)
        /// It was given.
        case given
        /// By the tables.
        case inferred
    }

    /// The model.
    public var file: CoreDataModelFile
    /// How it was found.
    public var origin: Origin
    /// Whether the version hashes of all entities are those of the store; nil if they cannot be compared, because the store
    /// has none, the model was inferred, or an entity has a feature whose part in the hash is not known.
    public var hasMatchingHashes: Bool?
}
