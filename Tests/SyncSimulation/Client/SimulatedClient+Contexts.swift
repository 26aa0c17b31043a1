import Foundation
import Strata
import StrataRemote

/// What an app does with a context: fetches, changes and saves, online and off, besides the runs of the engine.
extension SimulatedClient {
    private func anyContext() -> ClientContext? {
        process.contexts.count > 1 ? world.executor.random.one(of: process.contexts) : process.contexts.first
    }

    // MARK: Fetching

    /// Fetches at random, by any policy.
    func fetch() async {
        let current = process
        guard let own = anyContext() else { return }
        let context = own.context
        let policy = world.executor.random.one(of: FetchPolicy.allCases)
        var options = RemoteOptions(fetchPolicy: policy)
        if world.executor.random.chance(0.1) { options.cachesResults = false }
        if world.executor.random.chance(0.2) { options.finishesLocally = true }
        let name = world.executor.random.one(of: Self.rootNames + ["Special"])
        let request = FetchRequest<ManagedObject>(entity: name).options(options)
        world.trace("\(number) fetches \(name) \(policy)")
        do throws(PersistenceError) {
            switch world.executor.random.below(5) {
            case 0:
                var narrow = request
                narrow.predicate = .comparison(
                    .keyPath(["a"]), world.executor.random.one(of: [.less, .greater]),
                    .constant(.string("\(1 + world.executor.random.below(3))-5")), [])
                _ = try await found(narrow, context)
            case 1:
                var first = request
                first.limit = 1 + world.executor.random.below(3)
                _ = try await found(first, context)
            case 2:
                defer { world.executor.hasReturned() }
                for try await _ in context.results(of: request) { world.executor.hasReturned() }
            case 3 where name == "Item":
                let items = try await found(request, context)
                try await context.load("folder", of: items, options: options)
                try await context.load("tags", of: items, options: options)
            default:
                let objects = try await found(request, context)
                if !objects.isEmpty { own.show(world.executor.random.one(of: objects)) }
            }
            if policy != .cacheOnly { world.struck(.onlineFetch) }
        } catch {
            check(error, current, "a fetch")
        }
    }

    private func found(
        _ request: FetchRequest<ManagedObject>, _ context: ManagedObjectContext
    ) async throws(PersistenceError) -> [ManagedObject] {
        defer { world.executor.hasReturned() }
        return try await context.fetch(request)
    }

    /// Errors that have nothing to do with the network are nobody's will.
    private func check(_ error: PersistenceError, _ current: Process, _ what: String) {
        world.trace("\(number)     \(what) failed: \(error)")
        guard current.number == process.number else { return }
        switch error {
        case .store(.remote), .store(.cancelled), .cancelled: return
        // An object is related to one of which the mirror has no more than the key.
        case .store(.needsNetwork) where what != "a fetch": return
        // A condition that the server does not take and that may not be finished here.
        case .store(.unsupported) where what == "a fetch": return
        default: world.violate("client \(number): \(what) failed: \(error)")
        }
    }

    // MARK: Changing

    /// What the context has of an entity, as far as the mirror knows it.
    private func objects(_ name: String, _ context: ManagedObjectContext) throws(PersistenceError) -> [ManagedObject] {
        try context.fetch(FetchRequest<ManagedObject>(entity: name).options(RemoteOptions(fetchPolicy: .cacheOnly)))
            .filter { !$0.isMissing && !$0.isDeleted }
    }

    private func pick(_ name: String, _ context: ManagedObjectContext) throws(PersistenceError) -> ManagedObject? {
        let all = try objects(name, context).sorted { id($0) < id($1) }
        return all.isEmpty ? nil : world.executor.random.one(of: all)
    }

    /// Sometimes an object that the app shows.
    private func shown(_ name: String, _ own: ClientContext) -> ManagedObject? {
        let root = entity(name).rootName
        let shown = own.shown.filter { $0.objectID.entity.rootName == root && isShown($0, own) }
        return shown.isEmpty || world.executor.random.chance(0.5) ? nil : world.executor.random.one(of: shown)
    }

