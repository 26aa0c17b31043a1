import Foundation
import Strata

/// A kind of store to be checked: how to open one, and what it does not support.
///
///     struct MyStores: ConformanceSubject {
///         let name = "My store"
///         func open(_ model: ManagedObjectModel, at place: URL) async throws -> any PersistentStore {
///             try MyStore(model: model, folder: place)
///         }
///     }
///     let report = await ConformanceSuite.standard.run(MyStores())
///     #expect(report.failures.isEmpty, "\(report)")
public protocol ConformanceSubject: Sendable {
    /// The name of the store in reports.
    var name: String { get }
    /// The features that the store lacks. Their checks are not run.
    var omissions: Set<ConformanceFeature> { get }
    /// The smallest difference between dates that the store keeps, in seconds; 0 if it keeps them exactly.
    var datePrecision: Double { get }
    /// Opens a store: an empty one the first time that a place is named, and after that the same one with what it holds.
    /// - Parameters:
    ///   - model: One of the kit's models. Which one belongs to a place does not change.
    ///   - place: A folder for only this store, which exists. A store that needs no files takes it as a name.
    func open(_ model: ManagedObjectModel, at place: URL) async throws -> any PersistentStore
}

extension ConformanceSubject {
    /// Nothing is left out.
    public var omissions: Set<ConformanceFeature> { [] }
    /// Dates are kept exactly.
    public var datePrecision: Double { 0 }
}

/// Strata's own store in a file.
public struct SQLiteFileSubject: ConformanceSubject {
    public let name = "SQLite file"
    /// Makes the subject.
    public init() {}
    public func open(_ model: ManagedObjectModel, at place: URL) async throws -> any PersistentStore {
        try SQLiteStore.open(model: model, location: .file(path: place.appendingPathComponent("store.sqlite").path))
    }
}

/// Strata's own store in memory.
public struct SQLiteMemorySubject: ConformanceSubject {
    public let name = "SQLite in memory"
    public let omissions: Set<ConformanceFeature> = [.persistence]
    /// Makes the subject.
    public init() {}
    public func open(_ model: ManagedObjectModel, at place: URL) async throws -> any PersistentStore {
        try SQLiteStore.open(model: model, location: .memory(name: nil))
    }
}
