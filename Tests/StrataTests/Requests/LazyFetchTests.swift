import Foundation
import Strata
import Testing

/// Arrays whose rows are read a page at a time.
@Suite struct LazyFetchTests {
    let file: ZooFile

    /// 60 cats and dogs by turns, in two enclosures.
    init() throws {
        file = try ZooFile()
        let context = file.container.newContext()
        let homes = (0..<2).map { Enclosure(context, code: "AA-\($0)") }
        for home in homes { home.wardens = [Keeper(context, name: "warden of \(home.code)")] }
        for index in 0..<60 {
            let name = "animal " + String(100 + index)
            let home = homes[index % 2]
            _ =
                index % 2 == 0
                ? Cat(context, name: name, enclosure: home) as Animal : Dog(context, name: name, enclosure: home)
        }
        try context.save()
    }

    private var byName: FetchRequest<Animal> { FetchRequest<Animal>(sortedBy: [FetchSort("name")]) }

    @Test("The fetch reads keys alone, each page that is looked at one statement more")
    func pages() throws {
        let context = file.container.newContext()
        let (reads, animals) = try file.statements { try context.fetchLazily(byName, batchSize: 10) }
        #expect(reads.count == 1 && !reads[0].contains("strata_collect"), "\(reads)")
        #expect(animals.count == 60 && context.registeredObjects.isEmpty)
        let (first, name) = file.statements { animals[25].name }
        #expect(name == "animal 125" && first.count == 1)
        #expect(context.registeredObjects.count == 10)
        let (again, names) = file.statements { animals[20..<30].map(\.name) }
        #expect(again.isEmpty && names == (120..<130).map { "animal \($0)" })
        #expect(animals[20] is Cat && animals[21] is Dog)
        let (all, everything) = file.statements { animals.map(\.name) }
        #expect(everything == (100..<160).map { "animal \($0)" } && all.count == 5)
        #expect(animals.reversed().first?.name == "animal 159")
    }

    @Test("Pages let go of their objects, unless somebody holds one")
    func release() throws {
        let context = file.container.newContext()
        let animals = try context.fetchLazily(byName, batchSize: 5)
        let held = animals[0]
        for animal in animals { _ = animal.name }
        #expect(context.registeredObjects.count <= 16, "three pages and the one that is held")
        #expect(animals[0] === held)
        animals[1].name = "changed"
        for animal in animals { _ = animal.name }
        #expect(animals[1].name == "changed" && animals[1].hasChanges)
    }

    @Test("It stays as it was found while the context changes")
    func snapshot() throws {
        let context = file.container.newContext()
        let animals = try context.fetchLazily(byName, batchSize: 10)
        let first = animals[0]
        first.name = "zebra"
        context.delete(animals[1])
        _ = Cat(context, name: "aaa")
        #expect(animals.count == 60 && animals[0] === first && animals[1].isDeleted)
        try context.save()
        #expect(animals[1].isDeleted && animals[0].name == "zebra" && animals[2].name == "animal 102")
        let other = file.container.newContext()
        for animal in try other.fetch(byName) where animal.name == "animal 140" { other.delete(animal) }
        try other.save()
        #expect(animals[40].name == "" && animals[40].isMissing && animals[41].name == "animal 141")
        #expect(animals.objectIDs.count == 60 && animals.objectIDs[0] == first.objectID)
        context.reset()
        #expect(animals[2].name == "animal 102")
    }

    @Test("Unsaved changes are in it, with limit and offset, in child contexts too")
    func pendingChanges() throws {
        let context = file.container.newContext()
        for animal in try context.fetch(byName).prefix(3) { animal.weight = 500 }
        let added = Cat(context, name: "animal 102a")
        added.weight = 500
        var request = byName
        request.predicate = try FetchPredicate(format: "weight > 100")
        let heavy = try context.fetchLazily(request, batchSize: 2)
        #expect(heavy.map(\.name) == ["animal 100", "animal 101", "animal 102", "animal 102a"])
        let child = context.makeChild()
        let fresh = Dog(child, name: "animal 101a")
        fresh.weight = 700
        request.limit = 3
        request.offset = 1
        let inChild = try child.fetchLazily(request, batchSize: 2)
        #expect(inChild.map(\.name) == ["animal 101", "animal 101a", "animal 102"])
        #expect(inChild.allSatisfy { $0.context === child } && inChild[1] === fresh)
        #expect(try child.fetch(request) == Array(inChild))
    }

    @Test("A new object that a save made one with a row is found under the row's key, also when it is made again")
    func rowOfAnotherKey() throws {
        let elsewhere = file.container.newContext()
        let chipped = Dog(elsewhere, name: "a first")
        chipped.chip = "one"
        try elsewhere.save()
        let context = file.container.newContext()
        context.mergePolicy = .objectWinsByProperty
        do { Dog(context, name: "a second").chip = "one" }
        let animals = try context.fetchLazily(byName, batchSize: 1)
        #expect(animals.count == 62)
        try context.save()
        for animal in animals { _ = animal.name }
        #expect(context.registeredObject(for: chipped.objectID) == nil, "its page is gone")
        #expect(animals[1].name == "a second" && !animals[1].isMissing)
        #expect(animals[1].objectID == chipped.objectID && animals[1] === animals[0])
    }

    @Test("Relationships are prefetched with each page")
    func prefetching() throws {
        let context = file.container.newContext()
        var request = byName
        request.prefetch = ["enclosure.wardens"]
        let animals = try context.fetchLazily(request, batchSize: 20)
        let (reads, _) = file.statements { _ = animals[0] }
        #expect(reads.count >= 3)
        let (later, names) = file.statements { animals[0..<20].map { $0.enclosure?.wardens.first?.name } }
        #expect(later.isEmpty && names[1] == "warden of AA-1", "\(later)")
    }

    @Test("A class of some entities leaves out the others; a page of nothing is an error")
    func classes() throws {
        let context = file.container.newContext()
        var request = FetchRequest<Dog>(entity: "Animal", sortedBy: [FetchSort("name")])
        request.limit = 10
        #expect(try context.fetchLazily(request).map(\.name) == context.fetch(request).map(\.name))
        #expect(persistenceError { try context.fetchLazily(request, batchSize: 0) } != nil)
        let none = try context.fetchLazily(FetchRequest<Dog>(where: .constant(false)))
        #expect(none.isEmpty && none.first == nil)
    }
}