    /// One of the objects that the app shows; nil if it shows none.
    func anyShown() -> RemoteIdentity? {
        let objects = process.contexts.flatMap { own in own.shown.filter { isShown($0, own) } }
        return objects.isEmpty ? nil : identity(world.executor.random.one(of: objects))
    }

    private func isShown(_ object: ManagedObject, _ own: ClientContext) -> Bool {
        !object.isMissing && !object.isDeleted && !object.isInserted
            && own.context.registeredObject(for: object.objectID) === object
    }

    private func id(_ object: ManagedObject) -> String { identity(object).id }

    private func value(_ property: String, of object: ManagedObject) -> RemoteValue {
        switch object[property] {
        case let text as String: .value(.string(text))
        case let data as Data: .value(.binary(data))
        default: .value(.null)
        }
    }

    private func identity(_ object: ManagedObject) -> RemoteIdentity {
        let entity = object.objectID.entity
        let id = entity.primaryKeyField.flatMap { object[$0] as? String } ?? ""
        return RemoteIdentity(entity: entity.name, id: id)
    }

    /// Changes something at random in the context, and mostly saves it.
    func actInContext() async {
        guard let context = anyContext() else { return }
        do throws(PersistenceError) {
            for _ in 0...world.executor.random.below(3) { try change(context) }
        } catch {
            return check(error, process, "a change")
        }
        guard world.executor.random.chance(0.85) else { return }
        await save(
            context,
            world.executor.random.one(of: [
                .networkThenCache, .networkThenCache, .networkOnly, .cacheOnly, .networkElseQueue,
            ]))
    }

    private func change(_ own: ClientContext) throws(PersistenceError) {
        let name = world.executor.random.one(of: world.subjects.entities)
        switch world.executor.random.below(10) {
        case 0..<3: try insert(name, own)
        case 3..<6: try update(name, own)
        case 6..<8: try relate(own)
        case 8: try arrange(own)
        default: try delete(name, own)
        }
    }

    private func insert(_ name: String, _ own: ClientContext) throws(PersistenceError) {
        let key: String?
        do { key = try newKey(name) } catch { return world.violate("client \(number): \(error)") }
        guard let key, let field = entity(name).primaryKeyField else { return }
        if name == "Counter" {
            // One that was deleted here and not saved keeps its key, as one does that is not saved yet.
            let taken = try objects(name, own.context).contains { $0[field] as? String == key }
            if taken { return }
        }
        let object = try own.context.insert(entityNamed: name)
        object[field] = key
        set("a", of: object, own)
        if name == "Item" || name == "Special" {
            object["folder"] = try pick("Folder", own.context)
            if world.executor.random.chance(0.5), let tag = try pick("Tag", own.context) {
                setTags([tag], of: object, own)
            }
        }
    }

    /// Gives a property a value that nobody else gives, and tells the world of it.
    private func set(_ property: String, of object: ManagedObject, _ own: ClientContext) {
        let old: Value =
            switch object[property] {
            case let text as String: .string(text)
            case let data as Data: .binary(data)
            default: .null
            }
        let value = newValue(property, object.objectID.entity)
        object[property] = value.any
        let write = ModelServer.Write(identity: identity(object), property: property, value: .value(value))
        world.saved(write, by: number, seen: .value(old), isLoose: mayMergeUnseen, context: place(of: own))
        own.unsaved.insert(write)
    }

    private func place(of own: ClientContext) -> Ledger.Context {
        Ledger.Context(process: process.number, number: own.number)
    }

    /// Whether the context puts its values over those of others that come before it saves.
    private var mayMergeUnseen: Bool { habits.mergesAutomatically || habits.mergePolicy != .error }

    private func update(_ name: String, _ own: ClientContext) throws(PersistenceError) {
        var picked = shown(name, own)
        if picked == nil { picked = try pick(name, own.context) }
        guard let object = picked, !isBeingMade(object, own.context) else { return }
        if !object.isInserted { own.show(object) }
        set(world.executor.random.one(of: object.objectID.entity.simulatedAttributes), of: object, own)
        if object.objectID.entity.rootName == "Item", world.executor.random.chance(0.3) {
            object["folder"] = try pick("Folder", own.context)
        }
    }

