import Observation

/// The result of a request that stays up to date: objects in their order, in sections if you like, and what changes in them,
/// exactly.
///
///     let cities = try context.live(City.where { $0.population > 100_000 }.sorted(by: City.keys.name.ascending))
///     for city in cities { print(city.name) }
///     for try await update in cities.updates { table.apply(update.difference) }
///
/// It shows what a fetch through its context would find, as of the last boundary: unsaved changes of the context count, and
/// what others saved counts once the context has merged it (``ManagedObjectContext/automaticallyMergesChanges``). It reacts
/// to changes of related objects that the condition, the order or the sections look at, too. A change costs time for what
/// changed, not for the length of the list.
///
/// You can follow it in four ways: with the sequence ``updates``, with a ``delegate``, with Observation (every property
/// can be observed, by SwiftUI for instance), or by reading it when you need it. It keeps its objects and its context
/// alive, and lives where the context lives.
public final class FetchedResults<Object: ManagedObject>: Observable {
    /// The context.
    public let context: ManagedObjectContext
    /// What is asked for. See ``change(to:)``.
    public private(set) var request: FetchRequest<Object>
    /// The key that forms the sections; nil for a list without sections.
    public let sectionKey: FetchExpression?
    /// Whom to notify of changes, once all live results of the context have applied them.
    public weak var delegate: (any FetchedResultsDelegate)?

    let list: LiveList
    private let registrar = ObservationRegistrar()
    /// Kept, because a generic class builds a key path at each use, and that takes longer than the rest of a read.
    private let snapshotPath: KeyPath<FetchedResults, ResultsSnapshot> = \.snapshot

    init(_ request: FetchRequest<Object>, sectionKey: FetchExpression?, in context: ManagedObjectContext)
        throws(PersistenceError)
    {
        self.context = context
        self.request = request
        self.sectionKey = sectionKey
        let core = context.core
        core.processPendingChanges()
        list = try LiveList(try Self.query(request, sectionKey, core), core: core)
        core.someRecorder.add(list)
        list.onStep = { [weak self] update in self?.stepped(update) }
    }

    /// The plan of a request with sections: what makes them comes first in the order.
    private static func query(
        _ request: FetchRequest<Object>, _ sectionKey: FetchExpression?, _ core: ContextCore
    ) throws(PersistenceError) -> LiveQuery {
        var request = request
        if let sectionKey, request.sorts.first?.expression != sectionKey {
            request.sorts.insert(FetchSort(sectionKey), at: 0)
        }
        let plan = try core.planner.plan(for: request)
        let binding = core.binding(at: plan.entityIndex)
        guard binding.isClosed, binding.objectClass is Object.Type else {
            throw .invalidFetch(
                entity: binding.entity.name,
                reason: "a live result of \(Object.self) would meet objects of another class; ask for ManagedObject")
        }
        return LiveQuery(plan, hasSections: sectionKey != nil, model: core.model)
    }

    private func stepped(_ update: ResultsUpdate?) {
        registrar.withMutation(of: self, keyPath: snapshotPath) {}
        guard let update else { return }
        delegate?.results(self, didChange: update)
    }

    /// IDs and sections as they are now: a value that you can send anywhere.
    public var snapshot: ResultsSnapshot {
        registrar.access(self, keyPath: snapshotPath)
        return list.snapshot
    }

    /// The sections in their order; one of all objects without a section key, and none if there are no objects.
    public var sections: [ResultsSection] { snapshot.sections }

    /// Why the result no longer follows its context: the store failed while it had to be asked. nil as long as it does.
    /// ``change(to:)`` starts over.
    public var failure: PersistenceError? {
        registrar.access(self, keyPath: snapshotPath)
        return list.failure
    }

    /// Where an object is; nil if it is not in the result.
    public func position(of object: Object) -> ResultsPosition? {
        let snapshot = snapshot
        guard let entry = list.members[object.key]?.entry, list.members[object.key]?.object === object else {
            return nil
        }
        let index = snapshot.entries.position(of: entry)
        guard snapshot.window.contains(index) else { return nil }
        return snapshot.runs.place(index - snapshot.window.lowerBound)
    }

