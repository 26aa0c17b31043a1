import Foundation
import Strata
import StrataRemote
import StrataRemoteTesting
import Testing

/// What is saved, and undone.
@Suite struct UndoTests {
    /// What is deleted: an object, or one that it refers to.
    enum Subject: String, CaseIterable { case City, Tag, Country }

    /// How far a save came before it was undone.
    enum Way: CaseIterable {
        case waits, pushed, pushedWithoutAnswer, pushedInVain, pushedAndRefused
        case online, onlineInVain, queuedWithoutAnswer, queuedInVain
    }

    /// What the server can do.
    enum Kind: CaseIterable {
        case all, withoutTokens, withoutRelating, unconditional

        func change(_ capabilities: inout RemoteCapabilities) {
            capabilities.features.insert(.idempotencyTokens)
            switch self {
            case .all: break
            case .withoutTokens: capabilities.features.remove(.idempotencyTokens)
            case .withoutRelating: capabilities.features.remove(.relating)
            case .unconditional: capabilities.features.remove(.conditionalWrites)
            }
        }
    }

    @Test(
        "An object whose deletion is undone is at the server with all that it had, however far the deletion came",
        arguments: Subject.allCases, Way.allCases)
    func undone(subject: Subject, way: Way) async throws {
        for kind in Kind.allCases {
            for options in [RemoteOptions.cache, .network] { try await undone(subject, way, kind, options) }
        }
    }

    private func undone(_ subject: Subject, _ way: Way, _ kind: Kind, _ options: RemoteOptions) async throws {
        let comment: Comment = "\(kind), \(options.savePolicy.map { "\($0)" } ?? "")"
        let backend = Interceptor { kind.change(&$0) }
        let (store, context, history) = try await open(backend, deleting: subject)
        try await save(way, context, store, backend)
        try history.undo()
        if way == .pushedAndRefused, options.savePolicy == RemoteOptions.network.savePolicy {
            // The server has the object, and says so.
            await #expect(throws: PersistenceError.self, comment) { try await context.save(options: options) }
            context.rollback()
            try store.sync.drop(try store.sync.failedChanges())
        }
        if context.hasChanges { try await context.save(options: options) }
        for _ in 0..<3 { _ = try? await store.sync.synchronize() }
        #expect(try store.sync.pendingCount() == 0, comment)
        #expect(try store.sync.failedChanges().isEmpty, comment)
        for own in [context, try PersistentContainer(store: store).newContext(), try await reader(of: backend)] {
            let city = try await own.fetch(cities()).first
            #expect(city?.name == "Lima", comment)
            #expect(city?["population"] as? Int64 == 7, comment)
            #expect((city?["country"] as? ManagedObject)?["name"] as? String == "Peru", comment)
            #expect((city?["tags"] as? Set<ManagedObject>)?.map { $0["label"] as? String } == ["Old"], comment)
            for name in Subject.allCases.map(\.rawValue) {
                #expect(try await own.count(FetchRequest<ManagedObject>(entity: name)) == 1, comment)
            }
        }
    }

    @Test(
        "A deletion that got no answer and was taken back is not sent again, by whichever context",
        arguments: Kind.allCases, [false, true])
    func takenBack(kind: Kind, isUndone: Bool) async throws {
        for isOther in [false, true] {
            let backend = Interceptor { kind.change(&$0) }
            let (store, context, history) = try await open(backend, deleting: .City)
            try await save(.onlineInVain, context, store, backend)
            if isUndone { try history.undo() } else { context.rollback() }
            let own = isOther ? try PersistentContainer(store: store).newContext() : context
            let city = try #require(try await own.fetch(cities()).first)
            city["name"] = "Callao"
            try await own.save(options: RemoteOptions.network)
            let record = try #require(backend.shelf.record("City", "1"), "\(isOther)")
            #expect(record.values["name"] == .value(.string("Callao")))
            #expect(record.values["tags"] == .references(["old"]))
            #expect(record.values["population"] == .value(.integer(7)))
        }
    }

    @Test(
        "An object whose deletion was carried out without an answer is gone, even if the context takes that back",
        arguments: [Subject.City, .Tag], [RemoteOptions.cache, .network])
    func carriedOut(subject: Subject, options: RemoteOptions) async throws {
        for kind in Kind.allCases {
            let backend = Interceptor { kind.change(&$0) }
            let (store, context, history) = try await open(backend, deleting: subject)
            backend.loseAnswers(throwing: RemoteError(.timeout, domain: "Test", message: "no answer"))
            await #expect(throws: PersistenceError.self) { try await context.save(options: RemoteOptions.network) }
            backend.intercept(nil)
            try history.undo()
            try? await context.save(options: options)
            context.rollback()
            for _ in 0..<3 { _ = try? await store.sync.synchronize() }
            #expect(try store.sync.pendingCount() == 0, "\(kind)")
            #expect(backend.shelf.count(subject.rawValue) == 0, "\(kind)")
            for own in [context, try PersistentContainer(store: store).newContext(), try await reader(of: backend)] {
                #expect(try await own.count(FetchRequest<ManagedObject>(entity: subject.rawValue)) == 0, "\(kind)")
            }
        }
    }

