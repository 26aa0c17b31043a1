import Foundation

extension MaxLeapClient {
    /// Reads the objects that a query finds.
    ///
    ///     let query = MaxLeapQuery("Post").where("likes", .greater(10)).limited(to: 50)
    ///     let posts = try await client.find(query)
    ///     for post in posts { print(post["title"] ?? "-") }
    ///
    /// - Parameters:
    ///   - query: The query. Without a limit, the server gives 100 objects.
    ///   - policy: Where the answer comes from.
    ///   - maximumAge: How many seconds old an answer of the cache may be; nil for any age.
    ///   - options: How the request is made; nil for the configuration's.
    /// - Throws: ``RemoteError``, with code 120 if the cache has nothing where it is last asked, 102 for
    ///   ``MaxLeapCachePolicy/cacheThenNetwork``, which has two answers.
    public func find(
        _ query: MaxLeapQuery, policy: MaxLeapCachePolicy = .ignoreCache, maximumAge: Double? = nil,
        options: RequestOptions? = nil
    ) async throws(RemoteError) -> [MaxLeapObject] {
        guard policy != .cacheThenNetwork else {
            throw MaxLeapError.invalidQuery.error(
                "cacheThenNetwork has two results; ask for them with results(of:) or firstResults(of:)")
        }
        let options = self.options(options)
        let request = try dialect.queryRequest(query, options: options)
        let response = try await answer(request, policy, maximumAge, options)
        return try objects(response, query)
    }

    /// The first object that a query finds.
    /// - Throws: ``RemoteError``, with code 101 if there is none.
    public func first(
        _ query: MaxLeapQuery, policy: MaxLeapCachePolicy = .ignoreCache, maximumAge: Double? = nil,
        options: RequestOptions? = nil
    ) async throws(RemoteError) -> MaxLeapObject {
        let found = try await find(query.limited(to: 1), policy: policy, maximumAge: maximumAge, options: options)
        guard let first = found.first else {
            throw MaxLeapError.objectNotFound.error("no \(query.className) meets the query", kind: .notFound)
        }
        return first
    }

    /// The object of an identifier, found by a query, so that it may be one that the cache has.
    /// - Parameter maximumAge: How many seconds old an answer of the cache may be; nil for any age.
    /// - Throws: ``RemoteError``, with code 101 if there is none.
    public func get(
        _ pointer: MaxLeapPointer, include: [String] = [], policy: MaxLeapCachePolicy = .ignoreCache,
        maximumAge: Double? = nil, options: RequestOptions? = nil
    ) async throws(RemoteError) -> MaxLeapObject {
        var query = MaxLeapQuery(pointer.className).where("objectId", .equal(.string(pointer.objectId)))
        query.include = include
        return try await first(query, policy: policy, maximumAge: maximumAge, options: options)
    }

    /// How many objects a query finds. Its limit and its skip do not count. Beyond 1000 servers may not count exactly.
    /// - Throws: As ``find(_:policy:maximumAge:options:)``.
    public func count(
        _ query: MaxLeapQuery, policy: MaxLeapCachePolicy = .ignoreCache, maximumAge: Double? = nil,
        options: RequestOptions? = nil
    ) async throws(RemoteError) -> Int {
        guard policy != .cacheThenNetwork else {
            throw MaxLeapError.invalidQuery.error("a count has one result; cacheThenNetwork has two")
        }
        let options = self.options(options)
        let request = try dialect.countRequest(query, options: options)
        return try dialect.count(await answer(request, policy, maximumAge, options))
    }

    /// What the cache has of a query, or an error with code 120, and then what the network has.
    public func results(
        of query: MaxLeapQuery, maximumAge: Double? = nil, options: RequestOptions? = nil
    ) -> AsyncStream<Result<[MaxLeapObject], RemoteError>> {
        twice { (policy) async throws(RemoteError) in
            try await self.find(query, policy: policy, maximumAge: maximumAge, options: options)
        }
    }

    /// The first object that the cache has of a query, and then the first one that the network has. Each is an error with code
    /// 101 if nothing meets the query; that of the cache has code 120 if it does not know.
    public func firstResults(
        of query: MaxLeapQuery, maximumAge: Double? = nil, options: RequestOptions? = nil
    ) -> AsyncStream<Result<MaxLeapObject, RemoteError>> {
        twice { (policy) async throws(RemoteError) in
            try await self.first(query, policy: policy, maximumAge: maximumAge, options: options)
        }
    }

