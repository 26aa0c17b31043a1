import Foundation
import Observation
import Strata
import StrataStore
import Testing

/// Objects of the view context can be observed.
@Suite @MainActor struct ObservationTests {
    private final class Counter: Sendable {
        private let value = Guarded(0)
        var count: Int { value.withLock { $0 } }
        func add() { value.withLock { $0 += 1 } }
    }

    /// Whether a change notifies those who read what `read` reads.
    private func notifies(_ read: () -> Void, when change: () throws -> Void) rethrows -> Bool {
        let counter = Counter()
        withObservationTracking(read) { counter.add() }
        try change()
        return counter.count > 0
    }

    @Test("Attributes and relationships notify their readers, and no others")
    func properties() throws {
        let file = try ZooFile()
        let context = file.container.viewContext
        let home = Enclosure(context, code: "AA-1")
        let cat = Cat(context, name: "Tom")
        try context.save()
        #expect(notifies({ _ = cat.name }, when: { cat.name = "Tim" }))
        #expect(!notifies({ _ = cat.name }, when: { cat.weight = 5 }))
        #expect(notifies({ _ = cat.mood }, when: { cat.mood = nil }))
        #expect(notifies({ _ = cat.enclosure }, when: { cat.enclosure = home }))
        #expect(notifies({ _ = home.animals }, when: { cat.enclosure = nil }), "by the inverse")
        #expect(notifies({ _ = cat.enclosure }, when: { home.animals = [cat] }), "by the inverse")
        #expect(
            notifies({ _ = home.keepers }, when: { Keeper(context, name: "k").enclosures = [home] }),
            "by the inverse")
        #expect(notifies({ _ = home.keepers }, when: { home.removeKeepers(home.keepers) }))
        #expect(!notifies({ _ = home.keepers }, when: { home.addAnimals([Cat(context, name: "x")]) }))
        let other = Cat(context, name: "y")
        #expect(notifies({ _ = other.friend }, when: { cat.friend = other }), "one to one")
        #expect(notifies({ _ = other.friend }, when: { cat.friend = nil }), "one to one")
        #expect(notifies({ _ = cat["name"] }, when: { cat["name"] = "by name" }), "by name")
        #expect(notifies({ _ = home["animals"] }, when: { cat.enclosure = nil }), "by name")
    }

    @Test("Rollbacks, refreshes and deletes notify")
    func reverting() throws {
        let file = try ZooFile()
        let context = file.container.viewContext
        let home = Enclosure(context, code: "AA-1")
        let cat = Cat(context, name: "Tom", enclosure: home)
        try context.save()
        cat.name = "Tim"
        #expect(notifies({ _ = cat.name }, when: { context.rollback() }))
        #expect(cat.name == "Tom")
        cat.enclosure = nil
        #expect(notifies({ _ = home.animals }, when: { context.rollback() }))
        #expect(home.animals == [cat])
        #expect(try notifies({ _ = cat.name }, when: { try context.refresh(cat, mergingChanges: false) }))
        #expect(notifies({ _ = home.animals }, when: { context.delete(cat) }))
        #expect(notifies({ _ = home.code }, when: { context.delete(home) }))
    }

    @Test(
        "Saves of a background context notify the readers of the view context: values, members that come and members that go"
    )
    func merges() async throws {
        let file = try ZooFile()
        let context = file.container.viewContext
        let home = Enclosure(context, code: "AA-1")
        let cat = Cat(context, name: "Tom", enclosure: home)
        home.keepers = [Keeper(context, name: "k")]
        try await context.save()
        let (homeID, catID) = (home.objectID, cat.objectID)
        let background = file.container.newBackgroundContext()
        func changes(_ read: () -> Void, _ change: @escaping @Sendable (ManagedObjectContext) throws -> Void)
            async throws -> Bool
        {
            let counter = Counter()
            withObservationTracking(read) { counter.add() }
            try await background.perform { context in
                try change(context)
                try context.save()
            }
            // The view context takes the save in by itself, soon; the test waits for it and gives up after some
            // seconds.
            for _ in 0..<500 where counter.count == 0 { try await Task.sleep(for: .milliseconds(10)) }
            return counter.count > 0
        }
        #expect(try await changes({ _ = cat.name }) { try $0.existingObject(Cat.self, with: catID).name = "Tim" })
        #expect(cat.name == "Tim")
        #expect(
            try await changes({ _ = home.animals }) { context in
                _ = Cat(context, name: "New", enclosure: try context.existingObject(Enclosure.self, with: homeID))
            })
        #expect(home.animals.count == 2)
        #expect(
            try await changes({ _ = home.animals }) { try $0.existingObject(Cat.self, with: catID).enclosure = nil })
        #expect(home.animals.map(\.name) == ["New"] && cat.enclosure == nil)
        #expect(
            try await changes({ _ = home.animals }) { context in
                for animal in try context.existingObject(Enclosure.self, with: homeID).animals {
                    context.delete(animal)
                }
            })
        #expect(home.animals.isEmpty)
        #expect(
            try await changes({ _ = home.keepers }) { context in
                for keeper in try context.existingObject(Enclosure.self, with: homeID).keepers {
                    context.delete(keeper)
                }
            })
        #expect(home.keepers.isEmpty)
        #expect(
            try await changes({ _ = home.keepers }) { context in
                try context.existingObject(Enclosure.self, with: homeID).addKeepers([Keeper(context, name: "n")])
            })
        #expect(home.keepers.map(\.name) == ["n"])
        #expect(
            try await changes({ _ = (cat.name, cat.isDeleted) }) { context in
                context.delete(try context.existingObject(with: catID))
            })
        #expect(cat.isMissing && cat.name == "Tim")
    }
}
