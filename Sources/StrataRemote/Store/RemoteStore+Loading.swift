import Foundation
import StrataSQLite

extension RemoteStore {
    public func prepareRows(
        entityIndex: Int, keys: [Int64], options: (any StoreRequestOptions)?
    ) async throws(StoreError) {
        let options = self.options(options)
        guard options.fetchPolicy != .cacheOnly else { return }
        try await bring(keys, entityIndex, options)
    }

    public func prepareRowsNow(entityIndex: Int, keys: [Int64]) throws(StoreError) {
        let options = self.options(nil)
        let name = model.entities[entityIndex].name
        guard let first = keys.first else { return }
        let what = "reading \(name)/\(first), of which the mirror has no more than the key,"
        guard options.fetchPolicy != .cacheOnly else { throw .needsNetwork(store: backend.name, what: what) }
        try refuseToBlock(what)
        try Waiting.wait { () async throws(StoreError) in try await self.bring(keys, entityIndex, options) }
    }

    /// Reads the objects of some keys of which no more is here: as few requests as the back end allows.
    private func bring(_ keys: [Int64], _ entityIndex: Int, _ options: Options) async throws(StoreError) {
        try await refresh(Array(try mirror.placeholders(among: keys, entityIndex: entityIndex).values), options)
    }

    /// Reads objects by their names, in as few requests as the back end allows, and removes those that it does not have.
    func refresh(_ names: [RemoteIdentity], _ options: Options) async throws(StoreError) {
        let size = max(1, backend.capabilities.maximumIDs)
        for (name, list) in Dictionary(grouping: names, by: \.entity).sorted(by: { $0.key < $1.key }) {
            guard let entity = model.entity(named: name) else { continue }
            let ids = list.map(\.id).sorted()
            for start in stride(from: 0, to: ids.count, by: size) {
                let wanted = Array(ids[start..<min(start + size, ids.count)])
                let ticket = mirror.ticket()
                var page = try await read(wanted, entity, options)
                var missing = Set(wanted).subtracting(page.records.map { mirror.canonical($0.id, entity) })
                // A reference tells no entity: what is not of the likeliest one may be of another that inherits.
                for other in model.entities[entity.rootIndex].descendantIndexes.map({ model.entities[$0] })
                where !missing.isEmpty && !other.isAbstract && other.index != entity.index {
                    let more = try await read(missing.sorted(), other, options)
                    page.records += more.records
                    page.unreadable += more.unreadable
                    missing.subtract(more.records.map { mirror.canonical($0.id, entity) })
                }
                // Objects that no longer exist are removed here, too.
                if page.unreadable.isEmpty {
                    page.deleted += missing.sorted().map { RemoteIdentity(entity: name, id: $0) }
                }
                _ = try await take(page, ticket, options)
            }
        }
    }

    /// Reads objects by primary key.
    private func read(
        _ ids: [String], _ entity: EntityDescription, _ options: Options
    ) async throws(StoreError) -> RemotePage {
        do throws(StoreError) {
            guard case .page(let page) = try await ask(.read(entity: entity, ids: ids), options) else {
                throw unexpected("objects")
            }
            return page
        } catch {
            guard error.isUnreachable, case .remote(var failure) = error,
                let code = backend.code(of: .objectNotHere)
            else { throw error }
            failure.domain = code.domain
            failure.code = code.code
            throw .remote(failure)
        }
    }

    /// Brings the objects on the way of paths, so that conditions, orders and columns that are evaluated here can look at them.
    func bringRelated(
        _ paths: [[String]], _ entityIndex: Int, _ keys: [Int64], _ options: Options
    ) async throws(StoreError) {
        for path in Set(paths) where path.count > 1 && !keys.isEmpty {
            var place = (entity: model.entities[entityIndex], keys: keys)
            for name in path.dropLast() {
                guard let next = try step(name, from: place) else { break }
                place = next
                try await bring(place.keys, place.entity.index, options)
            }
        }
    }

    /// Whether objects on the way of paths are not here.
    func lacksRelated(_ paths: [[String]], _ entityIndex: Int, _ keys: [Int64]) throws(StoreError) -> Bool {
        for path in Set(paths) where path.count > 1 && !keys.isEmpty {
            var place = (entity: model.entities[entityIndex], keys: keys)
            for name in path.dropLast() {
                guard let next = try step(name, from: place) else { break }
                place = next
                if try !mirror.placeholders(among: place.keys, entityIndex: place.entity.index).isEmpty { return true }
            }
        }
        return false
    }

    /// Where a relationship leads from some objects; nil if there is no relationship of this name.
    private func step(
        _ name: String, from place: (entity: EntityDescription, keys: [Int64])
    ) throws(StoreError) -> (entity: EntityDescription, keys: [Int64])? {
        guard let relationship = place.entity.relationship(named: name) else { return nil }
        return (model.destination(of: relationship), try ends(of: relationship, place.entity, place.keys))
    }

    /// The keys that a relationship of some objects leads to, each once.
    private func ends(
        of relationship: RelationshipDescription, _ entity: EntityDescription, _ keys: [Int64]
    ) throws(StoreError) -> [Int64] {
        guard let slot = relationship.slot else {
            let pairs = try mirror.store.memberKeys(
                entityIndex: entity.index, relationshipIndex: relationship.index, owners: Set(keys).sorted())
            return Set(pairs.map(\.member)).sorted()
        }
        var result: Set<Int64> = []
        try mirror.store.rows(entityIndex: entity.index, keys: keys).forEach { (_, row) throws(StoreError) in
            if slot < row.slotCount, row.isPresent(slot) { result.insert(Int64(bitPattern: row.word(slot))) }
        }
        return result.sorted()
    }
}
