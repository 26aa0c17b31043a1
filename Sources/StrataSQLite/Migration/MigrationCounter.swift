import StrataStore

/// Counts what the steps of a plan touch, and what does not fit, in the data as they are before the migration.
struct MigrationCounter {
    let context: MigrationContext
    let connection: Connection

    /// The step with its counts.
    /// - Parameter all: Whether steps that cannot go wrong are counted, too: a plan for people wants that, opening a file does
    ///   not.
    func counted(_ step: MigrationStep, all: Bool) throws(StoreError) -> MigrationStep {
        var step = step
        if all, step.kind != .describe { step.rows = try rows(of: step) }
        if step.risk == .checked || step.risk == .lossy, let query = try misfits(of: step) {
            step.misfits = Int(try connection.integer("SELECT count(*) FROM (\(query))") ?? 0)
            if step.misfits != 0, step.risk == .checked {
                step.samples = try connection.texts(
                    "SELECT DISTINCT sample FROM (\(query)) WHERE sample IS NOT NULL LIMIT 3")
            }
        }
        return step
    }

    private func oldEntity(of step: MigrationStep) -> EntityDescription? {
        if let entity = context.model.entity(named: step.entity), let source = context.source(of: entity),
            step.kind != .removeEntity, step.kind != .removeRelationship
        {
            return source
        }
        return context.old.model.entity(named: step.entity)
    }

    private func rows(of step: MigrationStep) throws(StoreError) -> Int? {
        guard let entity = oldEntity(of: step) else { return step.kind == .addEntity ? 0 : nil }
        let isExact = step.kind == .removeEntity
        return Int(
            try connection.integer("SELECT count(*) FROM \(context.rows(entity, subentities: !isExact))") ?? 0)
    }

    /// The rows that do not fit, or lose something: a query with a column `sample`. nil if that cannot be told.
    private func misfits(of step: MigrationStep) throws(StoreError) -> String? {
        switch step.kind {
        case .removeEntity:
            return context.old.model.entity(named: step.entity).map {
                "SELECT NULL AS sample FROM \(context.rows($0, subentities: false))"
            }
        case .changeHierarchy:
            return oldEntity(of: step).map { "SELECT NULL AS sample FROM \(context.rows($0, subentities: false))" }
        case .removeAttribute: return removed(step)
        case .removeRelationship: return removedLinks(step)
        case .addAttribute, .changeType, .changeOptionality: return unfit(step)
        case .recompute: return nil
        case .addRelationship, .changeRelationship: return unfitLinks(step)
        case .addUniqueness: return duplicates(step)
        default: return nil
        }
    }

    private func removed(_ step: MigrationStep) -> String? {
        // Removed properties are named as in the old model; those that are just no longer stored, as in the new one.
        let past = context.old.model.entity(named: step.entity)
        guard let entity = past?.slot(named: step.property ?? "") != nil ? past : oldEntity(of: step) ?? past,
            let name = step.property
        else { return nil }
        let slots = entity.slots.filter { $0.name == name || $0.name.hasPrefix(name + ".") }
        let columns = slots.compactMap { context.column(entity, $0) }
        guard !columns.isEmpty else { return nil }
        return
            "SELECT NULL AS sample FROM \(context.rows(entity, subentities: true)) AND coalesce(\((columns + ["NULL"]).joined(separator: ", "))) IS NOT NULL"
    }

    private func removedLinks(_ step: MigrationStep) -> String? {
        guard let entity = context.old.model.entity(named: step.entity),
            let relationship = entity.relationship(named: step.property ?? ""),
            let links = context.links(entity, relationship)
        else { return nil }
        return "SELECT NULL AS sample FROM \(links)"
    }

    /// The old entities whose rows get a property of the step, with the new entity that each becomes.
    private func heirs(_ step: MigrationStep) -> [(EntityDescription, EntityDescription)] {
        guard let entity = context.model.entity(named: step.entity) else { return [] }
        return entity.descendantIndexes.map { context.model.entities[$0] }.filter { !$0.isAbstract }.compactMap {
            heir in
            context.source(of: heir).map { (heir, $0) }
        }
    }

