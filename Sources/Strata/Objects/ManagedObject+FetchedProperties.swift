// A fetched property is filled by a fetch at the first access and keeps its objects until its owner is refreshed.

extension ManagedObject {
    /// The objects of a fetched property, in the order of its request. The first access fetches them as
    /// ``ManagedObjectContext/fetch(_:)`` does, unsaved changes included; later ones give the same objects, except for
    /// those deleted since then, until the object is refreshed.
    ///
    /// Each access checks all objects; keep the array in a variable if you access it by position.
    /// - Returns: The objects; none for an object without a context.
    /// - Throws: ``PersistenceError/unknownProperty(entity:property:nearest:)`` for a name that is not a fetched property, and
    ///   the errors of the fetch.
    public final func fetchedValue(forProperty name: String) throws(PersistenceError) -> [ManagedObject] {
        let entity = binding.entity
        guard let index = entity.fetchedPropertyIndex(named: name) else {
            throw .unknownProperty(name, of: entity, among: entity.fetchedProperties.map(\.name))
        }
        if flags.contains(.observed) { recordAccess(observerIndex(fetched: index)) }
        if let known = extras?.fetched[index] { return known.filter { $0.flags.isDisjoint(with: .hidden) } }
        guard let core, !isDeleted else { return [] }
        let objects = try core.fetcher.fetch(try request(of: entity.fetchedProperties[index]))
        // A closed context has nothing left that would break cycles of objects that keep each other.
        if !core.isClosed { someExtras.fetched[index] = objects }
        return objects
    }

    /// Reads a fetched property. If the fetch fails it is empty, and the next access tries again.
    public final func _fetched<D: ManagedObject>(_ name: String) -> [D] {
        do throws(PersistenceError) {
            return try fetchedValue(forProperty: name).compactMap { $0 as? D }
        } catch {
            core?.report(error, self)
            return []
        }
    }

    /// The request of a property, with its variables replaced by this object.
    private func request(of property: FetchedProperty) throws(PersistenceError) -> FetchRequest<ManagedObject> {
        let declaration = Value.composite([
            "name": .string(property.name), "userInfo": .composite(property.userInfo.mapValues(Value.string)),
        ])
        let sources: [String: any PropertySource] = [
            FetchedProperty.sourceVariable: ObjectSource(object: self), FetchedProperty.propertyVariable: declaration,
        ]
        let template = property.request
        do throws(PredicateEvaluationError) {
            var sorts: [FetchSort] = []
            for sort in template.order { sorts.append(try sort.binding(sources)) }
            return FetchRequest(
                entity: template.entity, where: try template.condition?.binding(sources), sortedBy: sorts,
                limit: template.limit)
        } catch {
            throw .invalidFetch(
                entity: template.entity, reason: "\(binding.entity.name).\(property.name): \(error.description)")
        }
    }

    /// Empties the fetched properties; the next access fetches again.
    final func forgetFetched() {
        guard let extras, !extras.fetched.isEmpty else { return }
        mutatingAll { extras.fetched = [:] }
    }

    /// The number under which observers of a fetched property are kept.
    private func observerIndex(fetched index: Int) -> Int {
        observerIndex(toMany: binding.entity.toManyIndexes.count) + index
    }
}
