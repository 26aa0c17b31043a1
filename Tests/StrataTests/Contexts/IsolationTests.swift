import Foundation
import Strata
import StrataStore
import Testing

/// Contexts in many tasks, actors and threads on one file.
@Suite struct IsolationTests {
    struct Refusal: Error, Equatable { let number: Int }

    /// A context that belongs to an application's actor.
    actor Registry {
        private let context: ManagedObjectContext
        private var homes: [String: Enclosure] = [:]

        init(_ container: PersistentContainer) { context = container.newContext(automaticallyMergesChanges: true) }

        func open(_ code: String) throws -> ObjectID {
            let home = Enclosure(context, code: code)
            homes[code] = home
            try context.save()
            return home.objectID
        }

        func admit(_ names: [String], to code: String) throws {
            guard let home = homes[code] else { throw Refusal(number: 404) }
            for name in names { _ = Cat(context, name: name, enclosure: home) }
            try context.save()
        }

        func census(_ code: String) -> [String] {
            context.processPendingChanges()
            return homes[code]?.animals.map(\.name).sorted() ?? []
        }

        func card(_ code: String) -> FrozenObject<Enclosure>? { homes[code]?.frozen() }
    }

    @Test("A context belongs to a user's own actor, and follows the saves of others there")
    func ownActor() async throws {
        let file = try ZooFile()
        let registry = Registry(file.container)
        let id = try await registry.open("AA-1")
        try await registry.admit(["Tom", "Kit"], to: "AA-1")
        try await file.container.performBackgroundTask { context in
            _ = Cat(context, name: "Guest", enclosure: try context.existingObject(Enclosure.self, with: id))
            try context.save()
        }
        #expect(await registry.census("AA-1") == ["Guest", "Kit", "Tom"])
        #expect(await registry.card("AA-1")?["code"] == "AA-1")
        await #expect(throws: Refusal(number: 404)) { try await registry.admit(["x"], to: "ZZ-9") }
    }

    @Test("perform returns values, throws the closure's own errors, and keeps what was not saved for the next one")
    func perform() async throws {
        let file = try ZooFile()
        let background = file.container.newBackgroundContext()
        let id = try await background.perform { context in
            let cat = Cat(context, name: "Tom")
            try context.save()
            cat.name = "Tim"
            return cat.objectID
        }
        let name = try await background.perform { try $0.existingObject(Cat.self, with: id).name }
        #expect(name == "Tim")
        #expect(await background.perform { $0.hasChanges })
        do {
            try await background.perform { _ throws(Refusal) in throw Refusal(number: 1) }
            Issue.record("the error was lost")
        } catch {
            #expect(error.number == 1, "the type of the error is known")
        }
        await background.perform { $0.rollback() }
        #expect(try await background.perform { try $0.existingObject(Cat.self, with: id).name } == "Tom")
    }

    @Test(
        "A closure that waits keeps its context, stays on its queue, lets others in meanwhile, and throws its own errors"
    )
    func waitingPerform() async throws {
        let file = try ZooFile()
        let background = file.container.newBackgroundContext()
        let (steps, step) = AsyncStream.makeStream(of: Int.self)
        async let names = background.perform { context in
            _ = Cat(context, name: "Tom")
            try await context.save()
            for await _ in steps { break }
            background.assertIsolated()
            let cats = try await context.fetch(FetchRequest<Cat>())
            for cat in cats { cat.name += "!" }
            try await context.save()
            return cats.map(\.name).sorted()
        }
        while try await background.perform({ try $0.count(FetchRequest<Cat>()) }) == 0 { await Task.yield() }
        try await background.perform { context in
            _ = Cat(context, name: "Kit")
            try context.save()
        }
        step.yield(1)
        #expect(try await names == ["Kit!", "Tom!"])
        do {
            try await background.perform { _ async throws(Refusal) in
                await Task.yield()
                throw Refusal(number: 3)
            }
            Issue.record("the error was lost")
        } catch {
            #expect(error.number == 3)
        }
    }

