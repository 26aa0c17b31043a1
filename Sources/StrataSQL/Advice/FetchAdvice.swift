import StrataStore

/// Whether a fetch reads more than it finds, why, and what would help.
public struct FetchAdvice: Sendable, Hashable {
    /// A table of which every row is read.
    public struct FullScan: Sendable, Hashable {
        /// The entity whose table is read.
        public let entity: String
        /// The table.
        public let table: String
        /// The step of the query plan.
        public let step: String
        /// Why no index leads to the rows that are asked for.
        public let reasons: [Reason]
    }

    /// Why a part of the condition cannot be looked up in an index.
    public struct Reason: Sendable, Hashable {
        /// The kinds of reasons.
        public enum Code: String, Sendable, Hashable, CaseIterable {
            /// An index would serve, but there is none that begins with the property.
            case noIndex
            /// There is no spatial index of the point.
            case noSpatialIndex
            /// There is no full-text index of the text.
            case noFullTextIndex
            /// Text is compared by options that no index has, such as `[c]`.
            case textOptions
            /// A pattern that begins with a wildcard.
            case leadingWildcard
            /// A pattern or a regular expression, which is tried on each value.
            case pattern
            /// A part is looked for inside or at the end of a text.
            case insideText
            /// Not the property itself is compared, but what a function or arithmetic makes of it.
            case function
            /// An inequality matches almost every row.
            case inequality
            /// The members of a to-many relationship are looked at for each object again.
            case collection
            /// Two properties of the same object are compared.
            case twoProperties
            /// All points are ordered by their distance.
            case nearest
            /// The table has rows of other entities, which are passed over.
            case otherEntities
            /// The first objects in an order that no index has.
            case order
            /// An index is there, but the engine rather reads the table.
            case planner
        }

        /// The kind of reason.
        public let code: Code
        /// The part of the condition in the format language; the order for ``Code/order``.
        public let expression: String
        /// What is in the way, for people.
        public let explanation: String
    }

    /// What a model would be changed by.
    public enum ModelChange: Sendable, Hashable {
        /// An attribute that an entity has gets an index, or an attribute is added: the whole declaration.
        case attribute(Attribute, entity: String)
        /// An index is added to an entity.
        case index(Index, entity: String)
    }

    /// Something that was tried and lets the fetch read less.
    public struct Suggestion: Sendable, Hashable {
        /// What is to be changed in the model, all of it together; nothing if only the condition changes.
        public let changes: [ModelChange]
        /// The condition to fetch by, if the one that was given would not use the index.
        public let rewrite: FetchPredicate?
        /// What else is to be known; nil if the answer stays the same and stores can be opened as they are.
        public let note: String?
        /// The engine's query plan afterwards.
        public let plan: [FetchExplanation.Step]
    }

    /// The tables that are read as a whole.
    public let fullScans: [FullScan]
    /// Whether what was found is sorted afterwards, because it does not come in the order that is asked for.
    public let sorts: Bool
    /// What would help, the best first; any one of them.
    public let suggestions: [Suggestion]
}

/// Looks at explanations of fetches for what costs time, and tries indexes that might help.
///
/// A suggestion is only made if the engine's plan for the changed model reads fewer whole tables, or no longer sorts all to
/// find the first few. It is tried on an empty store, so it takes no account of how many rows there are.
public struct FetchAdvisor {
    let model: ManagedObjectModel
    var plan: FetchPlan
    let counting: Bool
    let engine: Engine

    /// The engine that fetches are explained by.
    package struct Engine: Sendable {
        /// The name, for messages.
        let name: String
        /// Explains a fetch on an empty store of a model; nil where that fails.
        let explain: @Sendable (ManagedObjectModel, FetchPlan, _ counting: Bool) -> FetchExplanation?

        package init(
            name: String, explain: @escaping @Sendable (ManagedObjectModel, FetchPlan, Bool) -> FetchExplanation?
        ) {
            self.name = name
            self.explain = explain
        }
    }

    package init(model: ManagedObjectModel, plan: FetchPlan, counting: Bool, engine: Engine) {
        self.model = model
        self.plan = plan
        self.counting = counting
        self.engine = engine
    }

    /// The advice for a fetch that a store has explained.
    public func advice(for explanation: FetchExplanation) -> FetchAdvice {
        let steps = scans(of: explanation)
        let sorts = explanation.sorts
        let items = steps.isEmpty ? [] : conditionItems()
        let reasons = items.compactMap(\.reason)
        let fullScans = steps.map { (entity, step) in
            FetchAdvice.FullScan(
                entity: entity.name, table: model.naming.storedName(ofEntity: entity.rootName), step: step,
                reasons: reasons.isEmpty ? [wholeReason(sorts)] : reasons)
        }
        let cost = FetchCost(scans: steps.count, sorts: sorts && isPage)
        return FetchAdvice(
            fullScans: fullScans, sorts: sorts,
            suggestions: cost == FetchCost() ? [] : suggestions(for: items, cost: cost, explanation))
    }

    /// Whether only the first objects are requested.
    package var isPage: Bool { plan.limit != nil && !counting }

    /// The condition, where there is one.
    package var condition: FetchPredicate? {
        if case .constant(true)? = plan.predicate?.node { nil } else { plan.predicate }
    }

    /// The entity that is asked for.
    package var entity: EntityDescription { model.entities[plan.entityIndex] }

    /// What is said where there is no condition, or every part of it could be looked up by itself.
    private func wholeReason(_ sorts: Bool) -> FetchAdvice.Reason {
        guard let condition else {
            if sorts, isPage {
                return FetchAdvice.Reason(
                    code: .order, expression: plan.sorts.map(\.description).joined(separator: ", "),
                    explanation: "all objects are sorted for the first few, since no index has this order")
            }
            return FetchAdvice.Reason(
                code: .otherEntities, expression: entity.name,
                explanation: "the table also has the objects of other entities, which are read and passed over")
        }
        return FetchAdvice.Reason(
            code: .planner, expression: condition.description,
            explanation: "\(engine.name) found no index that leads to few rows, or found reading all of them cheaper")
    }

    /// The steps that read whole tables of entities, except where all rows are asked for.
    package func scans(of explanation: FetchExplanation) -> [(entity: EntityDescription, step: String)] {
        let scans: [(EntityDescription, String)] = explanation.scans.compactMap { scan in
            explanation.entities[scan.table].flatMap(model.entity(named:)).map { ($0, scan.step) }
        }
        if condition != nil { return scans }
        // Without a condition the rows of a whole table are what is asked for, and a page of them ends early unless
        // all must be sorted for it.
        return (explanation.sorts && isPage) || readsOtherEntities ? scans : []
    }

    private var readsOtherEntities: Bool {
        entity.parentIndex != nil || (entity.hasSubentities && !plan.includesSubentities)
    }
}

/// What a fetch does that it might not have to.
package struct FetchCost: Comparable {
    package var scans = 0
    package var sorts = false

    package static func < (a: FetchCost, b: FetchCost) -> Bool {
        a.scans != b.scans ? a.scans < b.scans : !a.sorts && b.sorts
    }
}
