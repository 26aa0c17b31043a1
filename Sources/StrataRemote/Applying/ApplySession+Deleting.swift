import Foundation
import StrataSQLite
import StrataStore

/// Takes objects away that the server has no more.
extension ApplySession {
    /// The server has deleted objects.
    mutating func delete(_ identities: [RemoteIdentity]) throws(StoreError) {
        var groups: [Int: [(name: RemoteIdentity, entity: EntityDescription)]] = [:]
        var seen: Set<RemoteIdentity> = []
        for identity in identities {
            guard let entity = model.entity(named: identity.entity) else { continue }
            let name = named(mirror.canonical(identity.id, entity), entity)
            guard positions[name] == nil, seen.insert(name).inserted else { continue }
            groups[entity.rootIndex, default: []].append((name, entity))
        }
        for (root, list) in groups.sorted(by: { $0.key < $1.key }) { try delete(list, root) }
    }

    private mutating func delete(
        _ list: [(name: RemoteIdentity, entity: EntityDescription)], _ root: Int
    ) throws(StoreError) {
        let known = try mirror.known(list.map(\.name.id), root: root, on: connection)
        try lookForEntries(root, known.values.compactMap(\.key))
        var keys: [Int64] = []
        var settled: [Int64] = []
        var deletedHere: [String] = []
        var lost: [RemoteIdentity] = []
        for (name, entity) in list {
            let mayBeOlder = mirror.order.isOvertaken(name, occasion.ticket)
            guard let object = known[name.id] else {
                // An answer that is still under way may tell it as it was before.
                if !mayBeOlder { mirror.order.noteDeleted(name) }
                continue
            }
            // The answer may be older than one that told the object: it is asked for again. So is a new object that others refer to
            // already, and whose creation may not have arrived: not to find it would look like its end.
            if mayBeOlder || mirror.online.births.isUnderWay(name) {
                result.overtaken.insert(RemoteIdentity(entity: entity.name, id: name.id))
                continue
            }
            // Objects that the server has may refer to a placeholder whose object a context has made by its next save.
            if mirror.online.births.isAwaited(name), try isPlaceholder(object.key, root) { continue }
            if let key = object.key {
                let entries = local.waiting[RowIdentity(entityIndex: root, key: key)] ?? []
                // What becomes of changes is decided when they are sent. If the server once had the object that was created
                // here, its deletion wins over the insert that waits for its answer.
                if entries.contains(where: { $0.kind == .update || ($0.kind == .insert && $0.state != .sent) }) {
                    // An online save that is under way may send them, and find the object as it was before.
                    mirror.order.noteWritten([name])
                    continue
                }
                settled += entries.map(\.seq)
                if entries.contains(where: { $0.kind == .insert }) {
                    result.dropped.append(RemoteIdentity(entity: entity.name, id: name.id))
                }
                keys.append(key)
            } else {
                deletedHere.append(name.id)
            }
            lost.append(name)
        }
        settled += try deletions(of: deletedHere, root).map(\.seq)
        try mirror.remove(settled, on: connection)
        try remove(lost, keys: keys, root)
    }

    private func isPlaceholder(_ key: Int64?, _ root: Int) throws(StoreError) -> Bool {
        guard let key else { return false }
        return try !mirror.ids(entityIndex: root, keys: [key], placeholdersOnly: true, on: connection).isEmpty
    }

    /// The entries that delete objects which are gone here.
    private mutating func deletions(of ids: [String], _ root: Int) throws(StoreError) -> [OutboxEntry] {
        if ids.isEmpty { return [] }
        if try isOutboxEmpty() { return [] }
        return try mirror.deletions(of: ids, root: root, on: connection)
    }

    /// Takes objects away.
    /// - Parameters:
    ///   - names: Their names, by the topmost entity.
    ///   - keys: The keys of those that are here.
    mutating func remove(_ names: [RemoteIdentity], keys: [Int64], _ root: Int) throws(StoreError) {
        if names.isEmpty { return }
        try transaction.rows(entityIndex: root, keys: keys).forEach { (slab, row) throws(StoreError) in
            written.delete(RowReference(slab: slab, row: row))
        }
        for name in names {
            gone.insert(name)
            mirror.order.noteDeleted(name)
        }
        let names = names.map(\.id)
        let writer = OutboxWriter(mirror: mirror, connection: connection)
        if try isOutboxEmpty() { try writer.forget(names, root: root) } else { try writer.release(names, root: root) }
    }

    /// Takes an object away.
    mutating func remove(_ name: RemoteIdentity, _ entity: EntityDescription, _ key: Int64) throws(StoreError) {
        try remove([name], keys: [key], entity.rootIndex)
    }

    /// Takes an object away, and notes what refers to it: the server may still have both.
    mutating func removeNotingLinks(
        _ name: RemoteIdentity, _ entity: EntityDescription, _ key: Int64
    ) throws(StoreError) {
        let count = written.changes.deletes.count
        try remove(name, entity, key)
        try noteLinks(toDeletes: count)
    }

    /// Takes a row away whose object is here by another key, or is to be, and notes what refers to it.
    mutating func deleteNotingLinks(_ row: RowReference) throws(StoreError) {
        written.delete(row)
        try noteLinks(toDeletes: written.changes.deletes.count - 1)
    }

    /// Notes what refers to objects whose rows are about to go.
    /// - Parameter first: The position of the first of them.
    private func noteLinks(toDeletes first: Int) throws(StoreError) {
        try DeletedLinks(mirror: mirror, connection: connection).note(Array(written.changes.deletes[first...]))
    }
}