    private func twice<T: Sendable>(
        _ ask: @escaping @Sendable (MaxLeapCachePolicy) async throws(RemoteError) -> T
    ) -> AsyncStream<Result<T, RemoteError>> {
        AsyncStream { continuation in
            let task = Task {
                for policy in [MaxLeapCachePolicy.cacheOnly, .networkOnly] where !Task.isCancelled {
                    do throws(RemoteError) {
                        continuation.yield(.success(try await ask(policy)))
                    } catch {
                        continuation.yield(.failure(error))
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    // MARK: The cache

    /// Whether the cache has an answer to a query, for the user who is logged in.
    /// - Parameter options: How the query is made: its further parameters count.
    public func hasCachedResult(
        of query: MaxLeapQuery, maximumAge: Double? = nil, options: RequestOptions? = nil
    ) -> Bool {
        guard let request = try? dialect.queryRequest(query) else { return false }
        return cached(request, maximumAge, self.options(options)) != nil
    }

    /// Forgets the cache's answer to a query.
    /// - Parameter options: How the query is made: its further parameters count.
    public func clearCachedResult(of query: MaxLeapQuery, options: RequestOptions? = nil) {
        guard let request = try? dialect.queryRequest(query) else { return }
        configuration.cache.forget(named: name(of: request, self.options(options).parameters))
    }

    /// Forgets all answers.
    public func clearAllCachedResults() { configuration.cache.forgetAll() }

    /// Path, sorted parameters and session.
    /// - Parameter more: The parameters that the request gets when it is sent, except those whose names it has.
    package func name(of request: WireRequest, _ more: [RemoteParameter] = []) -> String {
        let parts = (request.head.path ?? "").split(separator: "?", maxSplits: 1).map(String.init)
        var parameters = parts.count > 1 ? parts[1].split(separator: "&").map(String.init) : []
        let known = Set((QueryParameters.read(parts.count > 1 ? parts[1] : "") ?? []).map(\.name))
        parameters += more.filter { !known.contains($0.name) }
            .map { MaxLeapParameter.encoded([MaxLeapParameter($0.name, $0.value)]) }
        return "\(parts.first ?? "")?\(parameters.sorted().joined(separator: "&"))#\(session.token ?? "")"
    }

    /// An answer that is not JSON is not a result.
    private func cached(
        _ request: WireRequest, _ maximumAge: Double?, _ options: RequestOptions
    ) -> WireResponse? {
        guard
            let body = configuration.cache.body(
                named: name(of: request, options.parameters), now: configuration.clock.now, maximumAge: maximumAge),
            (try? JSONValue(parsing: body))?.members != nil
        else { return nil }
        return WireResponse(HTTPResponse(status: .ok), body: body)
    }

    private func answer(
        _ request: WireRequest, _ policy: MaxLeapCachePolicy, _ maximumAge: Double?, _ options: RequestOptions
    ) async throws(RemoteError) -> WireResponse {
        let miss = MaxLeapError.cacheMiss
        switch policy {
        case .ignoreCache: return try await send(request, options)
        case .cacheOnly:
            guard let found = cached(request, maximumAge, options) else {
                throw miss.error("the cache has no answer to this query", kind: .notFound)
            }
            return found
        case .networkOnly, .cacheThenNetwork: return try await kept(request, options)
        case .cacheElseNetwork:
            if let found = cached(request, maximumAge, options) { return found }
            return try await kept(request, options)
        case .networkElseCache:
            do throws(RemoteError) {
                return try await kept(request, options, repeats: false)
            } catch {
                if let found = cached(request, maximumAge, options) { return found }
                throw miss.error(
                    "the network failed, and the cache has no answer to this query: \(error.message)", kind: error.kind,
                    underlying: [error])
            }
        }
    }

    private func kept(
        _ request: WireRequest, _ options: RequestOptions, repeats: Bool = true
    ) async throws(RemoteError) -> WireResponse {
        // Another user may have logged in when the answer comes.
        let name = name(of: request, options.parameters)
        let response = try await send(request, options, repeats: repeats)
        // Only answers to queries are cached.
        if (try? JSONValue(parsing: response.body))?.members != nil {
            configuration.cache.keep(response.body, named: name, now: configuration.clock.now)
        }
        return response
    }

    private func objects(_ response: WireResponse, _ query: MaxLeapQuery) throws(RemoteError) -> [MaxLeapObject] {
        let named = (query.keys ?? []) + query.excludedKeys
        let isPartial = query.keys != nil || !query.excludedKeys.isEmpty
        var objects: [MaxLeapObject] = []
        for result in try dialect.results(response) {
            guard let members = result.members else {
                throw dialect.invalidAnswer("the answer has an element that is not a JSON object", response)
            }
            var object = try MaxLeapObject(members["className"]?.string ?? query.className, members)
            if isPartial { object.noteMissingFields(ofRelated: named.contains { $0.contains(".") }) }
            objects.append(object)
        }
        return objects
    }
}
