import Foundation
import StrataSQLite
import StrataStore

extension RemoteStore {
    public func prepare(
        _ plan: FetchPlan, reading paths: [[String]], options: (any StoreRequestOptions)?
    ) async throws(StoreError) -> FetchPlan {
        try await prepare(plan, reading: paths, self.options(options))
    }

    /// As ``prepare(_:reading:options:)``, with the store's own options for what the request does not say.
    func prepare(
        _ plan: FetchPlan, reading paths: [[String]], _ options: Options
    ) async throws(StoreError) -> FetchPlan {
        switch options.fetchPolicy {
        case .cacheOnly: return try here(plan, options)
        case .networkOnly, .cacheThenNetwork: return try await brought(plan, reading: paths, options)
        case .networkElseCache:
            do throws(StoreError) {
                return try await brought(plan, reading: paths, options)
            } catch {
                guard error.isUnreachable, options.extras.subqueries.isEmpty else { throw error }
                return try here(plan, options)
            }
        case .cacheElseNetwork:
            guard options.extras.subqueries.isEmpty, try hasAny(plan) else {
                return try await brought(plan, reading: paths, options)
            }
            if paths.contains(where: { $0.count > 1 }) {
                try await bringRelated(paths, plan.entityIndex, keys(of: plan), options)
            }
            return try here(plan, options)
        }
    }

    private func keys(of plan: FetchPlan) throws(StoreError) -> [Int64] {
        try fetchIdentities(plan, cancellation: nil).map(\.key)
    }

    /// The plan over only the mirror.
    private func here(_ plan: FetchPlan, _ options: Options) throws(StoreError) -> FetchPlan {
        try refuseSubqueries(options)
        if let total = options.extras.total { total.value = try countOfAll(plan) }
        return plan
    }

    /// - Throws: ``StoreError/unsupported(store:feature:)`` if there are conditions that the mirror cannot evaluate.
    private func refuseSubqueries(_ options: Options) throws(StoreError) {
        guard options.extras.subqueries.isEmpty else {
            throw .unsupported(
                store: name, feature: "a condition on what another query finds, which only the server evaluates")
        }
    }

    private func countOfAll(_ plan: FetchPlan) throws(StoreError) -> Int {
        var all = plan
        all.limit = nil
        all.offset = 0
        all.sorts = []
        return try count(all, cancellation: nil)
    }

    public func prepareNow(
        _ plan: FetchPlan, reading paths: [[String]], options: (any StoreRequestOptions)?
    ) throws(StoreError) -> FetchPlan {
        var needsNetwork = try needsNetwork(plan, options)
        if !needsNetwork, self.options(options).fetchPolicy != .cacheOnly, paths.contains(where: { $0.count > 1 }) {
            needsNetwork = try lacksRelated(paths, plan.entityIndex, keys(of: plan))
        }
        guard needsNetwork else { return try here(plan, self.options(options)) }
        try refuseToBlock("a fetch of \(model.entities[plan.entityIndex].name)")
        return try Waiting.wait { () async throws(StoreError) in
            try await self.prepare(plan, reading: paths, options: options)
        }
    }

    public func count(
        _ plan: FetchPlan, options: (any StoreRequestOptions)?
    ) async throws(StoreError) -> Int? {
        let options = self.options(options)
        switch options.fetchPolicy {
        case .cacheOnly:
            try refuseSubqueries(options)
            return nil
        case .networkOnly, .cacheThenNetwork: return try await networkCount(plan, options)
        case .networkElseCache:
            do throws(StoreError) {
                return try await networkCount(plan, options)
            } catch {
                guard error.isUnreachable, options.extras.subqueries.isEmpty else { throw error }
                return nil
            }
        case .cacheElseNetwork:
            guard options.extras.subqueries.isEmpty, try hasAny(plan) else {
                return try await networkCount(plan, options)
            }
            return nil
        }
    }

    public func countNow(_ plan: FetchPlan, options: (any StoreRequestOptions)?) throws(StoreError) -> Int? {
        guard try needsNetwork(plan, options) else {
            try refuseSubqueries(self.options(options))
            return nil
        }
        try refuseToBlock("a count of \(model.entities[plan.entityIndex].name)")
        return try Waiting.wait { () async throws(StoreError) in try await self.count(plan, options: options) }
    }

    public func stages(_ options: (any StoreRequestOptions)?) -> [(any StoreRequestOptions)?] {
        guard self.options(options).fetchPolicy == .cacheThenNetwork else { return [options] }
        var first = options as? RemoteOptions ?? RemoteOptions()
        var second = first
        first.fetchPolicy = .cacheOnly
        second.fetchPolicy = .networkOnly
        return first.subqueries.isEmpty ? [first, second] : [second]
    }

