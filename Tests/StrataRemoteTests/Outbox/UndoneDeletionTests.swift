import Foundation
import Strata
import StrataRemote
import StrataRemoteTesting
import Testing

/// Deletions that are saved, and undone.
@Suite struct UndoneDeletionTests {
    /// What is deleted: the object itself, or one that it refers to.
    enum Subject: String, CaseIterable { case City, Tag, Country }

    /// How far the deletion came before it was undone.
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
        case .pushedInVain, .onlineInVain, .queuedInVain:
            backend.intercept { (operation) async throws(RemoteError) in
                if operation.written == nil { return nil }
                throw lost
            }
        case .pushedAndRefused: backend.refuseWrites()
        }
        switch way {
        case .waits: try await context.save(options: RemoteOptions.cache)
        case .online: try await context.save(options: RemoteOptions.network)
        case .onlineInVain:
            await #expect(throws: PersistenceError.self) { try await context.save(options: RemoteOptions.network) }
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
