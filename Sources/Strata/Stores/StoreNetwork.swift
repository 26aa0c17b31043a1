import StrataStore

/// A store of which a part is elsewhere, as contexts see it: with the positions of entities in the container's model.
struct StoreNetwork: Sendable {
    let store: any NetworkStore
    /// nil if the container has no other store.
    private let translation: EntityTranslation?
    private let configuration: String?

    /// The only store of a container.
    init(_ store: any NetworkStore) {
        self.store = store
        translation = nil
        configuration = nil
    }

    /// One of several stores; nil if all of it is here.
    init?(_ part: StoreSet.Part) {
        guard let store = part.store as? any NetworkStore else { return nil }
        self.store = store
        translation = part.translation
        configuration = part.configuration
    }

    private func inner(_ index: Int) -> Int { translation?.inner(index) ?? index }

    private func inner(_ plan: FetchPlan) -> FetchPlan { translation?.inner(plan) ?? plan }

    private func outer(_ plan: FetchPlan) -> FetchPlan { translation?.outer(plan) ?? plan }

    /// The options for this store.
    func own(_ options: (any StoreRequestOptions)?) -> (any StoreRequestOptions)? {
        guard let options = options as? OptionsByConfiguration else { return options }
        return configuration.flatMap { options[$0] }
    }

    // MARK: Reading

    func prepare(
        _ plan: FetchPlan, reading paths: [[String]], options: (any StoreRequestOptions)?
    ) async throws(StoreError) -> FetchPlan {
        outer(try await store.prepare(inner(plan), reading: paths, options: own(options)))
    }

    func prepareNow(
        _ plan: FetchPlan, reading paths: [[String]], options: (any StoreRequestOptions)?
    ) throws(StoreError) -> FetchPlan {
        outer(try store.prepareNow(inner(plan), reading: paths, options: own(options)))
    }

    func count(_ plan: FetchPlan, options: (any StoreRequestOptions)?) async throws(StoreError) -> Int? {
        try await store.count(inner(plan), options: own(options))
    }

    func countNow(_ plan: FetchPlan, options: (any StoreRequestOptions)?) throws(StoreError) -> Int? {
        try store.countNow(inner(plan), options: own(options))
    }

    func prepareRows(
        entityIndex: Int, keys: [Int64], options: (any StoreRequestOptions)?
    ) async throws(StoreError) {
        try await store.prepareRows(entityIndex: inner(entityIndex), keys: keys, options: own(options))
    }

    func prepareMembers(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64], options: (any StoreRequestOptions)?
    ) async throws(StoreError) -> Bool {
        try await store.prepareMembers(
            entityIndex: inner(entityIndex), relationshipIndex: relationshipIndex, owners: owners, options: own(options)
        )
    }

    func prepareRowsNow(entityIndex: Int, keys: [Int64]) throws(StoreError) {
        try store.prepareRowsNow(entityIndex: inner(entityIndex), keys: keys)
    }

    func successors(of keys: [Int64], entityIndex: Int) throws(StoreError) -> [Int64: Int64] {
        try store.successors(of: keys, entityIndex: inner(entityIndex))
    }

    /// The options of each of the results that a fetch gives one after the other.
    func stages(_ options: (any StoreRequestOptions)?) -> [(any StoreRequestOptions)?] {
        store.stages(own(options)).map { stage in
            guard options is OptionsByConfiguration, let configuration else { return stage }
            return OptionsByConfiguration(stage.map { [configuration: $0] } ?? [:])
        }
    }

    // MARK: Writing

    func commit(
        _ changes: ChangeSet, options: (any StoreRequestOptions)?
    ) async throws(StoreError) -> CommitResult {
        let options = own(options)
        guard let translation else { return try await store.commit(changes, options: options) }
        return translation.outer(try await store.commit(translation.inner(changes), options: options))
    }
}
