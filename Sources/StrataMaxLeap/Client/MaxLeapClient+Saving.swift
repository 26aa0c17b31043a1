import Foundation

/// What one save has made and changed already, so that an object or a file that is in it several times is sent once.
private struct MaxLeapSaveProgress: Sendable {
    /// An object with what is to be saved of it. New ones that happen to have the same values are still different objects.
    struct Part: Hashable {
        private let identity: UUID?
        private let object: MaxLeapObject

        init(_ object: MaxLeapObject) {
            identity = object.objectId == nil ? object.origin.identity : nil
            self.object = object
        }
    }

    var objects: [Part: MaxLeapObject] = [:]
    var files: [MaxLeapFile: MaxLeapFile] = [:]
}

extension MaxLeapClient {
    /// Saves an object: makes a new one, or changes the fields that were changed.
    ///
    ///     var post = MaxLeapObject("Post")
    ///     post["title"] = "Hello"
    ///     post = try await client.save(post)
    ///     print(post.objectId ?? "", post.createdAt ?? .distantPast)
    ///
    /// New and changed objects among its values are saved before it, and files uploaded: each once, however often it is among
    /// them. An object without changes is returned as it is, and nothing is sent. A write is sent once: after a lost answer,
    /// the object may have been saved.
    /// - Returns: The object as it is then, with its `objectId`.
    /// - Throws: ``RemoteError``. Objects saved before the error stay saved.
    public func save(
        _ object: MaxLeapObject, options: RequestOptions? = nil
    ) async throws(RemoteError) -> MaxLeapObject {
        var progress = MaxLeapSaveProgress()
        return try await save(object, options, &progress)
    }

    private func save(
        _ object: MaxLeapObject, _ options: RequestOptions?, _ progress: inout MaxLeapSaveProgress
    ) async throws(RemoteError) -> MaxLeapObject {
        guard object.isDirty || object.objectId == nil else { return object }
        let part = MaxLeapSaveProgress.Part(object)
        if let saved = progress.objects[part] { return saved }
        let ready = try await readied(object, options, &progress)
        let request = try saveRequest(ready, self.options(options))
        let saved = try finish(ready, dialect.object(await send(request, self.options(options))))
        progress.objects[part] = saved
        return saved
    }

    /// Saves several objects, as many in a request as the server takes.
    ///
    ///     for (post, result) in zip(posts, try await client.saveAll(posts)) {
    ///         if case .failure(let error) = result { print(post.objectId ?? "new", error) }
    ///     }
    ///
    /// What belongs to them is sent first. An object that is among them several times, or belongs to another one, is saved
    /// once. Objects are saved independently: one that fails does not undo the others.
    /// - Returns: The outcome of each, in order.
    /// - Throws: ``RemoteError`` if nothing can be said of single objects, or something that belongs to them was not saved.
    public func saveAll(
        _ objects: [MaxLeapObject], options: RequestOptions? = nil
    ) async throws(RemoteError) -> [Result<MaxLeapObject, RemoteError>] {
        var progress = MaxLeapSaveProgress()
        var ready: [MaxLeapObject] = []
        for object in objects { ready.append(try await readied(object, options, &progress)) }
        var results = progress.objects.mapValues { Result<MaxLeapObject, RemoteError>.success($0) }
        var waiting: [(part: MaxLeapSaveProgress.Part, object: MaxLeapObject)] = []
        var seen = Set(results.keys)
        for (object, ready) in zip(objects, ready) {
            let part = MaxLeapSaveProgress.Part(object)
            if seen.insert(part).inserted { waiting.append((part, ready)) }
        }
        let size = dialect.capabilities.maximumBatch
        for start in stride(from: 0, to: waiting.count, by: size) {
            let batch = waiting[start..<min(waiting.count, start + size)]
            var requests: [WireRequest] = []
            for member in batch { requests.append(try saveRequest(member.object, RequestOptions())) }
            let outcomes = try await perform(requests, options)
            for (member, outcome) in zip(batch, outcomes) {
                switch outcome {
                case .failed(let error): results[member.part] = .failure(error)
                case .done(let answer):
                    do throws(RemoteError) {
                        results[member.part] = .success(try finish(member.object, answer))
                    } catch {
                        results[member.part] = .failure(error)
                    }
                }
            }
        }
        return objects.compactMap { results[MaxLeapSaveProgress.Part($0)] }
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
        if !object.isComplete, var user = session.user, user.pointer == object.pointer {
            // What else is known of the user stays.
            user.operations = object.operations
            session.note((try? user.saved(answer)) ?? saved)
        } else {
            session.note(saved)
        }
        return saved
    }

    /// The object with all saved that it leads to.
    private func readied(
        _ object: MaxLeapObject, _ options: RequestOptions?, _ progress: inout MaxLeapSaveProgress
    ) async throws(RemoteError) -> MaxLeapObject {
        var copy = object
        for (key, operation) in object.operations.sorted(by: { $0.key < $1.key }) {
            switch operation {
            case .set(let value): copy.operations[key] = .set(try await readied(value, options, &progress))
            case .add(let values): copy.operations[key] = .add(try await readied(values, options, &progress))
            case .addUnique(let values):
                copy.operations[key] = .addUnique(try await readied(values, options, &progress))
            case .remove, .increment, .relation, .delete: break
            }
        }
        return copy
    }

    private func readied(
        _ values: [MaxLeapValue], _ options: RequestOptions?, _ progress: inout MaxLeapSaveProgress
    ) async throws(RemoteError) -> [MaxLeapValue] {
        var list: [MaxLeapValue] = []
        for value in values { list.append(try await readied(value, options, &progress)) }
        return list
    }

    private func readied(
        _ value: MaxLeapValue, _ options: RequestOptions?, _ progress: inout MaxLeapSaveProgress
    ) async throws(RemoteError) -> MaxLeapValue {
        switch value {
        case .object(let object): return .object(try await save(object, options, &progress))
        case .file(let file) where file.url == nil:
            if let known = progress.files[file] { return .file(known) }
            let uploaded = try await upload(file, options: options)
            progress.files[file] = uploaded
            return .file(uploaded)
        case .array(let elements): return .array(try await readied(elements, options, &progress))
        case .dictionary(let members):
            var copy = members
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                copy[name] = try await readied(member, options, &progress)
            }
            return .dictionary(copy)
        default: return value
        }
    }
}
