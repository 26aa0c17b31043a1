import StrataSQLite

/// What is asked of a back end for a fetch, and what is left to be done here.
struct RemotePlan: Sendable {
    /// What is asked for.
    var query: RemoteQuery
    /// Whether objects of the entities that inherit are asked for, too. Back ends do not know who inherits from whom, so there
    /// is a query for each entity then.
    var includesSubentities = false
    /// The conditions that the back end decides, as the mirror would; nil for all objects.
    var decided: FetchPredicate?
    /// The conditions that are left.
    var rest: FetchPredicate?
    /// Whether the order is left.
    var sortsHere = false
    /// Whether limit and offset are left.
    var pagesHere = false
    /// Relationships whose objects are read once the answer is there.
    var loads: [[String]] = []
    /// Whether no object can meet the condition, so that no request is needed.
    var isEmpty = false

    /// What is sent, one after the other.
    func queries(in model: ManagedObjectModel) -> [RemoteQuery] {
        includesSubentities ? query.byEntity(in: model) : [query]
    }
}

extension RemoteQuery {
    /// The same for the entity and those that inherit from it: a query for each that has objects. A limit and an offset are left
    /// to be applied to all answers in order, so each query asks for the first objects of its entity.
    package func byEntity(in model: ManagedObjectModel) -> [RemoteQuery] {
        entity.descendantIndexes.map { model.entities[$0] }.filter { !$0.isAbstract }.map { part in
            var query = self
            query.entity = part
            query.offset = 0
            if let limit {
                let end = limit.addingReportingOverflow(offset)
                query.limit = end.overflow ? nil : end.partialValue
            }
            return query
        }
    }
}

/// Splits fetches: what the back end takes is sent, and the rest is done over the mirror once the answer is in it.
struct RemotePlanner {
    let backend: any RemoteBackend
    let mirror: Mirror

    /// Plans a fetch.
    /// - Parameter finishesLocally: Whether more may be read than the fetch gives.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` naming the part that the back end cannot do, if that may not
    ///   be done here.
    func plan(
        _ plan: FetchPlan, finishesLocally: Bool, extras: FetchExtras = FetchExtras()
    ) throws(StoreError) -> RemotePlan {
        let entity = mirror.model.entities[plan.entityIndex]
        var result = try taken(
            RemoteQuery(entity: entity), withSubentities: plan.includesSubentities && entity.hasSubentities,
            as: "a fetch of \(entity.name)")
        try addConditions(of: plan, entity, to: &result, finishesLocally)
        addOrder(of: plan, to: &result)
        try addExtras(extras, to: &result)
        try addSelection(extras, of: plan, to: &result)
        try addPage(of: plan, to: &result, finishesLocally)
        return result
    }

    /// A query that the back end takes.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` if it does not.
    func taken(_ query: RemoteQuery, withSubentities: Bool, as what: String) throws(StoreError) -> RemotePlan {
        let result = RemotePlan(query: query, includesSubentities: withSubentities)
        guard let reason = refusal(of: result) else { return result }
        throw .unsupported(store: backend.name, feature: "\(what): \(reason.message)")
    }

    // MARK: Conditions

    private func addConditions(
        of plan: FetchPlan, _ entity: EntityDescription, to result: inout RemotePlan, _ finishesLocally: Bool
    ) throws(StoreError) {
        let naming = ObjectNaming(mirror: mirror, entity: entity)
        var sent: [FetchPredicate] = []
        var decided: [FetchPredicate] = []
        var rest: [FetchPredicate] = []
        for part in plan.predicate?.conjuncts ?? [] {
            let named = try naming.named(part)
            if named == .constant(true) { continue }
            if named == .constant(false) {
                result.isEmpty = true
                return
            }
            var trial = result
            trial.query.predicate = Self.joined(sent + [named])
            let reason =
                named.mentionsObjects
                ? RemoteError(
                    .unsupported, domain: "Strata", message: "objects can be compared with paths that lead to objects")
                : untoldEnd(in: named, entity) ?? refusal(of: trial)
            if let reason {
                guard finishesLocally else {
                    throw .unsupported(store: backend.name, feature: "the condition \(part): \(reason.message)")
                }
                rest.append(part)
            } else {
                sent.append(named)
                decided.append(part)
            }
        }
        result.query.predicate = Self.joined(sent)
        result.decided = Self.joined(decided)
        result.rest = Self.joined(rest)
    }

