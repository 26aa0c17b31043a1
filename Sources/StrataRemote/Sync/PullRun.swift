import Foundation
import StrataSQLite

/// One pull: takes in what has changed at the server, entity by entity.
struct PullRun {
    let engine: SyncEngine
    private(set) var received = 0
    private(set) var removed = 0

    init(_ engine: SyncEngine) { self.engine = engine }

    private var mirror: Mirror { engine.mirror }
    private var capabilities: RemoteCapabilities { engine.backend.capabilities }

    mutating func run() async throws(SyncError) {
        for entity in mirror.model.entities where isPulled(entity) {
            engine.news.update { status in
                status.phase = .pulling(entity.name)
                status.done = 0
                status.total = nil
            }
            if capabilities.features.contains(.incrementalPull) {
                try await pullNews(of: entity)
                if !capabilities.features.contains(.deletions) { try await sweep(entity) }
            } else {
                try await readAll(entity)
            }
        }
        // Also what became so by what was just read.
        var asked: Set<RemoteIdentity> = []
        repeat { try await readStale() } while try await readPlaceholders(&asked)
    }

    private func isPulled(_ entity: EntityDescription) -> Bool {
        !entity.isAbstract && engine.options.entities?.contains(entity.name) != false
    }

    private mutating func take(_ page: RemotePage, _ ticket: ReadTicket, cursor: (String, String)?) throws(SyncError) {
        try local { () throws(StoreError) in
            _ = try mirror.apply(page, ticket: ticket, state: cursor.map { (name: $0.0, value: $0.1) })
        }
        received += page.records.count
        removed += page.deleted.count
        engine.news.update { $0.done += page.records.count + page.deleted.count }
    }

    private func page(_ operation: RemoteOperation) async throws(SyncError) -> RemotePage {
        guard case .page(let page) = try await engine.read(operation) else {
            throw .remote(
                RemoteError(
                    .invalidAnswer, domain: "Strata", message: "\(engine.backend.name) answered a read without objects")
            )
        }
        await mirror.births.settled(page)
        return page
    }

    private var pageSize: Int { min(engine.options.pageSize, capabilities.maximumPage ?? .max) }

    /// Reads what has to be read again.
    private mutating func readStale() async throws(SyncError) {
        while true {
            let stale = try local { () throws(StoreError) in try mirror.staleIdentities() }
            if stale.isEmpty { return }
            for (name, list) in Dictionary(grouping: stale, by: \.entity).sorted(by: { $0.key < $1.key }) {
                guard let entity = mirror.model.entity(named: name) else { continue }
                try await refresh(list, [entity])
                try local { () throws(StoreError) in try mirror.noteFresh(list) }
            }
        }
    }

    /// Asks by name for what is referred to and was told by no pull of its entity: it came since, or the server has left
    /// references to what it has deleted.
    /// - Parameter asked: What has been asked for.
    /// - Returns: Whether there was anything to ask for.
    private mutating func readPlaceholders(_ asked: inout Set<RemoteIdentity>) async throws(SyncError) -> Bool {
        let before = asked.count
        for root in mirror.model.entities where root.rootIndex == root.index {
            let entities = root.descendantIndexes.map { mirror.model.entities[$0] }.filter { !$0.isAbstract }
            guard entities.allSatisfy(isPulled) else { continue }
            let missing = try local { () throws(StoreError) in try mirror.placeholders(of: root) }
                .filter { asked.insert($0).inserted }
            // A reference tells no entity: it may be any of the hierarchy.
            try await refresh(missing, entities)
        }
        return asked.count > before
    }

    // MARK: By cursors

    private mutating func pullNews(of entity: EntityDescription) async throws(SyncError) {
        let name = Mirror.cursorName(entity)
        var cursor = try local { () throws(StoreError) in try mirror.state(name) }
        while true {
            let ticket = mirror.ticket()
            let page = try await page(.pull(RemotePull(entity: entity, cursor: cursor, limit: pageSize)))
            try take(page, ticket, cursor: page.next.map { (name, $0) })
            guard page.hasMore, let next = page.next, next != cursor else { return }
            cursor = next
        }
    }

