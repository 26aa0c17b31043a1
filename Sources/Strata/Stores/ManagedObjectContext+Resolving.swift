import Foundation
import StrataStore

extension ManagedObjectContext {
    /// The object that a weak reference leads to, in whichever store of the container it is.
    ///
    /// In a remote store, that is one of its mirror. Of an object of which the mirror has only the key, the row is read as
    /// ``existingObject(with:)`` does.
    /// - Returns: nil if the object was deleted, is of a store that the container does not have, or is of another class;
    ///   also for nil.
    /// - Throws: The error of the store.
    public func resolve<Object>(_ reference: ObjectReference<Object>?) throws(PersistenceError) -> Object? {
        guard let reference, let id = core.objectID(for: reference.uri) else { return nil }
        if let object = try existing(Object.self, id) { return object }
        guard
            let key = try core.successors(of: [core.identityMap.key(of: id)], rootIndex: id.entity.rootIndex)
                .values.first
        else { return nil }
        return try existing(Object.self, core.coordinator.objectID(core.rootIndex(of: id), key))
    }

    private func existing<Object: ManagedObject>(
        _ type: Object.Type, _ id: ObjectID
    ) throws(PersistenceError) -> Object? {
        do throws(PersistenceError) {
            return try existingObject(type, with: id)
        } catch {
            guard case .objectNotFound = error else { throw error }
            return nil
        }
    }

    /// The objects that weak references lead to, read in one fetch for each hierarchy of entities.
    ///
    ///     let towns = try context.resolve(visits.compactMap(\.town))
    ///     for visit in visits { print(visit.town.flatMap { towns[$0] }?.name ?? "a town that no longer exists") }
    ///
    /// Objects of a remote store are those of its mirror, as with ``resolve(_:)-(ObjectReference<Object>?)``.
    /// - Returns: The objects by reference, without those that ``resolve(_:)-(ObjectReference<Object>?)`` gives nil for.
    /// - Throws: The error of the store.
    public func resolve<Object>(
        _ references: [ObjectReference<Object>]
    ) throws(PersistenceError) -> [ObjectReference<Object>: Object] {
        var wanted = WantedReferences(references, core)
        for (rootIndex, keys) in wanted.groups {
            if core.coordinator.network(of: rootIndex) == nil {
                wanted.take(try fetch(wanted.request(keys, core.model.entities[rootIndex])), rootIndex)
            } else {
                try mirrored(&wanted, rootIndex, keys)
            }
        }
        return wanted.result
    }

    /// The objects that weak references lead to. Those of which a remote store has only the key are brought first: in one
    /// request for each hierarchy of entities, or as few as the back end allows.
    ///
    ///     let towns = try await context.resolve(visits.compactMap(\.town), options: nil)
    /// - Parameter options: Options for the kind of store, or nil to use the store's defaults.
    /// - Returns: As ``resolve(_:)-([ObjectReference<Object>])``.
    /// - Throws: The error of the store; ``PersistenceError/cancelled``.
    public nonisolated(nonsending) func resolve<Object>(
        _ references: [ObjectReference<Object>], options: (any StoreRequestOptions)?
    ) async throws(PersistenceError) -> [ObjectReference<Object>: Object] {
        var wanted = WantedReferences(references, core)
        for (rootIndex, keys) in wanted.groups {
            guard let network = core.coordinator.network(of: rootIndex) else {
                wanted.take(try await fetch(wanted.request(keys, core.model.entities[rootIndex])), rootIndex)
                continue
            }
            let successors = try core.successors(of: keys, rootIndex: rootIndex)
            let all = Set(keys + successors.values).sorted()
            let absent = try core.rows.rows(entityIndex: rootIndex, keys: all).filter(\.row.isHeaderOnly).map(\.row.key)
            if !absent.isEmpty {
                do throws(StoreError) {
                    try await network.prepareRows(entityIndex: rootIndex, keys: absent.sorted(), options: options)
                } catch {
                    throw PersistenceError(error)
                }
            }
            try mirrored(&wanted, rootIndex, keys)
        }
        return wanted.result
    }

    /// Fetches the object of one reference, with options for its store; see the form for several.
    ///
    ///     let town = try await context.resolve(visit.town, options: nil)
    ///
    /// - Returns: nil without a reference, or if there is no such object.
    /// - Throws: The error of the store; ``PersistenceError/cancelled``.
    public nonisolated(nonsending) func resolve<Object>(
        _ reference: ObjectReference<Object>?, options: (any StoreRequestOptions)?
    ) async throws(PersistenceError) -> Object? {
        guard let reference else { return nil }
        return try await resolve([reference], options: options)[reference]
    }

