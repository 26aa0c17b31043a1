/// A read of the store that the use of a property caused: it was not part of a fetch, a prefetch or a save.
///
///     container.onUnplannedLoad = { load in
///         if load.objectCount == 1 { print(load) }
///     }
///
/// Strata reads for a whole batch, so one such load for 1,000 objects that were fetched together is cheap. Many loads for
/// one object each are not: that is the loop with a query in it that other tools call *N + 1*.
///
/// A load counts whether or not the container's row cache can answer it, so that counts do not depend on what ran before.
public struct UnplannedLoad: Sendable, Hashable {
    /// The object whose property was used.
    public let objectID: ObjectID
    /// The relationship that was read; nil if it was the row of the object itself, which was a fault.
    public let relationshipName: String?
    /// For how many objects the store was asked together, 1 or more.
    public let objectCount: Int
    /// The place in the program that used the property, if a ``CallerSource`` was there to find it.
    public let caller: String?

    /// The entity of the object.
    public var entityName: String { objectID.entity.name }
}

extension UnplannedLoad: CustomStringConvertible {
    /// What was read, for how many objects, where, and how to avoid it.
    public var description: String {
        let what = relationshipName.map { "the relationship \(entityName).\($0)" } ?? "the row of \(objectID)"
        let advice =
            relationshipName == nil
            ? "fetch the object, or prefetch the relationship that leads to it"
            : "prefetch the relationship in the fetch"
        let objects = objectCount == 1 ? "1 object" : "\(objectCount) objects"
        return "\(what) was loaded for \(objects)\(caller.map { " at \($0)" } ?? ""); \(advice)"
    }
}

/// Finds the place in the program that uses a property, so that a report of unplanned loads can name it.
///
///     let callers = CallerSource { Thread.callStackSymbols.first { $0.contains("Gazetteer") } }
///     let (_, report) = context.recordingLoads(callers: callers) { cities.map(\.country.name) }
///     for load in report.loads { print(load.caller ?? "unknown place") }
///
/// Pass one to ``ManagedObjectContext/withStrictLoading(callers:_:)`` or ``ManagedObjectContext/recordingLoads(callers:_:)``;
/// without it, loads have no ``UnplannedLoad/caller``. `StrataTesting` has one that knows source lines,
/// `CallerSource.sourceLines`. A lookup takes milliseconds for each load, so use it in tests and during development only.
public struct CallerSource: Sendable {
    let find: @Sendable () -> String?

    /// Creates a source.
    /// - Parameter find: Called while the property is being used, on the same thread. Returns `File.swift:12`, or whatever
    ///   tells a reader the place; nil if it is not known.
    public init(_ find: @escaping @Sendable () -> String?) { self.find = find }
}
