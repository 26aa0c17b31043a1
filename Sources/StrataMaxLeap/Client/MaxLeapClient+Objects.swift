import Foundation

extension MaxLeapClient {
    // MARK: Saving

    /// Saves an object: makes a new one, or changes the fields that were changed. New and changed objects among its values
    /// are saved before it, and files uploaded.
    /// - Returns: The object as it is then, with its `objectId`.
    /// - Throws: ``RemoteError``. Objects saved before the error stay saved.
    public func save(
        _ object: MaxLeapObject, options: RequestOptions? = nil
    ) async throws(RemoteError) -> MaxLeapObject {
        guard object.isDirty || object.objectId == nil else { return object }
        let ready = try await readied(object, options)
        let request = try saveRequest(ready, self.options(options))
        return try finish(ready, dialect.object(await send(request, self.options(options))))
    }

    /// Saves several objects, as many in a request as the server takes. What belongs to them goes first.
    /// - Returns: What became of each, in order: one that fails keeps the others from nothing.
    /// - Throws: ``RemoteError`` if nothing can be said of single objects, or something that belongs to them was not saved.
    public func saveAll(
        _ objects: [MaxLeapObject], options: RequestOptions? = nil
    ) async throws(RemoteError) -> [Result<MaxLeapObject, RemoteError>] {
        var list: [MaxLeapObject] = []
        for object in objects { list.append(try await readied(object, options)) }
        var results: [Result<MaxLeapObject, RemoteError>] = []
        let size = dialect.capabilities.maximumBatch
        for start in stride(from: 0, to: list.count, by: size) {
            let part = list[start..<min(list.count, start + size)]
            var requests: [WireRequest] = []
            for object in part { requests.append(try saveRequest(object, RequestOptions())) }
            let outcomes = try await perform(requests, options)
            for (object, outcome) in zip(part, outcomes) {
                switch outcome {
                case .failed(let error): results.append(.failure(error))
                case .done(let answer):
                    do throws(RemoteError) {
                        results.append(.success(try finish(object, answer)))
                    } catch {
                        results.append(.failure(error))
                    }
                }
            }
        }
        return results
    }

    private func saveRequest(_ object: MaxLeapObject, _ options: RequestOptions) throws(RemoteError) -> WireRequest {
        guard let id = object.objectId else {
            return try dialect.createRequest(object.className, object.changes(), options: options)
        }
        return try dialect.updateRequest(object.className, id, object.changes(), options: options)
    }

    private func finish(_ object: MaxLeapObject, _ answer: JSONObject) throws(RemoteError) -> MaxLeapObject {
        guard object.objectId != nil || answer["objectId"]?.string?.isEmpty == false else {
            throw MaxLeapError.invalidJSON.error(
                "the answer to the creation of a \(object.className) has no objectId", kind: .invalidAnswer)
        }
        if object.objectId != nil, dialect.flavor == .maxLeap, answer["number"]?.integer == 0 {
            throw MaxLeapError.objectNotFound.error(
                "\(object.className)/\(object.objectId ?? "") no longer exists", kind: .notFound)
        }
        let saved = try object.saved(answer)
        session.note(saved)
        return saved
    }

    /// The object with all saved that it leads to.
    private func readied(
        _ object: MaxLeapObject, _ options: RequestOptions?
    ) async throws(RemoteError) -> MaxLeapObject {
        var copy = object
        for (key, operation) in object.operations.sorted(by: { $0.key < $1.key }) {
            switch operation {
            case .set(let value): copy.operations[key] = .set(try await readied(value, options))
            case .add(let values): copy.operations[key] = .add(try await readied(values, options))
            case .addUnique(let values): copy.operations[key] = .addUnique(try await readied(values, options))
            case .remove, .increment, .relation, .delete: break
            }
        }
        return copy
    }

    private func readied(
        _ values: [MaxLeapValue], _ options: RequestOptions?
    ) async throws(RemoteError) -> [MaxLeapValue] {
        var list: [MaxLeapValue] = []
        for value in values { list.append(try await readied(value, options)) }
        return list
    }

    private func readied(
        _ value: MaxLeapValue, _ options: RequestOptions?
    ) async throws(RemoteError) -> MaxLeapValue {
        switch value {
        case .object(let object): return .object(try await save(object, options: options))
        case .file(let file) where file.url == nil: return .file(try await upload(file, options: options))
        case .array(let elements): return .array(try await readied(elements, options))
        case .dictionary(let members):
            var copy = members
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                copy[name] = try await readied(member, options)
            }
            return .dictionary(copy)
        default: return value
        }
    }

    // MARK: Reading and deleting

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
        let object = try MaxLeapObject(pointer.className, members)
        session.note(object)
        return object
    }

    /// The object with its fields: as it is if they have been read, otherwise from the server. Pending changes stay
    /// pending.
    public func fetchIfNeeded(
        _ object: MaxLeapObject, options: RequestOptions? = nil
    ) async throws(RemoteError) -> MaxLeapObject {
        guard !object.hasData, let pointer = object.pointer else { return object }
        var fetched = try await fetch(pointer, options: options)
        fetched.operations = object.operations
        return fetched
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
    private func perform(
        _ requests: [WireRequest], _ options: RequestOptions?
    ) async throws(RemoteError) -> [MaxLeapBatchOutcome] {
        guard !requests.isEmpty else { return [] }
        let options = self.options(options)
        let response = try await send(dialect.batchRequest(requests, options: options), options)
        return try dialect.batchAnswer(response, count: requests.count)
    }
}
