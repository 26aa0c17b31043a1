/// The unplanned loads of a piece of code, and the relationships that it prefetched without reading them.
///
///     let (lines, report) = try context.recordingLoads {
///         try context.fetch(FetchRequest<Country>()).map { "\($0.name): \($0.cities.count)" }
///     }
///     if !report.isClean { print(report) }  // prefetch `cities` in the fetch that found the objects
///
/// ``ManagedObjectContext/recordingLoads(callers:_:)`` returns it. Print it while you develop, or check in a test that it is
/// clean. Look at ``repeatedLoads`` first: a load for one object each, again and again, is a loop that runs a statement for
/// each object. A single load for many objects is one statement, and often good enough.
///
/// A report lists the first ``limit`` loads and counts the others in ``loadCount``. Recording costs a little for each access,
/// so leave it out of release builds.
public struct LoadReport: Sendable {
    /// A load for one object that came again and again from the same place.
    public struct RepeatedLoad: Sendable, Hashable, CustomStringConvertible {
        /// The entity of the objects whose property was used.
        public let entityName: String
        /// The relationship that was read; nil if it was the row of the object itself.
        public let relationshipName: String?
        /// The place in the program, if it is known.
        public let caller: String?
        /// How often it happened, 2 or more.
        public let count: Int

        /// What was loaded, how often, where, and how to avoid it.
        public var description: String {
            let place = caller.map { " at \($0)" } ?? ""
            if let relationshipName {
                return "\(entityName).\(relationshipName) was loaded \(count) times for one object each\(place); "
                    + "prefetch \(relationshipName) in the fetch that found the objects"
            }
            return
                "\(count) objects of \(entityName) were loaded one by one\(place); fetch them together, or prefetch the "
                + "relationship that leads to them"
        }
    }

    /// A relationship that a fetch prefetched and the code never read.
    public struct UnreadRelationship: Sendable, Hashable, CustomStringConvertible {
        /// The entity of the objects that have the relationship.
        public let entityName: String
        /// The relationship.
        public let relationshipName: String
        /// For how many objects it was read.
        public let objectCount: Int
        /// The place in the program that asked for it, if it is known.
        public let caller: String?

        /// What was read in vain, for how many objects, and what to do.
        public var description: String {
            "\(entityName).\(relationshipName) was prefetched for \(objectCount) objects"
                + "\(caller.map { " at \($0)" } ?? "") and never read; leave it out of the fetch"
        }
    }

    /// The loads, in the order in which they came: the first ``limit`` of them.
    public internal(set) var loads: [UnplannedLoad] = []
    /// How many loads there were.
    public internal(set) var loadCount = 0
    /// Relationships that were prefetched and never read, by entity and name.
    public internal(set) var unreadRelationships: [UnreadRelationship] = []

    /// The maximum number of loads that a report lists.
    public static let limit = 10_000

    /// Loads for one object each that came more than once from the same place, the most frequent first.
    public var repeatedLoads: [RepeatedLoad] {
        struct Origin: Hashable {
            let entity: String
            let relationship: String?
            let caller: String?
        }
        var counts: [Origin: Int] = [:]
        for load in loads where load.objectCount == 1 {
            counts[
                Origin(entity: load.entityName, relationship: load.relationshipName, caller: load.caller), default: 0] +=
                1
        }
        let repeated = counts.filter { $0.value > 1 }.map {
            RepeatedLoad(
                entityName: $0.key.entity, relationshipName: $0.key.relationship, caller: $0.key.caller, count: $0.value
            )
        }
        return repeated.sorted { ($1.count, $0.description) < ($0.count, $1.description) }
    }

    /// Whether nothing was loaded without a plan, and nothing was prefetched in vain.
    public var isClean: Bool { loadCount == 0 && unreadRelationships.isEmpty }
}

extension LoadReport: CustomStringConvertible {
    /// Repeated loads first, then the others, then unread relationships; one per line, each with advice.
    public var description: String {
        guard !isClean else { return "no unplanned loads, and nothing prefetched that was not read" }
        let repeated = repeatedLoads
        let single = loads.filter { load in
            load.objectCount > 1
                || !repeated.contains {
                    ($0.entityName, $0.relationshipName, $0.caller) == (
                        load.entityName, load.relationshipName, load.caller
                    )
                }
        }
        var lines = repeated.map(\.description) + single.map(\.description) + unreadRelationships.map(\.description)
        if loadCount > loads.count { lines.append("\(loadCount - loads.count) further loads are not listed") }
        return lines.joined(separator: "\n")
    }
}