    /// Why a condition on a relationship cannot be the back end's, which does not know both ends; nil if it can.
    private func untoldEnd(in predicate: FetchPredicate, _ entity: EntityDescription) -> RemoteError? {
        for path in predicate.keyPaths {
            guard let relationship = path.first.flatMap(entity.relationship(named:)) else { continue }
            if let reason = untoldEnd(relationship, of: entity) { return reason }
        }
        return nil
    }

    /// Why the back end does not tell the members of a relationship; nil if it does, or if it leads to one object.
    private func untoldEnd(
        _ relationship: RelationshipDescription, of entity: EntityDescription
    ) -> RemoteError? {
        guard relationship.isToMany else { return nil }
        if case .pairs(isPrimary: true) = relationship.storage { return nil }
        return RemoteError(
            .unsupported, domain: "Strata",
            message: "\(entity.name).\(relationship.name) is only reported by its other end")
    }

    /// Why a relationship that the entity keeps has members which the mirror does not know; nil if it knows them all.
    private func unlisted(
        _ relationship: RelationshipDescription, of entity: EntityDescription
    ) -> RemoteError? {
        guard relationship.isToMany, !backend.lists(relationship, of: entity) else { return nil }
        return RemoteError(
            .unsupported, domain: "Strata", message: "records of \(entity.name) do not list \(relationship.name)")
    }

    /// Makes sure that values can be read along paths: the members of the mirror are not all that there are if the back end does
    /// not tell them.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` naming the relationship, unless less than all may be read.
    func check(
        _ paths: [[String]], _ plan: FetchPlan, finishesLocally: Bool
    ) throws(StoreError) {
        guard !finishesLocally else { return }
        for path in paths {
            var entity = mirror.model.entities[plan.entityIndex]
            for name in path {
                guard let relationship = entity.relationship(named: name) else { break }
                if let reason = untoldEnd(relationship, of: entity) ?? unlisted(relationship, of: entity) {
                    throw .unsupported(
                        store: backend.name, feature: "the value \(path.joined(separator: ".")): \(reason.message)")
                }
                entity = mirror.model.destination(of: relationship)
            }
        }
    }

    private static func joined(_ parts: [FetchPredicate]) -> FetchPredicate? {
        parts.count > 1 ? .and(parts) : parts.first
    }

    /// Why the back end does not take what is asked for; nil if it does.
    func refusal(of plan: RemotePlan) -> RemoteError? {
        do throws(RemoteError) {
            for query in plan.queries(in: mirror.model) { try backend.check(.query(query)) }
            return nil
        } catch {
            return error
        }
    }

    // MARK: Order and pages

    /// An order that the back end lacks costs nothing here: all objects of the result are read anyway.
    private func addOrder(of plan: FetchPlan, to result: inout RemotePlan) {
        guard !plan.sorts.isEmpty else { return }
        var trial = result
        trial.query.sorts = plan.sorts
        // Back ends give the nearest first, whatever order they are asked for.
        let takesOrder =
            backend.capabilities.features.contains(.sorting) && result.decided?.nearestFirst == nil
            && refusal(of: trial) == nil
        if takesOrder { result.query = trial.query } else { result.sortsHere = true }
    }

    private func addPage(
        of plan: FetchPlan, to result: inout RemotePlan, _ finishesLocally: Bool
    ) throws(StoreError) {
        guard plan.limit != nil || plan.offset > 0 else { return }
        var trial = result
        trial.query.limit = plan.limit
        trial.query.offset = plan.offset
        let reason: String?
        if result.rest != nil {
            reason = "a limit or offset after a condition that is evaluated here"
        } else if result.sortsHere {
            reason = "a limit or offset in the order \(plan.sorts.map(\.description))"
        } else if !backend.capabilities.features.contains(.paging) {
            reason = "a limit or offset"
        } else {
            reason = refusal(of: trial)?.message
        }
        guard let reason else {
            result.query = trial.query
            result.pagesHere = result.includesSubentities
            return
        }
        guard finishesLocally else { throw .unsupported(store: backend.name, feature: reason) }
        result.pagesHere = true
    }
}

extension FetchPredicate {
    /// The conditions that must all hold.
    var conjuncts: [FetchPredicate] {
        if case .and(let parts) = node { parts.flatMap(\.conjuncts) } else { [self] }
    }

    /// The conditions that put the nearest objects first.
    var nearConjuncts: [FetchPredicate] {
        conjuncts.filter { if case .geo(.near) = $0.node { true } else { false } }
    }
}