    // MARK: By reading

    /// Reads all objects of an entity, or those that were changed since the last time; and finds out what is gone.
    private mutating func readAll(_ entity: EntityDescription) async throws(SyncError) {
        let name = Mirror.cursorName(entity)
        let attribute = engine.options.modificationAttribute.flatMap(entity.slot(named:))
        let known = try local { () throws(StoreError) in try mirror.settledIdentities(of: entity) }
        var query = RemoteQuery(entity: entity)
        var latest = try local { () throws(StoreError) in try mirror.state(name) }.flatMap(Double.init)
        if let attribute {
            if let latest {
                query.predicate = .comparison(
                    .keyPath([attribute.name]), .greaterOrEqual,
                    .constant(.date(Date(timeIntervalSinceReferenceDate: latest))), [])
            }
            if capabilities.features.contains(.sorting) { query.sorts = [FetchSort([attribute.name])] }
        }
        var seen: Set<String> = []
        try await forEachPage(&query) { (run, page, ticket) throws(SyncError) in
            for record in page.records {
                seen.insert(record.id)
                if let attribute, case .value(.date(let date)) = record.values[attribute.name] {
                    latest = max(latest ?? -.infinity, date.timeIntervalSinceReferenceDate)
                }
            }
            try run.take(page, ticket, cursor: nil)
        }
        if attribute == nil {
            // Asked for once more: pages shift while others write.
            try await refresh(known.filter { !seen.contains($0.id) }, [entity])
        } else {
            if let latest { try local { () throws(StoreError) in try mirror.setState(name, String(latest)) } }
            try await sweep(entity)
        }
    }

    /// Goes through all pages of a query.
    private mutating func forEachPage(
        _ query: inout RemoteQuery, _ body: (inout PullRun, RemotePage, ReadTicket) throws(SyncError) -> Void
    ) async throws(SyncError) {
        let isPaged = capabilities.features.contains(.paging)
        if isPaged { query.limit = pageSize }
        while true {
            let ticket = mirror.ticket()
            let page = try await page(.query(query))
            try body(&self, page, ticket)
            if page.hasMore, let next = page.next, next != query.cursor {
                query.cursor = next
                continue
            }
            guard isPaged, page.next == nil, page.records.count >= pageSize else { return }
            query.offset += page.records.count
        }
    }

    /// Compares the primary keys of all objects with those here: for back ends that do not tell of deletions.
    private mutating func sweep(_ entity: EntityDescription) async throws(SyncError) {
        let known = try local { () throws(StoreError) in try mirror.settledIdentities(of: entity) }
        guard !known.isEmpty else { return }
        var query = RemoteQuery(entity: entity)
        if capabilities.features.contains(.selecting) { query.properties = [] }
        var seen: Set<String> = []
        try await forEachPage(&query) { (_, page, _) in seen.formUnion(page.records.map(\.id)) }
        try await refresh(known.filter { !seen.contains($0.id) }, [entity])
    }

    /// Reads objects by their primary keys, and removes those that the server has no more.
    /// - Parameter entities: The entities that they may be of.
    private mutating func refresh(
        _ missing: [RemoteIdentity], _ entities: [EntityDescription]
    ) async throws(SyncError) {
        let size = capabilities.features.contains(.readingMany) ? max(1, capabilities.maximumIDs) : 1
        for start in stride(from: 0, to: missing.count, by: size) {
            var absent = Array(missing[start..<min(start + size, missing.count)])
            let ticket = mirror.ticket()
            var found: [RemoteRecord] = []
            for entity in entities where !absent.isEmpty {
                do throws(SyncError) {
                    found += try await page(.read(entity: entity, ids: absent.map(\.id))).records
                } catch {
                    guard case .remote(let cause) = error, cause.kind == .notFound, absent.count == 1 else {
                        throw error
                    }
                }
                let present = Set(found.map(\.id))
                absent.removeAll { present.contains($0.id) }
            }
            try take(RemotePage(records: found, deleted: absent), ticket, cursor: nil)
        }
    }
}
