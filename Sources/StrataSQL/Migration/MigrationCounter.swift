import StrataStore

/// Counts what the steps of a plan touch, and what does not fit, in the data as they are before the migration.
package struct MigrationCounter {
    let context: MigrationContext
    private var engine: any MigrationEngine { context.engine }

    package init(_ context: MigrationContext) { self.context = context }

    /// The steps with their counts.
    /// - Parameters:
    ///   - all: Whether steps that cannot go wrong are counted, too: a plan for people wants that, opening a
    ///     store does not.
    ///   - cancellation: Looked at before each step.
    /// - Throws: ``StoreError/cancelled``, or the failure of a query.
    package func counted(
        _ steps: [MigrationStep], all: Bool, cancellation: ReadCancellation? = nil
    ) throws(StoreError) -> [MigrationStep] {
        var counted: [MigrationStep] = []
        for step in steps {
            if cancellation?.isCancelled == true { throw .cancelled }
            counted.append(try self.counted(step, all: all))
        }
        return counted
    }

    /// Counts what does not fit, before a plan is carried out.
    /// - Parameter hasStage: Whether the code of a stage follows, which does what no conversion can do.
    /// - Throws: ``StoreError/migrationNeedsAnswers(path:steps:)`` if a step may not be carried out,
    ///   ``StoreError/migrationFailed(path:step:reason:)`` for an answer that is not a value of the attribute; as
    ///   ``counted(_:all:cancellation:)``.
    package func checked(
        hasStage: Bool, cancellation: ReadCancellation?
    ) throws(StoreError) -> [MigrationStep] {
        let steps = try counted(context.plan.steps, all: false, cancellation: cancellation)
        let blocked = steps.filter { step in
            if hasStage, StageSteps.contain(step) { return false }
            // What a mirror has lost, or what does not fit, is read from the server again.
            if context.isMirror { return step.risk == .impossible }
            return step.isBlocked(by: context.answers[step.id]) || clearsRequired(step)
        }
        guard blocked.isEmpty else { throw .migrationNeedsAnswers(path: engine.path, steps: blocked) }
        for step in steps where !context.isMirror && !(hasStage && StageSteps.contain(step)) { try checkFill(step) }
        return steps
    }

    private func counted(_ step: MigrationStep, all: Bool) throws(StoreError) -> MigrationStep {
        var step = step
        if all, step.kind != .describe { step.rows = try rows(of: step) }
        if step.risk == .checked || step.risk == .lossy, let query = try misfits(of: step) {
            step.misfits = Int(try engine.integer("SELECT count(*) FROM (\(query)) AS misfits") ?? 0)
            if step.misfits != 0, step.risk == .checked {
                step.samples = try engine.texts(
                    "SELECT DISTINCT CAST(sample AS TEXT) AS sample FROM (\(query)) AS misfits WHERE sample IS NOT NULL LIMIT 3"
                )
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
            try engine.integer("SELECT count(*) FROM \(context.rows(entity, subentities: !isExact))") ?? 0)
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
        case .addAttribute, .changeType, .changeOptionality: return try unfit(step)
        case .recompute: return nil
        case .addRelationship, .changeRelationship: return unfitLinks(step)
        case .addUniqueness: return try duplicates(step)
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
        let table = context.tableNames[context.old.layout.tableOfEntity[entity.index]]
        let columns = slots.compactMap { context.old.layout.column(entity.index, $0.index) }.flatMap {
            [$0.quoted] + engine.companions(of: $0)
        }
        guard !columns.isEmpty else { return nil }
        let isPresent = columns.map { "\(table).\($0) IS NOT NULL" }.joined(separator: " OR ")
        return "SELECT NULL AS sample FROM \(context.rows(entity, subentities: true)) AND (\(isPresent))"
    }

    private func removedLinks(_ step: MigrationStep) -> String? {
        guard let entity = context.old.model.entity(named: step.entity),
            let relationship = entity.relationship(named: step.property ?? ""),
            let links = context.links(entity, relationship)
        else { return nil }
        return "SELECT NULL AS sample FROM \(links)"
    }

    /// The old entities whose rows get a property of the step, with the new entity that each becomes.
    func heirs(_ step: MigrationStep) -> [(EntityDescription, EntityDescription)] {
        guard let entity = context.model.entity(named: step.entity) else { return [] }
        return entity.descendantIndexes.map { context.model.entities[$0] }.filter { !$0.isAbstract }.compactMap {
            heir in
            context.source(of: heir).map { (heir, $0) }
        }
    }

    private func unfit(_ step: MigrationStep) throws(StoreError) -> String? {
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
                let own = mapping?.source.flatMap { past.slot(named: $0) }
                let before = own.flatMap { context.column(past, $0) }
                let rows = context.rows(past, subentities: false)
                // Without the answer, which is looked at afterwards.
                let bare = MigrationContext(
                    old: context.old.layout, new: context.layout, engine: engine, isMirror: context.isMirror,
                    plan: context.plan, answers: [:], now: context.now)
                if step.kind == .changeType, let before {
                    let value = try bare.value(heir, slot)
                    queries.append(
                        "SELECT CAST(\(before) AS TEXT) AS sample FROM \(rows) AND \(before) IS NOT NULL AND \(value) IS NULL"
                    )
                } else if step.kind == .changeOptionality, let before {
                    if slot.isOptional { continue }
                    let table = context.tableNames[context.old.layout.tableOfEntity[past.index]]
                    let others = own.flatMap { context.old.layout.column(past.index, $0.index) }.map(engine.companions)
                    let isMissing = ([before] + (others ?? []).map { "\(table).\($0)" }).map { "\($0) IS NULL" }
                    queries.append(
                        "SELECT NULL AS sample FROM \(rows) AND \(isMissing.joined(separator: " AND "))")
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

    private func duplicates(_ step: MigrationStep) throws(StoreError) -> String? {
        guard let names = step.property else { return nil }
        let properties = names.split(separator: ", ").map { $0.hasPrefix("-") ? String($0.dropFirst()) : String($0) }
        var selects: [String] = []
        for (heir, past) in heirs(step) {
            var values: [String] = []
            for name in properties {
                guard let slot = heir.slot(named: name) else { continue }
                if let index = slot.relationshipIndex {
                    values.append(context.keyColumn(heir, heir.relationships[index]) ?? engine.null(for: slot))
                } else {
                    values.append(try context.value(heir, slot))
                }
            }
            guard values.count == properties.count else { return nil }
            let list = values.enumerated().map { "\($1) AS v\($0)" }.joined(separator: ", ")
            selects.append("SELECT \(list) FROM \(context.rows(past, subentities: false))")
        }
        guard !selects.isEmpty else { return nil }
        let columns = properties.indices.map { "v\($0)" }
        let sample = columns.map { "coalesce(CAST(\($0) AS TEXT), 'nil')" }.joined(separator: " || ', ' || ")
        let present = columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        return
            "SELECT \(sample) || ' (' || count(*) || ' objects)' AS sample FROM (\(selects.joined(separator: " UNION ALL "))) AS rows "
            + "WHERE \(present) GROUP BY \(columns.joined(separator: ", ")) HAVING count(*) > 1"
    }
}
