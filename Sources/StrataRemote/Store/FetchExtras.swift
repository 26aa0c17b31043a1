import StrataSQLite

/// What a fetch or a save asks for in addition to its plan.
struct FetchExtras: Sendable {
    /// Relationships whose objects come along.
    var includes: [[String]] = []
    /// The properties that the server is asked for; nil for all.
    var properties: [String]?
    /// Conditions that only the server evaluates.
    var subqueries: [RemoteSubquery] = []
    /// Takes the number of all objects.
    var total: TotalCount?
    /// Is told how far the files of a save have come.
    var fileProgress: FileProgress?

    init() {}

    init(_ options: RemoteOptions) {
        includes = options.includes.map { $0.split(separator: ".", omittingEmptySubsequences: false).map(String.init) }
        properties = options.properties
        subqueries = options.subqueries
        total = options.total
        fileProgress = options.fileProgress
    }
}

extension RemotePlanner {
    /// Adds what a fetch asks for in addition to its plan.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` for paths that lead nowhere, and for sub-queries that the back end
    ///   cannot evaluate.
    func addExtras(_ extras: FetchExtras, to result: inout RemotePlan) throws(StoreError) {
        let entity = result.query.entity
        for path in extras.includes { try check(path, entity) }
        if !extras.includes.isEmpty, backend.capabilities.features.contains(.expanding) {
            var trial = result
            trial.query.includes = extras.includes
            if refusal(of: trial) == nil { result = trial }
        }
        result.loads = result.query.includes.isEmpty ? extras.includes : []
        result.query.countsAll = extras.total != nil
        guard !extras.subqueries.isEmpty else { return }
        guard backend.capabilities.features.contains(.subqueries) else {
            throw .unsupported(store: backend.name, feature: "a condition on what another query finds")
        }
        for subquery in extras.subqueries { result.query.subqueries.append(try named(subquery)) }
        if let reason = refusal(of: result) {
            throw .unsupported(store: backend.name, feature: "a sub-query: \(reason.message)")
        }
    }

    private func check(_ path: [String], _ start: EntityDescription) throws(StoreError) {
        var entity = start
        for name in path {
            guard let relationship = entity.relationship(named: name) else {
                throw .unsupported(
                    store: backend.name,
                    feature: "including \(path.joined(separator: ".")): \(entity.name) has no relationship \(name)"
                        + Spelling.suggestion(for: name, in: entity.relationships.map(\.name)))
            }
            entity = mirror.model.destination(of: relationship)
        }
    }

    /// The sub-query with primary keys for the objects in its condition.
    private func named(_ subquery: RemoteSubquery) throws(StoreError) -> RemoteSubquery {
        guard let entity = mirror.model.entity(named: subquery.entity) else {
            throw .unsupported(
                store: backend.name,
                feature: "a sub-query of \(subquery.entity), which is not an entity of the model"
                    + Spelling.suggestion(for: subquery.entity, in: mirror.model.entities.map(\.name)))
        }
        var result = subquery
        result.predicate = try subquery.predicate.map { (predicate) throws(StoreError) in
            try ObjectNaming(mirror: mirror, entity: entity).named(predicate)
        }
        return result
    }
}
