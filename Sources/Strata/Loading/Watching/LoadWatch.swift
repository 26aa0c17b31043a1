/// Reports the unplanned loads of a context to its handler and its open scopes.
final class LoadWatch {
    /// Called with each load.
    var handler: ((UnplannedLoad) -> Void)?
    /// Those that are open, the innermost last.
    private var scopes: [LoadScope] = []

    /// Notes that the use of a property has read the store.
    /// - Parameter relationship: nil if the object itself was a fault.
    func note(_ object: ManagedObject, _ relationship: RelationshipDescription?, count: Int) {
        guard handler != nil || !scopes.isEmpty else { return }
        let load = UnplannedLoad(
            objectID: object.objectID, relationshipName: relationship?.name, objectCount: max(1, count),
            caller: findCaller())
        for scope in scopes { scope.add(load) }
        handler?(load)
    }

    /// Notes that a relationship of some objects was read ahead of time.
    func notePrefetch(_ relationship: RelationshipDescription, _ first: ManagedObject, count: Int) {
        guard !scopes.isEmpty else { return }
        let caller = findCaller()
        for scope in scopes { scope.addPrefetch(relationship, first.binding.entity, count: count, caller: caller) }
    }

    /// Notes that a relationship is read.
    func noteRead(_ relationship: RelationshipDescription, _ entity: EntityDescription) {
        for scope in scopes { scope.addRead(relationship, entity) }
    }

    private func findCaller() -> String? { scopes.last { $0.wantsCaller }?.callers?.find() }

    func open(_ scope: LoadScope) { scopes.append(scope) }

    func close(_ scope: LoadScope) { scopes.removeAll { $0 === scope } }
}

/// What happens while a closure runs.
final class LoadScope {
    /// A relationship of a hierarchy.
    private struct Key: Hashable {
        let rootIndex: Int
        let name: String

        init(_ relationship: RelationshipDescription, _ entity: EntityDescription) {
            rootIndex = entity.rootIndex
            name = relationship.name
        }
    }

    let callers: CallerSource?
    private var report = LoadReport()
    private var prefetched: [Key: LoadReport.UnreadRelationship] = [:]
    private var read: Set<Key> = []

    init(callers: CallerSource?) { self.callers = callers }

    /// Finding callers is slow, and more than those of some hundred loads tell nobody anything new.
    var wantsCaller: Bool { callers != nil && report.loadCount < 500 }

    func add(_ load: UnplannedLoad) {
        report.loadCount += 1
        if report.loads.count < LoadReport.limit { report.loads.append(load) }
    }

    func addPrefetch(
        _ relationship: RelationshipDescription, _ entity: EntityDescription, count: Int, caller: String?
    ) {
        let known = prefetched[Key(relationship, entity)]
        prefetched[Key(relationship, entity)] = LoadReport.UnreadRelationship(
            entityName: entity.name, relationshipName: relationship.name,
            objectCount: count + (known?.objectCount ?? 0), caller: known?.caller ?? caller)
    }

    func addRead(_ relationship: RelationshipDescription, _ entity: EntityDescription) {
        read.insert(Key(relationship, entity))
    }

    /// All that happened.
    var result: LoadReport {
        var result = report
        result.unreadRelationships = prefetched.filter { !read.contains($0.key) }.map(\.value).sorted {
            ($0.entityName, $0.relationshipName) < ($1.entityName, $1.relationshipName)
        }
        return result
    }
}

extension ContextCore {
    /// What notices loads, made for the first one who wants to know.
    var someLoadWatch: LoadWatch {
        if let known = settings.loads { return known }
        let made = LoadWatch()
        settings.loads = made
        return made
    }
}