    /// Finds objects of a mirror by key. A fetch would ask the server whether they meet its condition.
    private func mirrored<Object>(
        _ wanted: inout WantedReferences<Object>, _ rootIndex: Int, _ keys: [Int64]
    ) throws(PersistenceError) {
        core.processPendingChanges()
        wanted.take(try core.objects(rootIndex: rootIndex, keys: keys), rootIndex)
        let successors = try core.successors(of: wanted.missing(among: keys, rootIndex), rootIndex: rootIndex)
        guard !successors.isEmpty else { return }
        let others = try core.objects(rootIndex: rootIndex, keys: Set(successors.values).sorted())
        let byKey = Dictionary(others.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        for (key, successor) in successors {
            if let object = byKey[successor] { wanted.take(object, for: key, rootIndex) }
        }
    }
}

/// Weak references by what they lead to, and what was found. Several may lead to one object: of one that has become another
/// row, for instance.
private struct WantedReferences<Object: ManagedObject> {
    /// By topmost entity and key.
    private var references: [Int: [Int64: [ObjectReference<Object>]]] = [:]
    private(set) var result: [ObjectReference<Object>: Object] = [:]

    init(_ list: [ObjectReference<Object>], _ core: ContextCore) {
        for reference in Set(list) {
            guard let id = core.objectID(for: reference.uri) else { continue }
            references[core.rootIndex(of: id), default: [:]][core.identityMap.key(of: id), default: []].append(
                reference)
        }
    }

    /// The keys of each hierarchy.
    var groups: [(rootIndex: Int, keys: [Int64])] {
        references.sorted { $0.key < $1.key }.map { ($0.key, $0.value.keys.sorted()) }
    }

    func request(_ keys: [Int64], _ entity: EntityDescription) -> FetchRequest<ManagedObject> {
        let list = Value.list(keys.map(Value.object))
        return FetchRequest(
            entity: entity.name, where: .comparison(.evaluatedObject, .isIn, .constant(list), []))
    }

    mutating func take(_ objects: [ManagedObject], _ rootIndex: Int) {
        for object in objects { take(object, for: object.key, rootIndex) }
    }

    mutating func take(_ object: ManagedObject, for key: Int64, _ rootIndex: Int) {
        guard let object = object as? Object else { return }
        for reference in references[rootIndex]?[key] ?? [] { result[reference] = object }
    }

    /// Those of some keys for which nothing was found.
    func missing(among keys: [Int64], _ rootIndex: Int) -> [Int64] {
        keys.filter { key in references[rootIndex]?[key]?.contains { result[$0] == nil } ?? false }
    }
}

extension ContextCore {
    /// The ID of an object of this container by its URI.
    func objectID(for uri: URL) -> ObjectID? {
        guard let id = ObjectID(uri: uri, model: model), ownEntityIndex(of: id) != nil else { return nil }
        return id
    }

    /// The topmost entity of the hierarchy of an ID that was made for this container's model.
    fileprivate func rootIndex(of id: ObjectID) -> Int { rootIndex(of: id.entity.index) }

    /// The objects of some keys that exist, without those that are deleted here.
    fileprivate func objects(rootIndex: Int, keys: [Int64]) throws(PersistenceError) -> [ManagedObject] {
        let table = identityMap.table(rootIndex)
        var result: [ManagedObject] = []
        var unread: [Int64] = []
        for key in keys {
            if let object = table.object(key), !object.isFault { result.append(object) } else { unread.append(key) }
        }
        var rows = try self.rows.rows(entityIndex: rootIndex, keys: unread)
        let absent = rows.filter(\.row.isHeaderOnly).map(\.row.key)
        if !absent.isEmpty, let network = coordinator.network(of: rootIndex) {
            try store { (_) throws(StoreError) in
                try network.prepareRowsNow(entityIndex: rootIndex, keys: absent.sorted())
            }
            rows = try self.rows.rows(entityIndex: rootIndex, keys: unread)
        }
        for row in rows where !row.row.isHeaderOnly { result.append(factory.materialize(row, batch: nil)) }
        return result.filter { !$0.isDeleted && !$0.isMissing }
    }

    /// The keys of objects of a remote store that took the place of others.
    fileprivate func successors(of keys: [Int64], rootIndex: Int) throws(PersistenceError) -> [Int64: Int64] {
        guard !keys.isEmpty, let network = coordinator.network(of: rootIndex) else { return [:] }
        return try store { (_) throws(StoreError) in try network.successors(of: keys, entityIndex: rootIndex) }
    }
}