    @Test(
        "A new object with the primary key of a deleted one is made after the deletion, and what refers to it comes last",
        arguments: Kind.allCases, [Way.waits, .pushedInVain, .pushedWithoutAnswer])
    func madeAnew(kind: Kind, way: Way) async throws {
        let backend = Interceptor { kind.change(&$0) }
        let (store, context, _) = try await open(backend, deleting: .Tag)
        try await save(way, context, store, backend)
        let tag = try context.insert(entityNamed: "Tag")
        (tag["tagId"], tag["label"]) = ("old", "New")
        try #require(try await context.fetch(cities()).first)["tags"] = Set([tag])
        try await context.save()
        for _ in 0..<2 { _ = try? await store.sync.synchronize() }
        #expect(try store.sync.pendingCount() == 0)
        #expect(backend.shelf.record("Tag", "old")?.values["label"] == .value(.string("New")))
        #expect(backend.shelf.record("City", "1")?.values["tags"] == .references(["old"]))
        for own in [context, try await reader(of: backend)] {
            let city = try await own.fetch(cities()).first
            #expect((city?["tags"] as? Set<ManagedObject>)?.map { $0["label"] as? String } == ["New"])
        }
    }

    /// What is done, undone and done again.
    enum Action: CaseIterable { case creation, change, relation, members }

    @Test(
        "What is done, undone and done again is at the server as it is here, however far each save came",
        arguments: Action.allCases, Way.allCases)
    func doneAgain(action: Action, way: Way) async throws {
        for kind in [Kind.all, .unconditional] {
            for second in Way.allCases where second != .pushed && second != .pushedInVain {
                for isDoneAgain in [false, true] { try await doneAgain(action, way, second, kind, isDoneAgain) }
            }
        }
    }

    private func doneAgain(
        _ action: Action, _ way: Way, _ second: Way, _ kind: Kind, _ isDoneAgain: Bool
    ) async throws {
        let comment: Comment = "\(second), \(kind), \(isDoneAgain)"
        let backend = Interceptor { kind.change(&$0) }
        backend.shelf.putCountry("pe", "Peru")
        backend.shelf.put("Tag", "old", ["label": .value(.string("Old"))])
        backend.shelf.putCity("1", "Lima", population: 7, country: "pe", tags: [])
        let (store, context) = try Atlas.offline(backend)
        try await store.sync.pull()
        let city = try #require(try await context.fetch(cities()).first)
        let tag = try #require(try await context.fetch(FetchRequest<ManagedObject>(entity: "Tag")).first)
        let history = UndoHistory()
        context.undoManager = history
        switch action {
        case .creation:
            let new = try Atlas.city("2", "Callao", context)
            (new["country"], new["tags"]) = (city["country"], Set([tag]))
        case .change: (city["name"], city["population"]) = ("Callao", Int64(8))
        case .relation: (city["country"], city["tags"]) = (nil, Set([tag]))
        case .members: city["tags"] = Set([tag])
        }
        try await save(way, context, store, backend)
        try history.undo()
        if context.hasChanges { try await save(second, context, store, backend) }
        // The server still has the object, and refuses to make it.
        if action == .creation, second == .pushedAndRefused, isDoneAgain { return }
        if isDoneAgain { try history.redo() }
        for _ in 0..<3 where context.hasChanges { try? await context.save(options: RemoteOptions.network) }
        #expect(!context.hasChanges, comment)
        for _ in 0..<3 {
            _ = try? await store.sync.synchronize()
            try store.sync.retry(try store.sync.failedChanges())
        }
        #expect(try store.sync.pendingCount() == 0, comment)
        #expect(try store.sync.failedChanges().isEmpty, comment)
        for own in [context, try PersistentContainer(store: store).newContext(), try await reader(of: backend)] {
            let city = try #require(try await own.fetch(cities()).first { $0["cityId"] as? String == "1" })
            let new = try await own.fetch(cities()).first { $0["cityId"] as? String == "2" }
            switch action {
            case .creation:
                #expect((new != nil) == isDoneAgain, comment)
                guard let new else { continue }
                #expect(new.name == "Callao", comment)
                #expect((new["country"] as? ManagedObject)?["name"] as? String == "Peru", comment)
                #expect((new["tags"] as? Set<ManagedObject>)?.count == 1, comment)
            case .change:
                #expect(city.name == (isDoneAgain ? "Callao" : "Lima"), comment)
                #expect(city["population"] as? Int64 == (isDoneAgain ? 8 : 7), comment)
            case .relation:
                #expect((city["country"] == nil) == isDoneAgain, comment)
                fallthrough
            case .members:
                #expect((city["tags"] as? Set<ManagedObject>)?.count == (isDoneAgain ? 1 : 0), comment)
            }
        }
    }