    private func needsNetwork(_ plan: FetchPlan, _ options: (any StoreRequestOptions)?) throws(StoreError) -> Bool {
        let options = self.options(options)
        return switch options.fetchPolicy {
        case .cacheOnly: false
        case .cacheElseNetwork where !options.extras.subqueries.isEmpty: true
        case .cacheElseNetwork: try !hasAny(plan)
        case .networkOnly, .networkElseCache, .cacheThenNetwork: true
        }
    }

    /// - Throws: ``StoreError/needsNetwork(store:what:)`` if the store was not told to wait.
    func refuseToBlock(_ what: String) throws(StoreError) {
        guard waitsForNetwork else { throw .needsNetwork(store: backend.name, what: what) }
    }

    private func hasAny(_ plan: FetchPlan) throws(StoreError) -> Bool {
        var plan = plan
        plan.limit = min(plan.limit ?? 1, 1)
        plan.sorts = []
        return try !fetchIdentities(plan, cancellation: nil).isEmpty
    }

    // MARK: From the network

    private func networkCount(_ plan: FetchPlan, _ options: Options) async throws(StoreError) -> Int {
        let remote = try planner.plan(plan, finishesLocally: options.finishesLocally, extras: options.extras)
        if remote.isEmpty { return 0 }
        var isAsked = !remote.query.subqueries.isEmpty
        if !isAsked { isAsked = try mirror.waitingKeys(rootIndex: mirror.root(plan.entityIndex)).isEmpty }
        guard isAsked, backend.capabilities.features.contains(.counting), remote.rest == nil else {
            let found = try await brought(plan, options)
            return try count(found, cancellation: nil)
        }
        var count = 0
        for var query in remote.queries(in: model) {
            query.countsAll = false
            query.includes = []
            count += try await serverCount(query, options)
        }
        let rest = max(0, count - plan.offset)
        return plan.limit.map { min($0, rest) } ?? rest
    }

    /// How many objects the server has that meet the conditions of a query.
    private func serverCount(_ query: RemoteQuery, _ options: Options) async throws(StoreError) -> Int {
        var query = query
        query.sorts = []
        query.limit = nil
        query.offset = 0
        guard case .count(let count) = try await ask(.count(query), options) else { throw unexpected("a count") }
        return count
    }

    var planner: RemotePlanner { RemotePlanner(backend: backend, mirror: mirror) }

    /// Brings what a plan asks for, and the objects on the way of paths whose values are read as well.
    /// - Returns: The plan that finds it.
    private func brought(
        _ plan: FetchPlan, reading paths: [[String]] = [], _ options: Options
    ) async throws(StoreError) -> FetchPlan {
        let remote = try planner.plan(plan, finishesLocally: options.finishesLocally, extras: options.extras)
        try planner.check(paths, plan, finishesLocally: options.finishesLocally)
        let told = remote.isEmpty ? [] : try await bring(remote, plan, options)
        // It is not known whether pending changes meet a sub-query.
        let keys = remote.query.subqueries.isEmpty ? try withWaiting(told, plan) : told
        var result = plan
        var conditions: [FetchPredicate] = [.isOne(of: keys)]
        // The mirror puts the nearest first, too.
        if plan.sorts.isEmpty { conditions += remote.decided?.nearConjuncts ?? [] }
        if let rest = remote.rest {
            conditions += rest.conjuncts
            try await bringRelated(rest.keyPaths, plan.entityIndex, keys, options)
        }
        try await bringRelated(plan.sorts.flatMap(\.expression.keyPaths), plan.entityIndex, keys, options)
        for path in remote.loads { try await bringRelated([path + [""]], plan.entityIndex, keys, options) }
        try await bringRelated(paths, plan.entityIndex, keys, options)
        result.predicate = conditions.count > 1 ? .and(conditions) : conditions[0]
        // Where an entity at a time is asked for, the server has told the numbers of all.
        let isCountedHere = remote.isEmpty || remote.rest != nil || remote.pagesHere && !remote.includesSubentities
        if let total = options.extras.total, isCountedHere {
            total.value = try countOfAll(result)
        }
        // The back end has left out the first ones; what waits here may make the rest more than a page.
        if !remote.pagesHere { result.offset = 0 }
        result.toldSlots = remote.toldSlots(mirror)
        return result
    }