    @Test("performAndWait blocks until it is done, nests, throws typed errors, and serves many threads")
    func performAndWait() async throws {
        let file = try ZooFile()
        let background = file.container.newBackgroundContext()
        let sum = background.performAndWait { _ in
            1 + background.performAndWait { _ in 2 + background.performAndWait { _ in 3 } }
        }
        #expect(sum == 6)
        #expect(await background.perform { _ in background.performAndWait { _ in 7 } } == 7, "also within perform")
        do {
            try background.performAndWait { _ throws(Refusal) in
                try background.performAndWait { _ throws(Refusal) in throw Refusal(number: 2) }
            }
            Issue.record("the error was lost")
        } catch {
            #expect(error.number == 2)
        }
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    for round in 0..<50 {
                        if round.isMultiple(of: 2) {
                            background.performAndWait { _ = Sample($0, "\(thread)") }
                        } else {
                            await background.perform { _ = Sample($0, "\(thread)") }
                        }
                    }
                }
            }
        }
        #expect(
            try await background.perform { context in
                try context.save()
                return try context.count(FetchRequest<Sample>())
            } == 400)
    }

    @Test("performAndWait works from plain threads")
    func threads() throws {
        let file = try ZooFile()
        let background = file.container.newBackgroundContext()
        let done = Guarded(0)
        DispatchQueue.concurrentPerform(iterations: 16) { index in
            let count = background.performAndWait { context -> Int in
                _ = Sample(context, "\(index)")
                return context.insertedObjects.count
            }
            done.withLock { $0 += count > 0 ? 1 : 0 }
        }
        #expect(done.withLock(\.self) == 16)
        try background.performAndWait { try $0.save() }
        #expect(try file.container.newContext().count(FetchRequest<Sample>()) == 16)
    }

    @Test("Many contexts in many tasks insert, change, relate and read on one file at once; nothing is lost")
    func manyContexts() async throws {
        let file = try ZooFile()
        let container = file.container
        let setup = container.newContext()
        let home = Enclosure(setup, code: "AA-1")
        let shared = Sample(setup, "shared")
        try await setup.save()
        let (homeID, sharedID) = (home.objectID, shared.objectID)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    // Without merging by itself, each concurrent change of the counter is a conflict, and none is lost.
                    let context = container.newContext()
                    let home = try context.existingObject(Enclosure.self, with: homeID)
                    let shared = try context.existingObject(Sample.self, with: sharedID)
                    for round in 0..<25 {
                        _ = Cat(context, name: "\(task)-\(round)", enclosure: home)
                        try context.save()
                        // A counter by optimistic locking: read, add, save; again if somebody was faster.
                        while true {
                            shared.small += 1
                            do {
                                try context.save()
                                break
                            } catch {
                                guard case PersistenceError.conflicts = error else { throw error }
                                try context.refresh(shared, mergingChanges: false)
                            }
                        }
                        guard home.animals.count > round else { throw Refusal(number: round) }
                    }
                }
            }
            try await group.waitForAll()
        }
        let reader = container.newContext()
        #expect(try reader.existingObject(Enclosure.self, with: homeID).animals.count == 200)
        #expect(try reader.existingObject(Sample.self, with: sharedID).small == 200)
        let ids = try await reader.fetchIDs(FetchRequest<Cat>()).map(\.key)
        #expect(Set(ids).count == 200)
    }

    @Test("Two containers on one file, as two processes have it, never give out the same ID")
    func twoContainers() throws {
        let file = try ZooFile()
        let second = try file.secondContainer()
        defer { second.close() }
        var ids: Set<ObjectID> = []
        for round in 0..<50 {
            for container in [file.container, second] {
                let context = container.newContext()
                for index in 0..<20 { ids.insert(Sample(context, "\(round) \(index)").objectID) }
                try context.save()
            }
        }
        #expect(ids.count == 2_000)
        #expect(try second.newContext().count(FetchRequest<Sample>()) == 2_000)
    }

    @Test(
        "A relationship to an object that another process has deleted becomes nil by the policy",
        arguments: [false, true])
    func referenceToWhatIsGone(isAsync: Bool) async throws {
        let file = try ZooFile()
        let second = try file.secondContainer()
        defer { second.close() }
        let context = file.container.newContext()
        let home = Enclosure(context, code: "AA-1")
        let cat = Cat(context, name: "Tom")
        try await context.save()
        let other = second.newContext()
        for enclosure in try await other.fetch(FetchRequest<Enclosure>()) { other.delete(enclosure) }
        try await other.save()
        cat.enclosure = home
        cat.name = "Felix"
        let kitten = Cat(context, name: "Kit", enclosure: home)
        func saveNow() throws { try context.save() }
        func save() async throws { if isAsync { try await context.save() } else { try saveNow() } }
        let error = await #expect(throws: PersistenceError.self) { try await save() }
        guard case .store(.constraint)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cat.enclosure === home && kitten.enclosure === home)
        context.mergePolicy = .objectWinsByProperty
        try await save()
        #expect(!context.hasChanges && cat.enclosure == nil && kitten.enclosure == nil)
        #expect(try await other.fetch(FetchRequest<Cat>()).map(\.name).sorted() == ["Felix", "Kit"])
    }

    @Test("The view context takes in the saves of background contexts by itself")
    @MainActor func viewContext() async throws {
        let file = try ZooFile()
        let context = file.container.viewContext
        let cat = Cat(context, name: "Tom")
        cat.weight = 2
        try await context.save()
        let id = cat.objectID
        cat.weight = 3
        try await file.container.performBackgroundTask { context in
            try context.existingObject(Cat.self, with: id).name = "Tim"
            try context.save()
        }
        #expect(try await context.fetch(FetchRequest<Cat>()) == [cat])
        #expect(
            cat.name == "Tim" && cat.weight == 3 && cat.changedValues() == ["weight": 3.0], "own changes stay on top")
        try await context.save()
        #expect(cat.version == 3)
    }

    @Test("A container may go while its view context is still in use")
    @MainActor func containerGoes() throws {
        let file = try ZooFile()
        let cat = try { () throws -> Cat in
            let container = try PersistentContainer(Zoo.self, at: .file(path: file.path))
            let cat = Cat(container.viewContext, name: "Tom")
            try container.viewContext.save()
            return cat
        }()
        #expect(cat.name == "Tom")
        let other = file.container.newContext()
        #expect(try other.count(FetchRequest<Cat>()) == 1)
    }
}
