import Foundation

extension MaxLeapClient {
    /// The objects that a query finds.
    /// - Parameters:
    ///   - policy: Where the answer comes from.
    ///   - maximumAge: How many seconds old an answer of the cache may be; nil for any age.
    /// - Throws: ``RemoteError``, with code 120 if the cache has nothing where it is last asked, 102 for
    ///   ``MaxLeapCachePolicy/cacheThenNetwork``, which has two answers.
    public func find(
        _ query: MaxLeapQuery, policy: MaxLeapCachePolicy = .ignoreCache, maximumAge: Double? = nil,
        options: RequestOptions? = nil
    ) async throws(RemoteError) -> [MaxLeapObject] {
        guard policy != .cacheThenNetwork else {
            throw MaxLeapError.invalidQuery.error(
                "cacheThenNetwork has two results; ask for them with results(of:)")
        }
        let options = self.options(options)
        let request = try dialect.queryRequest(query, options: options)
        let response = try await answer(request, policy, maximumAge, options)
        return try objects(response, query.className)
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
    /// - Throws: ``RemoteError``, with code 101 if there is none.
    public func get(
        _ pointer: MaxLeapPointer, include: [String] = [], policy: MaxLeapCachePolicy = .ignoreCache,
        options: RequestOptions? = nil
    ) async throws(RemoteError) -> MaxLeapObject {
        var query = MaxLeapQuery(pointer.className).where("objectId", .equal(.string(pointer.objectId)))
        query.include = include
        return try await first(query, policy: policy, options: options)
    }

    /// How many objects a query finds. Its limit and its skip do not count. Beyond 1000 servers may not count exactly.
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
        AsyncStream { continuation in
            let task = Task {
                for policy in [MaxLeapCachePolicy.cacheOnly, .networkOnly] where !Task.isCancelled {
                    do throws(RemoteError) {
                        let found = try await find(query, policy: policy, maximumAge: maximumAge, options: options)
                        continuation.yield(.success(found))
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
    public func hasCachedResult(of query: MaxLeapQuery, maximumAge: Double? = nil) -> Bool {
        guard let request = try? dialect.queryRequest(query) else { return false }
        return cached(request, maximumAge) != nil
    }

    /// Forgets the cache's answer to a query.
    public func clearCachedResult(of query: MaxLeapQuery) {
        guard let request = try? dialect.queryRequest(query) else { return }
        configuration.cache.forget(named: name(of: request))
    }

    /// Forgets all answers.
    public func clearAllCachedResults() { configuration.cache.forgetAll() }

    /// Path, sorted parameters and session.
    package func name(of request: WireRequest) -> String {
        let parts = (request.head.path ?? "").split(separator: "?", maxSplits: 1).map(String.init)
        let parameters = parts.count > 1 ? parts[1].split(separator: "&").sorted().joined(separator: "&") : ""
        return "\(parts.first ?? "")?\(parameters)#\(session.token ?? "")"
    }

    /// An answer that is not JSON is not a result.
    private func cached(_ request: WireRequest, _ maximumAge: Double?) -> WireResponse? {
        guard
            let body = configuration.cache.body(
                named: name(of: request), now: configuration.clock.now, maximumAge: maximumAge),
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
            guard let found = cached(request, maximumAge) else {
                throw miss.error("the cache has no answer to this query", kind: .notFound)
            }
            return found
        case .networkOnly, .cacheThenNetwork: return try await kept(request, options)
        case .cacheElseNetwork:
            if let found = cached(request, maximumAge) { return found }
            return try await kept(request, options)
        case .networkElseCache:
            do throws(RemoteError) {
                return try await kept(request, options, repeats: false)
            } catch {
                if let found = cached(request, maximumAge) { return found }
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
        let name = name(of: request)
        let response = try await send(request, options, repeats: repeats)
        // Only answers to queries are cached.
        if (try? JSONValue(parsing: response.body))?.members != nil {
            configuration.cache.keep(response.body, named: name, now: configuration.clock.now)
        }
        return response
    }

    private func objects(_ response: WireResponse, _ className: String) throws(RemoteError) -> [MaxLeapObject] {
        var objects: [MaxLeapObject] = []
        for result in try dialect.results(response) {
            guard let members = result.members else {
                throw dialect.invalidAnswer("the answer has an element that is not a JSON object", response)
            }
            objects.append(try MaxLeapObject(members["className"]?.string ?? className, members))
        }
        return objects
    }
}
