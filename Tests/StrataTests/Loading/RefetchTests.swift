import Foundation
import Strata
import Testing

/// A fetch of what the context has does not read it again; nobody sees the difference.
@Suite struct RefetchTests {
    let file: ZooFile

    init() throws {
        file = try ZooFile()
        let context = file.container.newContext()
        for index in 0..<10 {
            let home = Enclosure(context, code: "AA-\(index)")
            home.wardens = [Keeper(context, name: "warden \(index)")]
            for number in 0..<10 { _ = Cat(context, name: "\(index) \(number)", enclosure: home) }
        }
        try context.save()
    }

    private var byName: FetchRequest<Animal> { FetchRequest<Animal>(sortedBy: [FetchSort("name")]) }

    @Test("The same objects in the same order, whole ones between them")
    func sameObjects() throws {
        let context = file.container.newContext()
        let some = try context.fetch(FetchRequest<Animal>(where: AttributeKey<String>(["name"]).hasPrefix("3")))
        #expect(some.count == 10)
        for request in [FetchRequest<Animal>(), byName] {
            let all = try context.fetch(request)
            #expect(all.count == 100 && Set(all).isSuperset(of: some))
            #expect(all.allSatisfy { !$0.isFault && $0.name.count == 3 })
            #expect(try context.fetch(request) == all)
        }
    }

    @Test("Another context's faults are filled from whole rows alone")
    func otherContexts() throws {
        let context = file.container.newContext()
        let first = try context.fetch(byName)
        let again = try context.fetch(byName)
        let other = file.container.newContext()
        let faults = try again.map { try other.object(with: $0.objectID) }
        #expect(faults.compactMap { ($0 as? Animal)?.name } == first.map(\.name))
        let child = context.makeChild()
        #expect(try child.fetch(byName).map(\.name) == first.map(\.name))
    }

    @Test("An object that others changed keeps what it has until it is refreshed; faults take the new row")
    func othersChanged() throws {
        let context = file.container.newContext()
        let all = try context.fetch(byName)
        let second = try file.secondContainer()
        defer { second.close() }
        let elsewhere = second.newContext()
        for animal in try elsewhere.fetch(byName).prefix(2) { animal.weight = 77 }
        try elsewhere.save()
        try context.refresh(all[1], mergingChanges: false)
        #expect(try context.fetch(byName) == all)
        #expect(all[0].weight == 1 && all[1].weight == 77)
        try context.refresh(all[0], mergingChanges: false)
        #expect(all[0].weight == 77)
    }

    @Test("A member that others moved is found at its new owner, and says so itself")
    func othersMoved() throws {
        let context = file.container.newContext()
        let all = try context.fetch(byName)
        let homes = try context.fetch(FetchRequest<Enclosure>(sortedBy: [FetchSort("code")]))
        let second = try file.secondContainer()
        defer { second.close() }
        let elsewhere = second.newContext()
        let target = try elsewhere.object(with: homes[5].objectID) as? Enclosure
        (try elsewhere.object(with: all[0].objectID) as? Animal)?.enclosure = target
        try elsewhere.save()
        let (reads, count) = file.statements { homes.reduce(0) { $0 + $1.animals.count } }
        #expect(count == 100 && homes[5].animals.contains(all[0]) && !homes[0].animals.contains(all[0]))
        #expect(all[0].enclosure === homes[5])
        #expect(reads.count == 2, "\(reads)")
    }

    @Test("Members that the context has are found by their keys: no row is read")
    func membersByKeys() throws {
        let context = file.container.newContext()
        let all = try context.fetch(byName)
        let homes = try context.fetch(FetchRequest<Enclosure>())
        let (reads, count) = file.statements { homes.reduce(0) { $0 + $1.animals.count } }
        #expect(count == all.count && reads.count == 1, "\(reads)")
        #expect(!reads.contains { $0.contains("name") }, "\(reads)")
    }

    @Test("Objects that only a relationship of the earlier fetch kept alive are whole after the next one")
    func keptByTheEarlierFetch() throws {
        let seed = file.container.newContext()
        let kittens = (0..<20).map { Cat(seed, name: "kitten \($0)") }
        for kitten in kittens { kitten.mother = Cat(seed, name: "mother of \(kitten.name)") }
        try seed.save()
        let context = file.container.newContext()
        let some = try context.fetch(FetchRequest<Cat>(where: AttributeKey<String>(["name"]).hasPrefix("kitten")))
        #expect(some.allSatisfy { $0.mother?.name == "mother of \($0.name)" })
        let all = try context.fetch(FetchRequest<Animal>())
        #expect(all.count == 140 && all.allSatisfy { !$0.isFault })
        let names = try context.makeChild().fetch(FetchRequest<Cat>()).map(\.name)
        #expect(names.filter { $0.hasPrefix("mother") }.count == 20 && !names.contains(""))
    }
}