    private func unfit(_ step: MigrationStep) -> String? {
        guard let name = step.property else { return nil }
        var queries: [String] = []
        for (heir, past) in heirs(step) {
            if let relationship = heir.relationship(named: name) {
                if let column = context.keyColumn(heir, relationship) {
                    queries.append(
                        "SELECT NULL AS sample FROM \(context.rows(past, subentities: false)) AND \(column) IS NULL")
                }
                continue
            }
            for slot in heir.slots where slot.name == name || slot.name.hasPrefix(name + ".") {
                let mapping = context.slotMapping(heir, slot)
                let before = mapping?.source.flatMap { past.slot(named: $0) }.flatMap { context.column(past, $0) }
                let rows = context.rows(past, subentities: false)
                // Without the answer, which is looked at afterwards.
                var bare = context
                bare = MigrationContext(
                    old: bare.old, schema: bare.schema, plan: bare.plan, answers: [:], now: bare.now)
                let value = bare.value(heir, slot)
                if step.kind == .changeType, let before {
                    queries.append(
                        "SELECT CAST(\(before) AS TEXT) AS sample FROM \(rows) AND \(before) IS NOT NULL AND \(value) IS NULL"
                    )
                } else if step.kind == .changeOptionality, let before {
                    if !slot.isOptional { queries.append("SELECT NULL AS sample FROM \(rows) AND \(before) IS NULL") }
                } else if step.kind == .addAttribute, before == nil, !slot.isOptional {
                    queries.append("SELECT NULL AS sample FROM \(rows)")
                }
            }
        }
        return queries.isEmpty ? nil : queries.joined(separator: " UNION ALL ")
    }

    private func unfitLinks(_ step: MigrationStep) -> String? {
        guard let name = step.property, let entity = context.model.entity(named: step.entity),
            let relationship = entity.relationship(named: name)
        else { return nil }
        if step.risk == .lossy {
            guard let (past, before) = context.source(of: relationship, entity),
                let links = context.links(past, before)
            else { return nil }
            return "SELECT NULL AS sample FROM \(links)"
        }
        if step.kind == .addRelationship, context.links(to: relationship, entity) == nil {
            let queries = heirs(step).map { "SELECT NULL AS sample FROM \(context.rows($0.1, subentities: false))" }
            return queries.isEmpty ? nil : queries.joined(separator: " UNION ALL ")
        }
        guard let links = context.links(to: relationship, entity) else { return nil }
        // A row has room for one key.
        let end = relationship.isToMany ? "member" : "owner"
        return "SELECT \(end) AS sample FROM \(links) GROUP BY \(end) HAVING count(*) > 1"
    }

    private func duplicates(_ step: MigrationStep) -> String? {
        guard let names = step.property else { return nil }
        let properties = names.split(separator: ", ").map { $0.hasPrefix("-") ? String($0.dropFirst()) : String($0) }
        var selects: [String] = []
        for (heir, past) in heirs(step) {
            let values = properties.map { name -> String in
                guard let slot = heir.slot(named: name) else { return "NULL" }
                if let index = slot.relationshipIndex {
                    return context.keyColumn(heir, heir.relationships[index]) ?? "NULL"
                }
                return context.value(heir, slot)
            }
            let list = values.enumerated().map { "\($1) AS v\($0)" }.joined(separator: ", ")
            selects.append("SELECT \(list) FROM \(context.rows(past, subentities: false))")
        }
        guard !selects.isEmpty else { return nil }
        let columns = properties.indices.map { "v\($0)" }
        let sample = columns.map { "coalesce(CAST(\($0) AS TEXT), 'nil')" }.joined(separator: " || ', ' || ")
        let present = columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        return
            "SELECT \(sample) || ' (' || count(*) || ' objects)' AS sample FROM (\(selects.joined(separator: " UNION ALL "))) "
            + "WHERE \(present) GROUP BY \(columns.joined(separator: ", ")) HAVING count(*) > 1"
    }
}

extension MigrationStep {
    /// Whether the step keeps a migration from being carried out, with an answer or without one.
    func isBlocked(by answer: MigrationAnswer?) -> Bool {
        switch risk {
        case .safe: return false
        case .impossible: return true
        case .lossy: return answer != .accept
        case .checked:
            guard misfits ?? 1 > 0 else { return false }
            switch (kind, answer) {
            case (.addUniqueness, .keepFirst?), (.addUniqueness, .keepLast?): return false
            case (.addUniqueness, _), (_, nil), (_, .keepFirst?), (_, .keepLast?): return true
            case (.changeRelationship, _): return answer != .accept
            case (.addRelationship, _): return true
            case (.changeOptionality, .clear?), (.addAttribute, .clear?): return answer != .accept
            default: return answer == .accept
            }
        }
    }
}