    /// Whether the context has a new object of the same key, which gives its values to the one that the server has.
    private func isBeingMade(_ object: ManagedObject, _ context: ManagedObjectContext) -> Bool {
        context.insertedObjects.contains {
            $0 !== object && $0.objectID.entity === object.objectID.entity && id($0) == id(object)
        }
    }

    private func relate(_ own: ClientContext) throws(PersistenceError) {
        guard let item = try pick("Item", own.context) else { return }
        var tags = (item["tags"] as? Set<ManagedObject> ?? []).filter { !$0.isDeleted && !$0.isMissing }
            .sorted { id($0) < id($1) }
        if world.executor.random.chance(0.4), !tags.isEmpty {
            tags.removeFirst()
        } else if let tag = try pick("Tag", own.context), !tags.contains(tag) {
            tags.append(tag)
        }
        setTags(tags, of: item, own)
    }

    /// Gives an item tags, and tells the world of it.
    private func setTags(_ tags: [ManagedObject], of item: ManagedObject, _ own: ClientContext) {
        let old = item["tags"] as? Set<ManagedObject> ?? []
        func writes(_ list: some Sequence<ManagedObject>) -> [ModelServer.Write] {
            list.map { ModelServer.Write(tag: id($0), of: identity(item)) }
        }
        let added = writes(tags.filter { !old.contains($0) })
        world.related(identity(item), added: added, removed: writes(old.subtracting(tags)), by: number)
        own.unsaved.formUnion(added)
        item["tags"] = tags
    }

    /// Puts a member into an order, takes one out, or moves one.
    private func arrange(_ own: ClientContext) throws(PersistenceError) {
        guard let device = try pick("Device", own.context) else { return }
        var route = device["route"] as? [ManagedObject] ?? []
        switch world.executor.random.below(3) {
        case 0 where route.count > 1: route.append(route.removeFirst())
        case 1 where !route.isEmpty: route.remove(at: world.executor.random.below(route.count))
        default:
            guard let item = try pick("Item", own.context), !route.contains(item) else { return }
            route.insert(item, at: world.executor.random.below(route.count + 1))
        }
        world.trace("\(number) arranges \(id(device)): \(route.map(id))")
        world.struck(.arranged)
        device["route"] = route
    }

    private func delete(_ name: String, _ own: ClientContext) throws(PersistenceError) {
        guard let object = try pick(name, own.context) else { return }
        var values: [String: RemoteValue] = [:]
        for property in object.objectID.entity.simulatedAttributes { values[property] = value(property, of: object) }
        world.deleted(identity(object), with: values, by: number)
        if object.isInserted {
            noteGivenUp()
            giveUp(identity(object), own)
        }
        own.context.delete(object)
    }

    // MARK: Saving

    /// Saves what the context has. Refused changes stay in it, or are discarded.
    func save(_ own: ClientContext, _ policy: SavePolicy) async {
        let current = process
        guard own.context.hasChanges else { return }
        let writes = own.unsaved
        own.saving += 1
        defer { own.saving -= 1 }
        world.trace("\(number) saves its context \(policy)")
        do throws(PersistenceError) {
            try await own.context.save(options: RemoteOptions(savePolicy: policy))
            guard current.number == process.number else { return }
            world.trace("\(number)     saved")
            own.unsaved.subtract(writes)
            if policy != .cacheOnly { world.struck(.onlineSave) }
        } catch {
            guard current.number == process.number else { return }
            switch error {
            case .conflicts(let conflicts):
                world.struck(.contextConflict)
                world.trace("\(number)     a save met conflicts: \(conflicts)")
                for conflict in conflicts where conflict.reason == .changedInStore {
                    if let object = own.context.updatedObjects.first(where: { $0.objectID == conflict.objectID }) {
                        world.checkConflict(identity(object), of: number, place(of: own))
                    }
                }
                discard(own)
            case .store(.constraint):
                // What it refers to was deleted by others.
                discard(own)
            case .validation(let error) where error.failures.allSatisfy({ $0.rule == .deletedTarget }):
                discard(own)
            default:
                check(error, current, "a save")
                noteFailure()
                world.struck(.failedSave)
                if world.executor.random.chance(0.2), own.saving == 1 { discard(own) }
            }
        }
    }

