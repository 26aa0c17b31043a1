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
///
/// The suite opens a new, empty store for each check, and opens some of them again at the same place to see what was saved.
/// Declare what the store lacks in ``omissions``, and how exact its dates are in ``datePrecision``; the defaults promise
/// everything.
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
    /// - Throws: An error if the store cannot be opened. The suite reports it.
    func open(_ model: ManagedObjectModel, at place: URL) async throws -> any PersistentStore
}

extension ConformanceSubject {
    /// Nothing is left out.
    public var omissions: Set<ConformanceFeature> { [] }
    /// Dates are kept exactly.
    public var datePrecision: Double { 0 }
}

/// Strata's own store in a file, as a subject of the conformance suite.
///
///     let report = await ConformanceSuite.standard.run(SQLiteFileSubject())
///     #expect(report.failures.isEmpty, "\(report)")
///
/// It supports every ``ConformanceFeature``, so it is the reference for the number of checks and for their time. Each check has
/// a folder of its own for the file, which is removed afterwards.
public struct SQLiteFileSubject: ConformanceSubject {
    public let name = "SQLite file"
    /// Makes the subject.
    public init() {}
    public func open(_ model: ManagedObjectModel, at place: URL) async throws -> any PersistentStore {
        try SQLiteStore.open(model: model, location: .file(path: place.appendingPathComponent("store.sqlite").path))
    }
}

/// Strata's own store in memory, as a subject of the conformance suite.
///
///     let reports = await [
///         ConformanceSuite.standard.run(SQLiteMemorySubject()), ConformanceSuite.standard.run(SQLiteFileSubject()),
///     ]
///     print(CapabilityMatrix(reports))
///
/// Run it next to your own store to compare the two: a check that fails for both is a defect of the check. It leaves out
/// ``ConformanceFeature/persistence``, because a store in memory is gone when it is closed.
public struct SQLiteMemorySubject: ConformanceSubject {
    public let name = "SQLite in memory"
    public let omissions: Set<ConformanceFeature> = [.persistence]
    /// Makes the subject.
    public init() {}
    public func open(_ model: ManagedObjectModel, at place: URL) async throws -> any PersistentStore {
        try SQLiteStore.open(model: model, location: .memory(name: nil))
    }
}