    /// Reads the pages of a query into the mirror.
    /// - Returns: The keys of the objects.
    private func bring(
        _ remote: RemotePlan, _ plan: FetchPlan, _ options: Options
    ) async throws(StoreError) -> [Int64] {
        let isWhole =
            remote.query.limit == nil && remote.query.offset == 0 && options.cachesResults
            && remote.query.subqueries.isEmpty
        let before = isWhole ? try settled(matching(remote, plan)) : []
        let ticket = mirror.ticket()
        var keys: [Int64] = []
        var totals: [Int?] = []
        for query in remote.queries(in: model) {
            let (found, total) = try await bring(query, ticket, options)
            keys += found
            totals.append(total)
        }
        if isWhole { try await sweep(before, Set(keys), options) }
        options.extras.total?.value = totals.contains(nil) ? nil : totals.reduce(0) { $0 + ($1 ?? 0) }
        return keys
    }

    /// Reads the pages of one query.
    /// - Returns: The keys of the objects, and the total number, if it is requested and the server knows it.
    func bring(
        _ whole: RemoteQuery, _ ticket: ReadTicket, _ options: Options
    ) async throws(StoreError) -> ([Int64], Int?) {
        var query = whole
        var total: Int?
        // A query for all objects finds as many as there are.
        func all(_ count: Int) async throws(StoreError) -> Int? {
            guard whole.countsAll, total == nil else { return total }
            if whole.limit == nil, whole.offset == 0 { return count }
            return backend.capabilities.features.contains(.counting) ? try await serverCount(whole, options) : nil
        }
        var keys: [Int64] = []
        var count = 0
        var cursors: Set<String> = []
        while true {
            if let limit = whole.limit { query.limit = limit - count }
            guard case .page(let page) = try await ask(.query(query), options) else { throw unexpected("objects") }
            keys += try await take(page, ticket, options, isWhole: whole.properties == nil).compactMap { $0?.key }
            count += page.records.count
            total = page.total ?? total
            guard count < whole.limit ?? .max else { return (keys, try await all(count)) }
            if !page.hasMore, page.next == nil, isCutOff(page, query) {
                query.offset += page.records.count
                query.limit = backend.capabilities.maximumPage
                continue
            }
            guard page.hasMore else { return (keys, try await all(count)) }
            guard let next = page.next, cursors.insert(next).inserted else {
                throw unexpected("the cursor of the next page")
            }
            query.cursor = next
        }
    }

    /// Whether the answer to a query for all objects has as many as the back end gives at most, without a word about more.
    private func isCutOff(_ page: RemotePage, _ query: RemoteQuery) -> Bool {
        guard let most = backend.capabilities.maximumPage, query.cursor == nil else { return false }
        return backend.capabilities.features.contains(.paging) && page.records.count >= most
    }

    /// Takes objects into the mirror.
    func take(
        _ page: RemotePage, _ ticket: ReadTicket, _ options: Options, isWhole: Bool = true
    ) async throws(StoreError) -> [RowIdentity?] {
        let mirror = mirror
        await mirror.online.births.wait(for: page, mirror.model, surroundings.clock)
        return try await surroundings.elsewhere { () throws(StoreError) in
            try mirror.apply(page, isWhole: isWhole, ticket: ticket, keeps: options.cachesResults).rows
        }
    }

    func unexpected(_ what: String) -> StoreError {
        StoreError(
            RemoteError(
                .invalidAnswer, domain: "Strata", message: "\(backend.name) answered something else than \(what)"))
    }

    // MARK: What is gone

    /// What the mirror has of what the back end is asked for.
    private func matching(_ remote: RemotePlan, _ plan: FetchPlan) throws(StoreError) -> [RowIdentity] {
        var here = FetchPlan(entityIndex: plan.entityIndex)
        here.includesSubentities = plan.includesSubentities
        here.predicate = remote.decided
        return try mirror.store.fetchIdentities(here, cancellation: nil)
    }

    /// Objects without changes that the back end has not heard about. Others are missing from its answer because it did
    /// not know them yet when it gave it, even if it knows them by now.
    private func settled(_ identities: [RowIdentity]) throws(StoreError) -> [RowIdentity] {
        var result: [RowIdentity] = []
        for (root, list) in Dictionary(grouping: identities, by: { mirror.root($0.entityIndex) }) {
            let waiting = try mirror.waitingKeys(rootIndex: root)
            result += list.filter { !waiting.contains($0.key) }
        }
        return result
    }

    /// Asks by primary key for what the mirror had before of what was asked for, and the back end did not list: it is gone,
    /// or has other values, or was on a page that shifted.
    private func sweep(
        _ before: [RowIdentity], _ found: Set<Int64>, _ options: Options
    ) async throws(StoreError) {
        let rest = try settled(before.filter { !found.contains($0.key) })
        guard !rest.isEmpty else { return }
        for (index, list) in Dictionary(grouping: rest, by: \.entityIndex).sorted(by: { $0.key < $1.key }) {
            let names = try mirror.ids(entityIndex: index, keys: list.map(\.key).sorted())
            try await refresh(Array(names.values), options)
        }
    }
}
