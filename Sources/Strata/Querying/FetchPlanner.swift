/// Turns requests into plans: looks up and checks the names in them.
struct FetchPlanner {
    let core: ContextCore

    var model: ManagedObjectModel { core.model }

    /// The entity whose objects a request asks for.
    func entity<T>(of request: FetchRequest<T>) throws(PersistenceError) -> EntityDescription {
        if let name = request.entityName {
            guard let found = model.entity(named: name) else { throw .unknownEntity(name, in: model) }
            return found
        }
        guard let binding = core.coordinator.binding(for: T.self) else {
            throw .unknownEntity("\(T.self)", in: model)
        }
        return binding.entity
    }

    /// The plan of a request, checked.
    /// - Parameter columns: What sorts may name besides properties.
    func plan<T>(
        for request: FetchRequest<T>, columns: Set<String> = []
    ) throws(PersistenceError) -> FetchPlan {
        let entity = try entity(of: request)
        guard request.offset >= 0, request.limit ?? 0 >= 0 else {
            throw .invalidFetch(entity: entity.name, reason: "limit and offset must not be negative")
        }
        var plan = FetchPlan(entityIndex: entity.index)
        plan.includesSubentities = request.includesSubentities
        plan.predicate = request.predicate
        plan.sorts = request.sorts
        plan.limit = request.limit
        plan.offset = request.offset
        if plan.predicate != nil || !plan.sorts.isEmpty { plan.environment = EvaluationEnvironment() }
        if let path = plan.predicate?.comparedPath {
            try check(path, entity, takesCollections: true)
        } else {
            for path in plan.predicate?.keyPaths ?? [] { try check(path, entity, takesCollections: true) }
        }
        for sort in plan.sorts where !columns.contains(where: { sort.expression == .keyPath([$0]) }) {
            if let reason = model.fault(inOrder: sort, from: entity) {
                throw .invalidFetch(entity: entity.name, reason: reason)
            }
        }
        try core.nullifications.settle()
        return plan
    }

    /// Checks that a path leads to a stored property.
    /// - Parameter takesCollections: Whether it may lead through relationships to many.
    func check(
        _ path: [String], _ entity: EntityDescription, takesCollections: Bool
    ) throws(PersistenceError) {
        if let reason = model.fault(inPath: path, from: entity, takesCollections: takesCollections) {
            throw .invalidFetch(entity: entity.name, reason: reason)
        }
    }
}

extension ContextCore {
    var planner: FetchPlanner { FetchPlanner(core: self) }
}

extension FetchPlan {
    /// The entities that paths lead through or to many of; with `ends`, those of all relationships at the end of a
    /// path, too.
    func relatedEntityIndexes(in model: ManagedObjectModel, ends: Bool = false) -> Set<Int> {
        var result: Set<Int> = []
        for path in keyPaths {
            var current = model.entities[entityIndex]
            for (position, name) in path.enumerated() where !name.hasPrefix("@") {
                guard let relationship = current.relationship(named: name) else { break }
                current = model.destination(of: relationship)
                // Whether an object is a member of a relationship to many may be in the object.
                if ends || relationship.isToMany || position < path.count - 1 { result.insert(current.index) }
            }
        }
        return result
    }

    func entityIndexes(in model: ManagedObjectModel) -> Set<Int> {
        relatedEntityIndexes(in: model).union([entityIndex])
    }
}