    @Test(
        "Values that are taken back after a save without an answer are the server's again, large ones included",
        arguments: [false, true], [false, true])
    func valuesTakenBack(isCarriedOut: Bool, isUndone: Bool) async throws {
        let model = try ManagedObjectModel(name: "Pictures") {
            Entity("Picture") {
                Attribute("pictureId", .string, optional: true).unique()
                Attribute("title", .string, default: .value(""))
                Attribute("note", .string, default: .value(""))
                Attribute("content", .binary, optional: true).externalStorage()
            }
        }
        let backend = Interceptor()
        let content = Data(repeating: 7, count: 300_000)
        backend.shelf.put(
            "Picture", "1",
            ["title": .value(.string("Lima")), "note": .value(.string("")), "content": .value(.binary(content))])
        let folder = try ScratchFolder()
        let (store, context) = try Atlas.offline(backend, location: folder.file(), model: model) {
            $0.savePolicy = .networkThenCache
        }
        try await store.sync.pull()
        let picture = try #require(try await context.fetch(FetchRequest<ManagedObject>(entity: "Picture")).first)
        #expect(picture["content"] as? Data == content)
        let history = UndoHistory()
        context.undoManager = history
        (picture["title"], picture["content"]) = ("Callao", Data([1, 2, 3]))
        let lost = RemoteError(.timeout, domain: "Test", message: "no answer")
        if isCarriedOut {
            backend.loseAnswers(throwing: lost)
        } else {
            backend.refuseWrites(throwing: lost)
        }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.intercept(nil)
        if isUndone { try history.undo() } else { context.rollback() }
        picture["note"] = "new"
        try await context.save(options: nil)
        let values = try #require(backend.shelf.record("Picture", "1")).values
        #expect(values["title"] == .value(.string("Lima")))
        #expect(values["note"] == .value(.string("new")))
        #expect(values["content"] == .value(.binary(content)))
        #expect(picture["content"] as? Data == content)
    }

    /// A store that has a city of the server with its country and a tag, and a context that has deleted one of them.
    private func open(
        _ backend: Interceptor, deleting subject: Subject
    ) async throws -> (store: RemoteStore, context: ManagedObjectContext, history: UndoHistory) {
        backend.shelf.putCountry("pe", "Peru", cities: ["1"])
        backend.shelf.put("Tag", "old", ["label": .value(.string("Old"))])
        backend.shelf.putCity("1", "Lima", population: 7, country: "pe", tags: ["old"])
        let (store, context) = try Atlas.offline(backend)
        try await store.sync.pull()
        let history = UndoHistory()
        context.undoManager = history
        let object = try await context.fetch(FetchRequest<ManagedObject>(entity: subject.rawValue)).first
        context.delete(try #require(object))
        return (store, context, history)
    }

    private func save(
        _ way: Way, _ context: ManagedObjectContext, _ store: RemoteStore, _ backend: Interceptor
    ) async throws {
        let lost = RemoteError(.timeout, domain: "Test", message: "no answer")
        switch way {
        case .waits, .pushed, .online: break
        case .pushedWithoutAnswer, .queuedWithoutAnswer: backend.loseAnswers(throwing: lost)
        case .pushedInVain, .onlineInVain, .queuedInVain: backend.refuseWrites(throwing: lost)
        case .pushedAndRefused: backend.refuseWrites()
        }
        switch way {
        case .waits: try await context.save(options: RemoteOptions.cache)
        case .online: try await context.save(options: RemoteOptions.network)
        case .onlineInVain: try? await context.save(options: RemoteOptions.network)
        case .queuedWithoutAnswer, .queuedInVain:
            try await context.save(options: RemoteOptions(savePolicy: .networkElseQueue))
        case .pushed, .pushedWithoutAnswer, .pushedInVain, .pushedAndRefused:
            try await context.save(options: RemoteOptions.cache)
            _ = try? await store.sync.push()
        }
        backend.intercept(nil)
    }

    /// Another device.
    private func reader(of backend: Interceptor) async throws -> ManagedObjectContext {
        let (store, context) = try Atlas.offline(backend)
        try await store.sync.pull()
        return context
    }
}