    /// Gives up what is not saved. The app may go on with the objects that it shows.
    func discard(_ own: ClientContext) {
        let keepsObjects = world.executor.random.chance(0.5)
        world.trace("\(number) \(keepsObjects ? "takes its changes back" : "discards its changes")")
        if keepsObjects { own.context.rollback() } else { own.context.reset() }
        abandon(own)
        noteGivenUp()
    }

    /// What a context had of a new object that is not saved is gone with it.
    private func giveUp(_ identity: RemoteIdentity, _ own: ClientContext) {
        let writes = own.unsaved.filter { $0.identity == identity }
        world.forget(writes)
        own.unsaved.subtract(writes)
    }

    // MARK: The end

    /// Saves what is left in calm weather.
    func finishContexts() async {
        for context in process.contexts { await finish(context) }
        guard process.hasGivenUp else { return }
        do { try crash() } catch { world.violate("client \(number): \(error)") }
    }

    private func finish(_ own: ClientContext) async {
        let context = own.context
        for attempt in 0..<6 {
            await save(own, .networkThenCache)
            guard context.hasChanges else { break }
            // A deletion by others is not a conflict before the client learns about it. A pull does not tell it of an object
            // of which a change waits: the push does, if nothing that was refused holds the change back.
            if attempt < 3 {
                _ = try? await engine.pull()
            } else {
                if let failed = try? engine.failedChanges() { try? engine.retry(failed) }
                _ = try? await engine.synchronize()
            }
        }
        if context.hasChanges {
            let left = [context.insertedObjects, context.updatedObjects, context.deletedObjects]
                .map { "\($0.map(id).sorted())" }
            world.violate(
                "client \(number): its context cannot be saved: inserted \(left[0]), updated \(left[1]), deleted \(left[2]) "
                    + context.updatedObjects.map { "\($0.changedPropertyNames.sorted())" }.joined()
            )
            discard(own)
        }
    }

    /// What a context has after a fetch from the network and one from the mirror.
    func checkContexts(_ truth: [RemoteIdentity: [String: RemoteValue]]) async {
        for context in process.contexts { await check(context.context, truth) }
    }

    private func check(_ context: ManagedObjectContext, _ truth: [RemoteIdentity: [String: RemoteValue]]) async {
        for policy in [FetchPolicy.networkOnly, .cacheOnly] {
            for name in Self.rootNames {
                do throws(PersistenceError) {
                    let request = FetchRequest<ManagedObject>(entity: name)
                        .options(RemoteOptions(fetchPolicy: policy, finishesLocally: true))
                    let found = try await found(request, context)
                    let wanted = truth.keys.filter { entity($0.entity).rootName == name }
                    if Set(found.map(identity)) != Set(wanted) || found.count != wanted.count {
                        world.violate(
                            "client \(number): a fetch \(policy) of \(name) gives \(found.map(id).sorted()) instead of \(wanted.map(\.id).sorted())"
                        )
                    }
                    for object in found {
                        for property in object.objectID.entity.simulatedAttributes {
                            let told = truth[identity(object)]?[property] ?? .value(.null)
                            let here = value(property, of: object)
                            if here != told {
                                world.violate(
                                    "client \(number): a context has \(here) in \(identity(object)).\(property), the server \(told)"
                                )
                            }
                        }
                    }
                } catch {
                    world.violate("client \(number): a fetch in calm weather failed: \(error)")
                }
            }
        }
    }
}

extension Value {
    /// As objects take it by the name of a property.
    fileprivate var any: Any? {
        switch self {
        case .string(let text): text
        case .binary(let data): data
        default: nil
        }
    }
}
