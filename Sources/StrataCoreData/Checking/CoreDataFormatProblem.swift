public import StrataSQLite

/// A rule of Core Data's format that a store breaks.
public struct CoreDataFormatProblem: Sendable, Hashable, CustomStringConvertible {
    /// What the rule is about.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The file itself: pages, indexes, settings.
        case file
        /// `Z_METADATA`: versions, hashes, digest, checksum.
        case metadata
        /// `Z_PRIMARYKEY`: entities, their numbers and highest keys.
        case entities
        /// Tables, columns and indexes.
        case tables
        /// The columns `Z_PK`, `Z_ENT` and `Z_OPT` of rows.
        case rows
        /// The kinds of values.
        case values
        /// References to objects, and the columns that say of which entity these are.
        case references
        /// The places in ordered relationships.
        case order
        /// Pairs of many-to-many relationships.
        case pairs
        /// Values in files of their own.
        case externalFiles
    }

    /// What the rule is about.
    public let kind: Kind
    /// The table, column or entity.
    public let subject: String
    /// What is wrong there, with the number of rows.
    public let reason: String

    /// The problem in words.
    public var description: String { "\(subject): \(reason)" }
}

extension CoreDataStore {
    /// Checks a store against the rules of Core Data's format. The file is only read.
    ///
    ///     for problem in try CoreDataStore.check(at: "Notes.sqlite") { print(problem) }
    ///
    /// Use it after writing, or before you give a store to Core Data. Stores that Core Data migrated can break some rules,
    /// for instance have highest keys that are too low.
    /// - Parameters:
    ///   - path: The file of the store.
    ///   - model: Where the model comes from.
    /// - Returns: What breaks a rule; empty if nothing does.
    /// - Throws: As ``open(path:model:as:options:)``.
    public static func check(
        at path: String, model: CoreDataModelSource = .automatic
    ) throws(StoreError) -> [CoreDataFormatProblem] {
        let file = try CoreDataFile(path: path, model: model, options: Options())
        return try file.database.inspect { (connection) throws(StoreError) in
            var checker = FormatChecker(file: file, connection: connection)
            return try checker.run()
        }
    }
}
