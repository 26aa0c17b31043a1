/// One requirement of a store, as a check with a name.
///
///     let saving = ConformanceSuite(checks: ConformanceSuite.standard.checks.filter { $0.area == .saving })
///     let report = await saving.run(SQLiteMemorySubject())
///
/// A ``ConformanceSuite`` runs checks; each starts with an empty store and works through a context, as an app does. While you
/// write a store, run only the checks of one ``area``, or the one with the ``name`` that failed. A check with ``needs`` that
/// the subject leaves out is not run. You cannot write checks of your own with this type: use your test framework for them.
public struct ConformanceCheck: Sendable {
    /// What kind of ability it is about: a line of the capability matrix.
    public enum Area: String, Sendable, Hashable, CaseIterable {
        case values = "values of every type"
        case fetching = "conditions"
        case sorting = "order and pages"
        case counting = "counts and identities"
        case aggregates = "values and groups"
        case keys = "keys"
        case saving = "saving"
        case conflicts = "conflicts"
        case uniqueness = "unique keys"
        case toOne = "to-one"
        case toMany = "to-many"
        case manyToMany = "many-to-many"
        case ordered = "ordered to-many"
        case inheritance = "inheritance"
        case geo = "geo"
        case life = "opening and closing"
        case threads = "threads"
    }

    /// The name, unique in a suite.
    public let name: String
    /// What kind of ability it is about.
    public let area: Area
    /// What a store must have for the check to make sense.
    public let needs: Set<ConformanceFeature>
    let body: @Sendable (ConformanceTrial) throws -> Void

    init(
        _ area: Area, _ name: String, needs: Set<ConformanceFeature> = [],
        _ body: @escaping @Sendable (ConformanceTrial) throws -> Void
    ) {
        self.name = name
        self.area = area
        self.needs = needs
        self.body = body
    }
}
