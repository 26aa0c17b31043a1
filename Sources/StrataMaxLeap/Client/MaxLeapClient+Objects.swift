extension MaxLeapClient {
    /// Reads an object.
    /// - Parameters:
    ///   - keys: The fields that are requested; nil for all.
    ///   - include: The fields whose objects come along, as paths with dots.
    /// - Throws: ``RemoteError``, with code 101 if there is no such object.
    public func fetch(
        _ pointer: MaxLeapPointer, keys: [String]? = nil, include: [String] = [], options: RequestOptions? = nil
    ) async throws(RemoteError) -> MaxLeapObject {
        let options = self.options(options)
        let request = try dialect.fetchRequest(
            pointer.className, pointer.objectId, keys: keys, include: include, options: options)
        let members = try dialect.object(await send(request, options))
        guard members["objectId"]?.string?.isEmpty == false else {
            throw MaxLeapError.objectNotFound.error("there is no \(pointer)", kind: .notFound)
        }
        var object = try MaxLeapObject(pointer.className, members)
        if let keys { object.noteMissingFields(ofRelated: keys.contains { $0.contains(".") }) }
        session.note(object)
        return object
    }

    /// The object with all of its fields: as it is if it is ``MaxLeapObject/isComplete``, otherwise from the server. Changes
    /// that wait to be saved still wait, and objects that came along stay where the object still refers to them.
    ///
    ///     let posts = try await client.find(MaxLeapQuery("Post").selecting("title"))
    ///     let whole = try await client.fetchIfNeeded(posts[0])
    /// - Throws: ``RemoteError``, with code 101 if there is no such object.
    public func fetchIfNeeded(
        _ object: MaxLeapObject, options: RequestOptions? = nil
    ) async throws(RemoteError) -> MaxLeapObject {
        guard !object.isComplete, let pointer = object.pointer else { return object }
        return object.completed(by: try await fetch(pointer, options: options))
    }

    /// Deletes an object.
    /// - Throws: ``RemoteError``, with code 101 if it no longer exists.
    public func delete(_ pointer: MaxLeapPointer, options: RequestOptions? = nil) async throws(RemoteError) {
        let options = self.options(options)
        let request = try dialect.deleteRequest(pointer.className, pointer.objectId, options: options)
        let answer = try dialect.object(await send(request, options))
        if dialect.flavor == .maxLeap, answer["number"]?.integer == 0 {
            throw MaxLeapError.objectNotFound.error("\(pointer) no longer exists", kind: .notFound)
        }
    }

    /// Deletes several objects, as many in a request as the server takes.
    /// - Returns: Why each was not deleted, in order; nil for those that are gone.
    /// - Throws: ``RemoteError`` if nothing can be said of single objects; some of them may be deleted.
    public func deleteAll(
        _ pointers: [MaxLeapPointer], options: RequestOptions? = nil
    ) async throws(RemoteError) -> [RemoteError?] {
        var results: [RemoteError?] = []
        let size = dialect.capabilities.maximumBatch
        for start in stride(from: 0, to: pointers.count, by: size) {
            var requests: [WireRequest] = []
            for pointer in pointers[start..<min(pointers.count, start + size)] {
                requests.append(try dialect.deleteRequest(pointer.className, pointer.objectId))
            }
            results += try await perform(requests, options).map {
                if case .failed(let error) = $0 { error } else { nil }
            }
        }
        return results
    }

    /// Sends a batch.
    func perform(
        _ requests: [WireRequest], _ options: RequestOptions?
    ) async throws(RemoteError) -> [MaxLeapBatchOutcome] {
        guard !requests.isEmpty else { return [] }
        let options = self.options(options)
        let response = try await send(dialect.batchRequest(requests, options: options), options)
        return try dialect.batchAnswer(response, count: requests.count)
    }
}
