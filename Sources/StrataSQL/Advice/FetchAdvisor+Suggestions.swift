import StrataStore

extension FetchAdvisor {
    /// Something that might help.
    private struct Candidate {
        var changes: [FetchAdvice.ModelChange]
        var rewrite: (predicate: FetchPredicate, note: String?)?
    }

    /// How many suggestions are made at most; further ones are hardly better.
    private static let limit = 3

    /// How many parts of a condition are tried one by one.
    private static let partLimit = 12

    /// Tries what might help, and keeps what does.
    package func suggestions(
        for items: [FetchAdvice.Item], cost: FetchCost, _ explanation: FetchExplanation
    ) -> [FetchAdvice.Suggestion] {
        if let trial = attempt(Candidate(changes: [])), trial.cost < cost {
            return [
                FetchAdvice.Suggestion(
                    changes: [], rewrite: nil,
                    note: "the store lacks an index that the model has; opening it once for writing makes it",
                    plan: trial.explanation.plan)
            ]
        }
        var found: [(cost: FetchCost, suggestion: FetchAdvice.Suggestion)] = []
        var all = cost
        for candidate in candidates(items) {
            // What takes several changes at once is only wanted where a single one does nothing.
            if candidate.changes.count > 1, found.contains(where: { $0.cost.scans < cost.scans }) { continue }
            guard let trial = attempt(candidate), trial.cost < cost else { continue }
            all = min(all, trial.cost)
            found.append((trial.cost, suggestion(candidate, trial.explanation)))
        }
        return found.filter { $0.cost == all }.prefix(Self.limit).map(\.suggestion)
    }

    private func suggestion(_ candidate: Candidate, _ explanation: FetchExplanation) -> FetchAdvice.Suggestion {
        var notes = [candidate.rewrite?.note].compactMap(\.self)
        let addsAttribute = candidate.changes.contains { change in
            guard case .attribute(let attribute, let entity) = change else { return false }
            return model.entity(named: entity)?.attribute(named: attribute.name) == nil
        }
        if addsAttribute {
            notes.append("a new attribute makes a new version of the model, to which stores must be migrated")
        }
        return FetchAdvice.Suggestion(
            changes: candidate.changes, rewrite: candidate.rewrite?.predicate,
            note: notes.isEmpty ? nil : notes.joined(separator: "; "), plan: explanation.plan)
    }

    // MARK: Candidates

    private func candidates(_ items: [FetchAdvice.Item]) -> [Candidate] {
        var list: [Candidate] = []
        func add(_ changes: [FetchAdvice.ModelChange], _ rewrite: (FetchPredicate, String?)? = nil) {
            let isKnown = list.contains { $0.changes == changes && $0.rewrite?.predicate == rewrite?.0 }
            if !isKnown { list.append(Candidate(changes: changes, rewrite: rewrite.map { ($0.0, $0.1) })) }
        }
        for index in severalProperties() { add([.index(index, entity: entity.name)]) }
        var together: [FetchAdvice.ModelChange] = []
        for item in items where item.rewrite == nil {
            guard let change = item.change else { continue }
            if list.count < Self.partLimit { add([change]) }
            if !together.contains(change) { together.append(change) }
        }
        for item in items where list.count < 2 * Self.partLimit {
            guard let (from, to, note) = item.rewrite, let condition else { continue }
            let rewritten = (condition.replacing(from, by: to), note)
            // Alternatives next to it may need their indexes, too.
            add([item.change].compactMap(\.self), rewritten)
            if !together.isEmpty { add([item.change].compactMap(\.self) + together, rewritten) }
        }
        if together.count > 1 { add(together) }
        return list
    }

    /// Indexes over several properties: those that equal something, then the order or one range.
    private func severalProperties() -> [Index] {
        let parts: [FetchPredicate] =
            switch condition?.node {
            case .and(let parts)?: parts
            default: condition.map { [$0] } ?? []
            }
        var equal: [String] = []
        var ranges: [String] = []
        for part in parts {
            guard case .comparison = part.node,
                let column = FetchAdvisor(model: model, plan: planned(part), counting: false, engine: engine)
                    .conditionItems().first?.column
            else { continue }
            if column.isEquality {
                if !equal.contains(column.name) { equal.append(column.name) }
            } else if !ranges.contains(column.name) {
                ranges.append(column.name)
            }
        }
        var lists: [[String]] = []
        if isPage, let order = orderColumns() {
            lists.append(equal + order.filter { !equal.contains($0) && !equal.contains(String($0.dropFirst())) })
        }
        if let range = ranges.first { lists.append(equal + [range]) } else { lists.append(equal) }
        // A single attribute has an index by itself, which is shorter to write, unless it is for an order.
        return lists.filter { $0.count > 1 || (isPage && $0.count == 1) }.map {
            Index($0, kind: .ordered, location: nil)
        }
    }

    private func planned(_ part: FetchPredicate) -> FetchPlan {
        var result = plan
        result.predicate = part
        return result
    }

    /// The order as elements of an index; nil if an index cannot have it.
    private func orderColumns() -> [String]? {
        guard !plan.sorts.isEmpty else { return nil }
        var columns: [String] = []
        for sort in plan.sorts {
            guard sort.options.isEmpty, case .keyPath(let path) = sort.expression.node, let place = place(of: path),
                place.isOwn, place.slot.isStored
            else { return nil }
            columns.append((sort.ascending ? "" : "-") + place.slot.name)
        }
        return columns
    }

    // MARK: Trials

    /// Explains the fetch with a changed model on an empty store; nil if there is no such model.
    private func attempt(_ candidate: Candidate) -> (cost: FetchCost, explanation: FetchExplanation)? {
        var entities = model.entities.map(\.declaration)
        for change in candidate.changes {
            switch change {
            case .attribute(let attribute, let name):
                guard let place = entities.firstIndex(where: { $0.name == name }) else { return nil }
                if let old = entities[place].attributes.firstIndex(where: { $0.name == attribute.name }) {
                    entities[place].attributes[old] = attribute
                } else {
                    entities[place].attributes.append(attribute)
                }
            case .index(let index, let name):
                guard let place = entities.firstIndex(where: { $0.name == name }) else { return nil }
                entities[place].indexes.append(index)
            }
        }
        guard let changed = try? ManagedObjectModel(name: model.name, naming: model.naming, entities: entities) else {
            return nil
        }
        var trial = FetchAdvisor(model: changed, plan: plan, counting: counting, engine: engine)
        if let rewrite = candidate.rewrite { trial.plan.predicate = rewrite.predicate }
        guard let explanation = engine.explain(changed, trial.plan, counting) else { return nil }
        let scans = trial.scans(of: explanation)
        return (FetchCost(scans: scans.count, sorts: explanation.sorts && isPage), explanation)
    }
}

extension FetchPredicate {
    /// The condition with another in place of a part of it.
    fileprivate func replacing(_ part: FetchPredicate, by other: FetchPredicate) -> FetchPredicate {
        if self == part { return other }
        switch node {
        case .and(let parts): return .and(parts.map { $0.replacing(part, by: other) })
        case .or(let parts): return .or(parts.map { $0.replacing(part, by: other) })
        case .not(let inner): return .not(inner.replacing(part, by: other))
        default: return self
        }
    }
}
