import Foundation
import StrataSQLite

// Pulls from back ends that do not tell what has changed.

extension PullRun {
    /// Reads all objects of an entity, or those that were changed since the last time; and finds out what is gone.
    mutating func readAll(_ entity: EntityDescription) async throws(SyncError) {
        if let attribute = engine.options.modificationAttribute.flatMap(entity.slot(named:)) {
            return try await readChanged(entity, attribute)
        }
        let known = try local { () throws(StoreError) in try mirror.settledIdentities(of: entity) }
        var seen: Set<String> = []
        try await forEachPage(RemoteQuery(entity: entity)) { (run, page, ticket) throws(SyncError) in
            seen.formUnion(page.records.map { run.mirror.canonical($0.id, entity) })
            seen.formUnion(page.unreadable.compactMap(\.identity?.id))
            try run.take(page, ticket)
        }
        // Asked for once more: pages shift while others write.
        try await removeAbsent(known.filter { !seen.contains($0.id) }, of: known.count, entity)
    }

    /// Reads objects in the order of their last change, from the last one that is known. Pages go by that time, not by
    /// position: an object that changes while pages are read moves to the end, and shifts all others.
    private mutating func readChanged(
        _ entity: EntityDescription, _ attribute: SlotDescription
    ) async throws(SyncError) {
        let name = Mirror.cursorName(entity)
        let start = mirror.order.moment
        var latest = try local { () throws(StoreError) in try mirror.state(name) }.flatMap(Double.init)
        guard capabilities.features.isSuperset(of: [.sorting, .paging]) else {
            var query = RemoteQuery(entity: entity)
            query.predicate = latest.map { Self.changed(since: $0, attribute) }
            try await forEachPage(query) { (run, page, ticket) throws(SyncError) in
                latest = Self.latest(page, attribute, latest)
                try run.take(page, ticket)
            }
            if let latest { try keep(String(latest), name, since: start) }
            return try await sweep(entity)
        }
        var query = RemoteQuery(entity: entity)
        query.sorts = [FetchSort([attribute.name])]
        query.limit = max(2, pageSize)
        while true {
            query.predicate = latest.map { Self.changed(since: $0, attribute) }
            let ticket = mirror.ticket()
            let page = try await page(.query(query))
            let before = latest
            latest = Self.latest(page, attribute, latest)
            try take(page, ticket, cursor: latest.map { (name, String($0), start) })
            let count = page.records.count + page.unreadable.count
            guard page.hasMore || count >= query.limit ?? .max, count > 0 else { break }
            // All of one time: only by counting does the next page get past them.
            query.offset = latest == before ? query.offset + count : 0
        }
        try await sweep(entity)
    }

    private static func changed(since time: Double, _ attribute: SlotDescription) -> FetchPredicate {
        .comparison(
            .keyPath([attribute.name]), .greaterOrEqual,
            .constant(.date(Date(timeIntervalSinceReferenceDate: time))), [])
    }

    private static func latest(_ page: RemotePage, _ attribute: SlotDescription, _ latest: Double?) -> Double? {
        page.records.reduce(latest) { latest, record in
            guard case .value(.date(let date)) = record.values[attribute.name] else { return latest }
            return max(latest ?? -.infinity, date.timeIntervalSinceReferenceDate)
        }
    }

    /// Goes through all pages of a query.
    private mutating func forEachPage(
        _ query: RemoteQuery, _ body: (inout PullRun, RemotePage, ReadTicket) throws(SyncError) -> Void
    ) async throws(SyncError) {
        var query = query
        let isPaged = capabilities.features.contains(.paging)
        if isPaged { query.limit = pageSize }
        var cursors: Set<String> = []
        while true {
            let ticket = mirror.ticket()
            let page = try await page(.query(query))
            try body(&self, page, ticket)
            if page.hasMore, let next = page.next {
                guard cursors.insert(next).inserted else {
                    throw .remote(
                        RemoteError(
                            .invalidAnswer, domain: "Strata",
                            message:
                                "\(engine.backend.name) gives the same page of \(query.entity.name) again and again"))
                }
                query.cursor = next
                continue
            }
            let count = page.records.count + page.unreadable.count
            // Pages that go by cursors end where the cursors do.
            guard isPaged, query.cursor == nil, page.next == nil, count >= pageSize else { return }
            query.offset += count
        }
    }

