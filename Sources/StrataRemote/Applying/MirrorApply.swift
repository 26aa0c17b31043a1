import Foundation
import StrataSQLite
import StrataStore

/// What became of what a server told.
package struct AppliedChanges: Sendable {
    /// For each record of the page the object here; nil for one that was deleted here, or is about to be.
    package var rows: [RowIdentity?] = []
    /// What contexts hear about; nil if nothing changed.
    package var change: StoreChange?
    /// The records that could not be applied.
    package var unreadable: [UnreadableRecord] = []
    /// The records that were overtaken: they were not applied, and the server is asked for their objects again.
    package var overtaken: Set<RemoteIdentity> = []
    /// New objects that are gone: their creation was sent without an answer, and the server has deleted objects of their keys.
    package var dropped: [RemoteIdentity] = []
}

extension Mirror {
    /// Applies a server's records in one transaction. Objects that they refer to and that are not here become
    /// placeholders. Local changes stay on top until the server has received them. Contexts are notified of the change.
    /// - Parameters:
    ///   - isWhole: Whether the records have all values; false if only some properties were requested.
    ///   - ticket: Taken before the request was sent.
    ///   - state: A value to keep in the same transaction: how far a pull came that began at a moment. It is not kept if
    ///     objects were forgotten since.
    ///   - fresh: Objects that were requested again, and need not be again.
    ///   - told: The entity of which objects need not be asked for again that the page told, unless the answer was overtaken:
    ///     then it says nothing of what became of them.
    ///   - keeps: Whether the objects are a part of the mirror from now on. False leaves those that are as they are, and
    ///     those that are new no more than here.
    package func apply(
        _ page: RemotePage, isWhole: Bool = true, ticket: ReadTicket? = nil,
        state: (name: String, value: String, since: Int)? = nil, fresh: [RemoteIdentity] = [],
        told: EntityDescription? = nil, keeps: Bool = true
    ) throws(StoreError) -> AppliedChanges {
        let (known, placeholders) = keeps ? ([:], []) : try filled(page.records)
        let applied = try applying { (session) throws(StoreError) in
            session.occasion.isWhole = isWhole
            session.occasion.ticket = ticket
            if !fresh.isEmpty { try noteFresh(fresh, on: session.connection) }
            session.result.unreadable = page.unreadable
            if let state, !order.isPurged(since: state.since) {
                try MirrorState.set(state.name, state.value, on: session.connection)
            }
            let applied = try session.run(page.records, deleted: page.deleted)
            if let told { try noteFresh(names(page, applied, told), on: session.connection) }
            if !keeps {
                for (root, keys) in passing(page.records, applied.rows, known) {
                    try notePassing(keys, rootIndex: root, on: session.connection)
                }
                // Pulls may have passed what was forgotten here. They ask for it by name, as they do for placeholders.
                let links = DeletedLinks(mirror: self, connection: session.connection)
                for name in placeholders { try links.noteStale(name) }
            }
            return applied
        }
        if keeps {
            for (root, rows) in Dictionary(grouping: applied.rows.compactMap(\.self), by: { root($0.entityIndex) })
            where !passing.of(root).isEmpty {
                try forgetPassing(rows.map(\.key), rootIndex: root)
            }
        } else {
            for (root, keys) in passing(page.records, applied.rows, known) { passing.add(keys, rootIndex: root) }
        }
        return applied
    }

    /// The objects of a page that are here now as the server told them, and those whose records make no sense.
    private func names(_ page: RemotePage, _ applied: AppliedChanges, _ entity: EntityDescription) -> [RemoteIdentity] {
        let overtaken = Set(applied.overtaken.map(\.id))
        let taken = zip(page.records, applied.rows).compactMap { record, row in row == nil ? nil : record.id }
        return (taken + page.unreadable.compactMap(\.identity?.id)).map { canonical($0, entity) }
            .filter { !overtaken.contains($0) }
            .map { RemoteIdentity(entity: entity.name, id: $0) }
    }

    /// The keys of records that were not here before, by topmost entity.
    private func passing(
        _ records: [RemoteRecord], _ rows: [RowIdentity?], _ known: [RemoteIdentity: Int64]
    ) -> [Int: [Int64]] {
        var result: [Int: [Int64]] = [:]
        for (record, row) in zip(records, rows) {
            guard let row, known[record.identity] == nil else { continue }
            result[root(row.entityIndex), default: []].append(row.key)
        }
        return result
    }

    /// The keys of those of some objects that are here with more than their name, and the names of those that are here with
    /// nothing else.
    private func filled(
        _ records: [RemoteRecord]
    ) throws(StoreError) -> (known: [RemoteIdentity: Int64], placeholders: [RemoteIdentity]) {
        var known = try keys(of: records.map(\.identity))
        var placeholders: [RemoteIdentity] = []
        for (root, list) in Dictionary(grouping: known, by: { model.entity(named: $0.key.entity)?.rootIndex ?? 0 }) {
            let empty = try self.placeholders(among: list.map(\.value).sorted(), entityIndex: root)
            for (name, key) in list where empty[key] != nil {
                known[name] = nil
                placeholders.append(name)
            }
        }
        return (known, placeholders)
    }

    /// Runs a closure that applies what a server told, and tells contexts of it.
    func applying<T>(_ body: (inout ApplySession) throws(StoreError) -> T) throws(StoreError) -> T {
        let (result, change) = try echoing { (transaction) throws(StoreError) in
            transaction.origin = ChangeOrigin(author: RemoteStore.historyAuthor)
            var session = ApplySession(mirror: self, transaction: transaction)
            let result = try body(&session)
            return (result, session.result.change)
        }
        if let change { changes.post(change) }
        return result
    }
}
