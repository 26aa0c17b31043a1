import StrataSQLite

/// Fetches that ask the server for some properties.
extension RemotePlanner {
    /// Adds the properties that a fetch asks for, and those that its condition and its order look at here.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` for names that are not of an attribute or a relationship to one.
    func addSelection(_ extras: FetchExtras, of plan: FetchPlan, to result: inout RemotePlan) throws(StoreError) {
        guard let properties = extras.properties else { return }
        let entity = mirror.model.entities[plan.entityIndex]
        for name in properties {
            if entity.attribute(named: name) != nil || entity.relationship(named: name)?.slot != nil { continue }
            let isRelationship = entity.relationship(named: name) != nil
            throw .unsupported(
                store: backend.name,
                feature: "selecting \(entity.name).\(name), which is "
                    + (isRelationship ? "a relationship to many" : "neither an attribute nor a relationship to one"))
        }
        guard backend.capabilities.features.contains(.selecting) else { return }
        let looked = (plan.predicate?.keyPaths ?? []) + plan.sorts.flatMap(\.expression.keyPaths)
        var names = Set(properties)
        for case let name? in looked.map(\.first) {
            if entity.attribute(named: name) != nil || entity.relationship(named: name) != nil { names.insert(name) }
        }
        var trial = result
        trial.query.properties = names.sorted()
        if refusal(of: trial) == nil { result = trial }
    }
}

extension RemotePlan {
    /// The slots that the answer has of each object, as bits; nil if it has all. Those after the first 64 count as unknown.
    func toldSlots(_ mirror: Mirror) -> UInt64? {
        guard let properties = query.properties else { return nil }
        let entity = query.entity
        var slots = [mirror.primaryKeys[entity.index].index]
        for name in properties {
            slots += entity.attribute(named: name)?.slots.map { $0 } ?? []
            if let slot = entity.relationship(named: name)?.slot { slots.append(slot) }
        }
        return slots.filter { $0 < 64 }.reduce(0) { $0 | 1 << UInt64($1) }
    }
}