    /// Compares the primary keys of all objects with those here, for back ends that do not report deletions. Objects
    /// that are not here are read, too: a page of changes may have missed them.
    mutating func sweep(_ entity: EntityDescription) async throws(SyncError) {
        let known = try local { () throws(StoreError) in try mirror.settledIdentities(of: entity) }
        var query = RemoteQuery(entity: entity)
        if capabilities.features.contains(.selecting) { query.properties = [] }
        var seen: Set<String> = []
        try await forEachPage(query) { (run, page, _) in
            seen.formUnion(page.records.map { run.mirror.canonical($0.id, entity) })
            seen.formUnion(page.unreadable.compactMap(\.identity?.id))
        }
        let listed = seen
        let unknown = try local { () throws(StoreError) in try mirror.unknown(among: listed, of: entity) }
        try await refresh(unknown, [entity])
        try await removeAbsent(known.filter { !seen.contains($0.id) }, of: known.count, entity)
    }

    /// Asks by primary key for objects that the server did not list, and removes those that it does not have. If that would
    /// be most of what is here, nothing is removed: the server has lost its data, or is another one.
    /// - Parameters:
    ///   - count: How many objects of the entity were here.
    ///   - areStale: Whether the missing ones were noted to be asked for again.
    mutating func removeAbsent(
        _ missing: [RemoteIdentity], of count: Int, _ entity: EntityDescription, areStale: Bool = false
    ) async throws(SyncError) {
        let share = Double(missing.count) / Double(max(1, count))
        guard missing.count >= 10, share > engine.options.maximumLossShare else {
            return try await refresh(missing, [entity], areStale: areStale)
        }
        throw .remote(
            RemoteError(
                .rejected, domain: "Strata",
                message:
                    "the server lists \(count - missing.count) of \(count) \(entity.name) that it had; nothing was "
                    + "deleted here. Check the server's data, or reset the store, or raise SyncOptions.maximumLossShare"
            ))
    }

    /// Reads objects by their primary keys, and removes those that the server has no more.
    /// - Parameters:
    ///   - entities: The entities that they may be of.
    ///   - areStale: Whether they were noted to be asked for again.
    mutating func refresh(
        _ missing: [RemoteIdentity], _ entities: [EntityDescription], areStale: Bool = false
    ) async throws(SyncError) {
        let size = capabilities.features.contains(.readingMany) ? max(1, capabilities.maximumIDs) : 1
        for start in stride(from: 0, to: missing.count, by: size) {
            let asked = Array(missing[start..<min(start + size, missing.count)])
            var absent = asked
            let ticket = mirror.ticket()
            var found = RemotePage()
            for entity in entities where !absent.isEmpty {
                do throws(SyncError) {
                    let page = try await page(.read(entity: entity, ids: absent.map(\.id)))
                    found.records += page.records
                    found.unreadable += page.unreadable
                } catch {
                    guard case .remote(let cause) = error, cause.kind == .notFound || cause.kind == .gone,
                        absent.count == 1
                    else {
                        throw error
                    }
                }
                var present = Set(found.records.map { mirror.canonical($0.id, entity) })
                present.formUnion(found.unreadable.compactMap(\.identity?.id))
                absent.removeAll { present.contains($0.id) }
                // Which one it is that makes no sense is not known: none of them is gone.
                if found.unreadable.contains(where: { $0.identity == nil }) { absent = [] }
            }
            found.deleted = absent
            try take(found, ticket, fresh: areStale ? asked : [])
        }
    }
}
