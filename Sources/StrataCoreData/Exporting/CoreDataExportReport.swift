/// What an export of a Core Data store has done.
public struct CoreDataExportReport: Sendable, Hashable {
    /// The objects of an entity.
    public struct EntityCount: Sendable, Hashable {
        /// The name of the entity in the exported store.
        public let entity: String
        /// How many objects the Core Data store has, and how many the exported store has now, without those of entities that
        /// inherit from it.
        public let read: Int
        public let written: Int
    }

    /// The pairs of a relationship that is kept as pairs.
    public struct PairCount: Sendable, Hashable {
        /// The entity and the relationship, as `Author.books`.
        public let relationship: String
        /// How many pairs the Core Data store has, and how many the exported store has now.
        public let read: Int
        public let written: Int
    }

    /// Something that could not be taken over as it was.
    public struct Problem: Sendable, Hashable, CustomStringConvertible {
        /// What happened.
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// A value could not be converted; the property is nil.
            case value
            /// A required property has no value in the Core Data store, and none in the exported one.
            case missingValue
            /// A relationship leads to an object that is not there; it is nil, or lacks this object.
            case reference
            /// An object could not be written, because it breaks a constraint of the model.
            case object
        }

        /// What happened.
        public let kind: Kind
        /// The names of the entity and the property; the property is empty where the object is meant.
        public let entity: String
        public let property: String
        /// The key of the object; nil where many are meant.
        public let key: Int64?
        /// Why.
        public let reason: String

        /// The problem in words.
        public var description: String {
            let subject = property.isEmpty ? entity : "\(entity).\(property)"
            return "\(subject)\(key.map { " of object \($0)" } ?? ""): \(reason)"
        }
    }

    /// The entities that can have objects.
    public internal(set) var entities: [EntityCount] = []
    /// The relationships that are kept as pairs.
    public internal(set) var pairs: [PairCount] = []
    /// What could not be taken over, at most ``CoreDataStore/ExportOptions/maximumProblems``.
    public internal(set) var problems: [Problem] = []
    /// How many problems there are in all, by kind.
    public internal(set) var problemCounts: [Problem.Kind: Int] = [:]
    /// What SQLite finds wrong with the exported file: nothing, unless the disk is defective.
    public internal(set) var integrityProblems: [String] = []
    /// What is odd about the Core Data store, and what of its model has no counterpart.
    public internal(set) var warnings: [String] = []
    /// How long it took, in seconds.
    public internal(set) var seconds = 0.0

    /// Whether every object, value and reference has been taken over.
    public var isComplete: Bool {
        problemCounts.values.allSatisfy { $0 == 0 } && integrityProblems.isEmpty
            && entities.allSatisfy { $0.read == $0.written } && pairs.allSatisfy { $0.read == $0.written }
    }
}
