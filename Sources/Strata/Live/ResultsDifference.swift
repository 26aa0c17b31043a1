/// The difference between two states of a live result.
///
///     let results = try context.live(City.where { $0.population > 100_000 })
///     var ids: [ObjectID] = []
///     for try await update in results.updates {
///         ids = update.isInitial ? update.snapshot.ids : update.difference.apply(to: ids)
///         for delete in update.difference.deletes { print("row \(delete.from.index):", delete.reason) }
///     }
///
/// You get it in a ``ResultsUpdate``. Each object is in at most one of ``deletes``, ``inserts``, ``moves`` and ``updates``.
///
/// Deletes and the origins of moves are positions before, inserts and destinations of moves positions after. To apply it,
/// remove the former from the last to the first, insert the latter from the first to the last; ``apply(to:)`` does so.
/// An index that shifts because neighbors are inserted or deleted is not a move. For views such as `UITableView`, use
/// ``batchUpdates``.
public struct ResultsDifference: Sendable {
    /// Why an object left the result.
    public enum Reason: Sendable, Hashable {
        /// It was deleted, here or elsewhere.
        case deleted
        /// It no longer meets the condition.
        case noLongerMatches
        /// It still matches, but other objects took its place within the limit.
        case pushedOut
    }

    /// An object that left the result.
    public struct Delete: Sendable, Hashable {
        /// The object.
        public let id: ObjectID
        /// Where it was.
        public let from: ResultsPosition
        /// Why it left.
        public let reason: Reason
    }

    /// An object that came into the result.
    public struct Insert: Sendable, Hashable {
        /// The object.
        public let id: ObjectID
        /// Where it is.
        public let to: ResultsPosition
    }

    /// An object that is in the result before and after.
    public struct Change: Sendable, Hashable {
        /// The object.
        public let id: ObjectID
        /// Where it was.
        public let from: ResultsPosition
        /// Where it is.
        public let to: ResultsPosition
        /// The properties that changed, and the paths through relationships whose value changed, `author.name`. Empty if it
        /// is not known what changed.
        public let changedKeys: Set<String>
    }

    /// Objects that left, by position.
    public internal(set) var deletes: [Delete] = []
    /// Objects that came, by position.
    public internal(set) var inserts: [Insert] = []
    /// Objects that changed their place among those that stayed, or their section, by position after.
    public internal(set) var moves: [Change] = []
    /// Objects whose values changed, but not their place, by position after.
    public internal(set) var updates: [Change] = []
    /// The sections that are gone: positions before.
    public internal(set) var deletedSections: [Int] = []
    /// The sections that are new: positions after.
    public internal(set) var insertedSections: [Int] = []

    /// Whether nothing changed.
    public var isEmpty: Bool {
        deletes.isEmpty && inserts.isEmpty && moves.isEmpty && updates.isEmpty && deletedSections.isEmpty
            && insertedSections.isEmpty
    }

    /// Applies the difference to a list of IDs.
    ///
    ///     var ids = [ObjectID]()
    ///     let results = try context.live(FetchRequest<City>(limit: 50))
    ///     for try await update in results.updates where !update.isInitial { ids = update.difference.apply(to: ids) }
    ///
    /// - Parameter ids: The IDs of the state before; another list is a programmer error.
    /// - Returns: The IDs of the state after.
    public func apply(to ids: [ObjectID]) -> [ObjectID] {
        var result = ids
        for position in (deletes.map(\.from.index) + moves.map(\.from.index)).sorted(by: >) {
            result.remove(at: position)
        }
        let arrivals = inserts.map { ($0.to.index, $0.id) } + moves.map { ($0.to.index, $0.id) }
        for (position, id) in arrivals.sorted(by: { $0.0 < $1.0 }) { result.insert(id, at: position) }
        return result
    }
}

extension ResultsDifference {
    /// The difference as list views apply it in one batch: see ``ResultsDifference/batchUpdates``.
    public struct BatchUpdates: Sendable {
        /// Sections to delete: positions before.
        public internal(set) var deletedSections: [Int] = []
        /// Sections to insert: positions after.
        public internal(set) var insertedSections: [Int] = []
        /// Rows to delete: positions before. Those of deleted sections are not listed.
        public internal(set) var deletes: [ResultsPosition] = []
        /// Rows to insert: positions after. Those of inserted sections are not listed.
        public internal(set) var inserts: [ResultsPosition] = []
        /// Rows to move. Their content is the same.
        public internal(set) var moves: [(from: ResultsPosition, to: ResultsPosition)] = []
        /// Rows to load again in a second batch: positions after.
        public internal(set) var reloads: [ResultsPosition] = []
    }

    /// The difference in the form that list views such as `UITableView` accept: no row is named twice in one batch. A row
    /// that moves into a new section or out of one that goes is deleted and inserted; one that moves and shows other values
    /// is, too.
    public var batchUpdates: BatchUpdates {
        var result = BatchUpdates()
        result.deletedSections = deletedSections
        result.insertedSections = insertedSections
        let gone = Set(deletedSections)
        let new = Set(insertedSections)
        func delete(_ position: ResultsPosition) {
            if !gone.contains(position.section) { result.deletes.append(position) }
        }
        func insert(_ position: ResultsPosition) {
            if !new.contains(position.section) { result.inserts.append(position) }
        }
        for item in deletes { delete(item.from) }
        for item in inserts { insert(item.to) }
        for move in moves {
            if gone.contains(move.from.section) || new.contains(move.to.section) || !move.changedKeys.isEmpty {
                delete(move.from)
                insert(move.to)
            } else {
                result.moves.append((move.from, move.to))
            }
        }
        result.reloads = updates.map(\.to).filter { !new.contains($0.section) }
        return result
    }
}

/// One step of a live result: both states, and the difference between them.
///
///     let results = try context.live(City.where { $0.population > 100_000 })
///     for try await update in results.updates {
///         if update.isInitial { print("\(update.snapshot.count) cities"); continue }
///         for insert in update.difference.inserts { print("new at \(insert.to.index): \(insert.id)") }
///     }
///
/// ``FetchedResults/updates`` gives them, and ``FetchedResultsDelegate`` receives them. The first one that a sequence gives is
/// the state at the beginning, without a difference. A step is a value with IDs; to get at the objects, read the live result,
/// which already shows the state after.
///
/// If you are slow, several steps become one, from the state that you saw last to the newest. ``number`` skips values then.
public struct ResultsUpdate: Sendable {
    /// The number of the step of this result. A slow reader misses some numbers.
    public let number: Int
    /// Whether this is the state at the beginning, which no difference led to.
    public let isInitial: Bool
    /// The state before.
    public let previous: ResultsSnapshot
    /// The state after.
    public let snapshot: ResultsSnapshot
    /// What changed from the state before to the state after; empty for the initial state.
    public let difference: ResultsDifference
}