    /// Replaces the request. Readers and delegates get the difference like any other.
    ///
    ///     let cities = try context.live(FetchRequest<City>(limit: 50))
    ///     try cities.change(to: City.where { $0.name.contains("Lima") })  // one fetch; `updates` gives the difference
    ///
    /// - Throws: As ``ManagedObjectContext/live(_:sectionedBy:)``; the result stays as it was then.
    public func change(to request: FetchRequest<Object>) throws(PersistenceError) {
        let core = context.core
        core.processPendingChanges()
        try list.replace(try Self.query(request, sectionKey, core), core: core)
        self.request = request
    }

    /// Every step from now on, beginning with the state as it is; see ``ResultsUpdates``.
    public var updates: ResultsUpdates { ResultsUpdates(context: context, list: list) }
}

extension FetchedResults: RandomAccessCollection {
    /// The position of the first object: 0.
    public var startIndex: Int { 0 }
    /// The number of objects.
    public var endIndex: Int { snapshot.count }

    /// The object at a position. A position outside of the result is a programmer error.
    public subscript(position: Int) -> Object {
        let snapshot = snapshot
        return object(snapshot.entries[snapshot.window.lowerBound + position])
    }

    /// The objects of a section.
    public subscript(section: ResultsSection) -> [Object] {
        let snapshot = snapshot
        let start = snapshot.window.lowerBound
        let range = section.range.clamped(to: 0..<snapshot.count)
        return snapshot.entries.slice((start + range.lowerBound)..<(start + range.upperBound)).map(object)
    }

    /// The objects one after the other, as they are at the beginning.
    public func makeIterator() -> IndexingIterator<[Object]> { snapshot.visible.map(object).makeIterator() }

    private func object(_ entry: LiveEntry) -> Object {
        guard let object = list.members[entry.key]?.object as? Object else {
            fatalError("a live result shows \(entry.identity), which it does not keep")
        }
        return object
    }
}

/// Receives the steps of live results, in the isolation of their context.
///
///     final class CityTable: FetchedResultsDelegate {
///         func results<Object: ManagedObject>(_ results: FetchedResults<Object>, didChange update: ResultsUpdate) {
///             for insert in update.difference.inserts { print("new:", insert.id) }
///         }
///     }
///     let delegate = CityTable()
///     let cities = try context.live(FetchRequest<City>(limit: 50))
///     cities.delegate = delegate
///
/// Use a delegate in a view controller that applies each step immediately. In asynchronous code,
/// ``FetchedResults/updates`` is shorter, and SwiftUI observes a live result without a delegate.
///
/// A class of the main actor conforms with `@MainActor`: `final class CityTable: UIViewController, @MainActor FetchedResultsDelegate`.
/// Its live results belong to the view context.
///
/// One object can be the delegate of several results; compare `results` to tell them apart. It is called at a boundary, after
/// all live results of the context have taken their new state, and not for the initial state. The result holds it weakly, so
/// keep it yourself.
public protocol FetchedResultsDelegate: AnyObject {
    /// A live result has changed. Fetches and changes that you make here do not cause a step within this one.
    /// - Parameters:
    ///   - results: The live result, which already shows the state after.
    ///   - update: The states before and after, and the difference.
    func results<Object: ManagedObject>(_ results: FetchedResults<Object>, didChange update: ResultsUpdate)
}

extension ManagedObjectContext {
    /// Fetches, and keeps the result up to date for as long as you keep it.
    ///
    ///     let cities = try context.live(FetchRequest<City>(), sectionedBy: City.keys.country.name)
    ///
    /// Limit and offset of the request hold at any time. Relationships to prefetch and store-specific options are
    /// ignored here: over a remote store, the result shows the mirror and follows it as rows arrive. A context that
    /// does not merge the commits of others (``automaticallyMergesChanges``) shows only what changes in itself.
    ///
    /// Unsaved changes show at the next boundary: a save, the end of a `perform`, or ``processPendingChanges()``; see
    /// ``changes``. A child context with a live result follows its parent at the parent's boundaries.
    /// - Parameter sectionKey: What objects of one section have in common. It is the first criterion of the order, added if
    ///   the request does not name it.
    /// - Throws: As `fetch`; ``PersistenceError/invalidFetch(entity:reason:)`` also if the entity has objects that are not of
    ///   the class.
    public func live<T>(
        _ request: FetchRequest<T>, sectionedBy sectionKey: (any PredicateOperand)? = nil
    ) throws(PersistenceError) -> FetchedResults<T> {
        try FetchedResults(request, sectionKey: sectionKey?.expression, in: self)
    }
}
