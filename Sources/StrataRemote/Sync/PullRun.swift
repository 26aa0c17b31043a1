import Foundation
import StrataSQLite

/// One pull: applies what has changed at the server, entity by entity. An entity that cannot be read does not stop the
/// others.
struct PullRun {
    let engine: SyncEngine
    private(set) var received = 0
    private(set) var removed = 0
    private(set) var unreadable: [UnreadableRecord] = []
    /// Changes that what was read has settled.
    private(set) var results: [SyncResult] = []
    /// The error of the first entity that could not be read.
    private var failure: SyncError?
    /// What has been asked for by name because it was noted as stale.
    private var refreshed: Set<RemoteIdentity> = []

    init(_ engine: SyncEngine) { self.engine = engine }

    var mirror: Mirror { engine.mirror }
    var capabilities: RemoteCapabilities { engine.backend.capabilities }

    mutating func run() async throws(SyncError) {
        for entity in mirror.model.entities where isPulled(entity) {
            engine.news.update { status in
                status.phase = .pulling(entity.name)
                status.done = 0
                status.total = nil
            }
            do throws(SyncError) {
                try await pull(entity)
            } catch {
                // The next request would meet the same.
                guard case .remote(let cause) = error, !cause.endsPull else { throw error }
                failure = failure ?? error
            }
        }
        // Also what became so by what was just read.
        var asked: Set<RemoteIdentity> = []
        repeat { try await readStale() } while try await readPlaceholders(&asked)
        if let failure { throw failure }
    }

    private mutating func pull(_ entity: EntityDescription) async throws(SyncError) {
        let features = capabilities.features(of: entity)
        guard features.contains(.incrementalPull) else { return try await readAll(entity) }
        do throws(SyncError) {
            try await pullNews(of: entity)
        } catch {
            guard case .remote(let cause) = error, cause.kind == .cursorExpired else { throw error }
            try local { () throws(StoreError) in try mirror.begin(entity) }
            try await pullNews(of: entity)
        }
        if !features.contains(.deletions) { try await sweep(entity) }
    }

    private func isPulled(_ entity: EntityDescription) -> Bool {
        !entity.isAbstract && engine.options.entities?.contains(entity.name) != false
    }

    mutating func take(
        _ page: RemotePage, _ ticket: ReadTicket, cursor: (name: String, value: String, since: Int)? = nil,
        fresh: [RemoteIdentity] = [], told: EntityDescription? = nil
    ) throws(SyncError) {
        let applied = try local { () throws(StoreError) in
            try mirror.apply(page, ticket: ticket, state: cursor, fresh: fresh, told: told)
        }
        for record in applied.unreadable where !unreadable.contains(record) { unreadable.append(record) }
        for identity in applied.dropped {
            let result = SyncResult(identity: identity, kind: .insert, action: .deletedHere)
            results.append(result)
            engine.news.post(result)
        }
        received += page.records.count
        removed += page.deleted.count
        engine.news.update { $0.done += page.records.count + page.deleted.count }
    }

    /// Notes how far a pull came that began at a moment.
    func keep(_ cursor: String, _ name: String, since start: Int) throws(SyncError) {
        _ = try local { () throws(StoreError) in try mirror.apply(RemotePage(), state: (name, cursor, start)) }
    }

    func page(_ operation: RemoteOperation) async throws(SyncError) -> RemotePage {
        guard case .page(let page) = try await engine.read(operation) else {
            throw .remote(
                RemoteError(
                    .invalidAnswer, domain: "Strata", message: "\(engine.backend.name) answered a read without objects")
            )
        }
        return page
    }

    var pageSize: Int { min(engine.options.pageSize, capabilities.maximumPage ?? .max) }

    /// Reads what has to be read again, each object once.
    private mutating func readStale() async throws(SyncError) {
        while true {
            // What a pull has still to tell that started over and was cut off is not asked for by name.
            let (all, beginning) = try local { () throws(StoreError) in
                (try mirror.staleIdentities(), try mirror.beginningEntities())
            }
            let stale = all.filter { !beginning.contains($0.entity) && refreshed.insert($0).inserted }
            if stale.isEmpty { return }
            for (name, list) in Dictionary(grouping: stale, by: \.entity).sorted(by: { $0.key < $1.key }) {
                guard let entity = mirror.model.entity(named: name) else { continue }
                try await setAside { (run) async throws(SyncError) in
                    try await run.refresh(list, [entity], areStale: true)
                }
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
            try await setAside { (run) async throws(SyncError) in try await run.refresh(missing, entities) }
        }
        return asked.count > before
    }

    /// Does a part of the pull whose failure does not keep others from being read.
    private mutating func setAside(
        _ body: (inout PullRun) async throws(SyncError) -> Void
    ) async throws(SyncError) {
        do throws(SyncError) {
            try await body(&self)
        } catch {
            guard case .remote(let cause) = error, !cause.endsPull else { throw error }
            failure = failure ?? error
        }
    }

    // MARK: By cursors

    private mutating func pullNews(of entity: EntityDescription) async throws(SyncError) {
        let name = Mirror.cursorName(entity)
        var start = mirror.order.moment
        var (cursor, isAnew) = try place(in: entity)
        var seen: Set<String> = []
        while true {
            let ticket = mirror.ticket()
            let page = try await page(.pull(RemotePull(entity: entity, cursor: cursor, limit: pageSize)))
            // Objects that arrived while the request was under way, by a save for instance, may be missing from its
            // answer.
            if cursor == nil { isAnew = try place(in: entity).isAnew }
            // A pull is not overtaken by its own beginning, so what its first page tells is not asked for again.
            let tellsAnew = isAnew || cursor == nil
            try take(page, ticket, cursor: page.next.map { (name, $0, start) }, told: tellsAnew ? entity : nil)
            if mirror.order.isPurged(since: start) {
                // What it has passed may be here no more.
                start = mirror.order.moment
                (cursor, isAnew) = try place(in: entity)
                seen = []
                continue
            }
            guard page.hasMore else { break }
            guard let next = page.next, seen.insert(next).inserted, next != cursor else {
                throw .remote(
                    RemoteError(
                        .invalidAnswer, domain: "Strata",
                        message: "\(engine.backend.name) says that there are more \(entity.name), but not how to go on")
                )
            }
            cursor = next
        }
        if isAnew { try await removeUntold(entity) }
    }

    /// Where the pull of an entity goes on, and whether it has to find out what is gone.
    private func place(in entity: EntityDescription) throws(SyncError) -> (cursor: String?, isAnew: Bool) {
        try local { () throws(StoreError) in
            let cursor = try mirror.state(Mirror.cursorName(entity))
            if cursor == nil { try mirror.begin(entity) }
            return (cursor, try mirror.countBeforeBeginning(entity) != nil)
        }
    }

    /// Finds out what is gone of the objects that were here when a pull started over.
    private mutating func removeUntold(_ entity: EntityDescription) async throws(SyncError) {
        let (untold, count) = try local { () throws(StoreError) in
            (
                try mirror.staleIdentities().filter { $0.entity == entity.name },
                try mirror.countBeforeBeginning(entity) ?? 0
            )
        }
        try await removeAbsent(untold, of: count, entity, areStale: true)
        try local { () throws(StoreError) in try mirror.setState(Mirror.beginningName(entity), nil) }
    }
}

extension RemoteError {
    /// Whether the pull of no entity could get further.
    fileprivate var endsPull: Bool { isTransient || kind == .cancelled || kind == .unauthorized }
}
