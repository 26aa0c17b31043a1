import Foundation
import Strata
import Testing

/// Typed keys as the generator writes them, as far as these tests go.
private struct EnclosureKeys: EntityKeys {
    typealias Object = Enclosure
    let path: TypedPath
    var animals: ToManyKey<AnimalKeys> { ToManyKey(path, "animals") }
}

private struct AnimalKeys: EntityKeys {
    typealias Object = Animal
    let path: TypedPath
    var fans: ToManyKey<KeeperKeys> { ToManyKey(path, "fans") }
    var enclosure: ToOneKey<EnclosureKeys> { ToOneKey(path, "enclosure") }
}

private struct KeeperKeys: EntityKeys {
    typealias Object = Keeper
    let path: TypedPath
}

/// What a request prefetches is there afterwards: walking it asks the store for nothing.
@Suite struct PrefetchTests {
    let file: ZooFile

    init() throws {
        file = try ZooFile()
        let context = file.container.newContext()
        let keepers = (0..<5).map { Keeper(context, name: "keeper \($0)") }
        for index in 0..<30 {
            let home = Enclosure(context, code: "AA-\(index)")
            home.wardens = [Keeper(context, name: "warden \(index)")]
            home.keepers = [keepers[index % 5], keepers[(index + 1) % 5]]
            for number in 0..<6 {
                let animal =
                    number.isMultiple(of: 2)
                    ? Cat(context, name: "\(index) \(number)", enclosure: home)
                    : Dog(context, name: "\(index) \(number)", enclosure: home)
                animal.fans = [keepers[number % 5]]
            }
        }
        try context.save()
    }

    private func request(_ paths: any PrefetchPath...) -> FetchRequest<Enclosure> {
        FetchRequest<Enclosure>(prefetch: paths)
    }

    @Test("A to-many relationship is one more statement, and walking it is none")
    func toMany() throws {
        let context = file.container.newContext()
        let (reads, homes) = try file.statements { try context.fetch(request("animals")) }
        #expect(reads.count == 2, "\(reads)")
        let (walking, names) = file.statements { homes.flatMap { home in home.animals.map { home.code + $0.name } } }
        #expect(walking.isEmpty, "\(walking)")
        #expect(names.count == 180)
    }

    @Test("Members of owners that are not in the result are left out")
    func otherOwners() throws {
        let context = file.container.newContext()
        let deleted = try #require(
            try context.fetchFirst(FetchRequest<Enclosure>(where: FetchPredicate(format: "code == 'AA-7'"))))
        context.delete(deleted)
        let homes = try context.fetch(request("animals"))
        #expect(homes.count == 29)
        let names = Set(homes.flatMap { home in home.animals.map(\.name) })
        #expect(names.count == 174)
        #expect(!names.contains { $0.hasPrefix("7 ") })
    }

    @Test("A path of several steps, by typed keys and by text")
    func severalSteps() throws {
        let keys = EnclosureKeys(path: [])
        for path: any PrefetchPath in [keys.animals.then(\.fans), "animals.fans"] {
            let context = file.container.newContext()
            let homes = try context.fetch(request(path, "keepers", "wardens"))
            let (walking, names) = file.statements {
                homes.flatMap { home in
                    home.animals.flatMap { $0.fans.map(\.name) } + home.keepers.map(\.name) + home.wardens.map(\.name)
                }
            }
            #expect(walking.isEmpty, "\(walking)")
            #expect(names.count == 180 + 60 + 30)
        }
    }

    @Test("To-one relationships are read with their rows, and live as long as what leads to them")
    func toOne() throws {
        let context = file.container.newContext()
        var request = FetchRequest<Animal>(prefetch: [AnimalKeys(path: []).enclosure])
        let (reads, animals) = try file.statements { try context.fetch(request) }
        #expect(reads.count == 2, "\(reads)")
        let (walking, codes) = file.statements { Set(animals.compactMap { $0.enclosure?.code }) }
        #expect(walking.isEmpty, "\(walking)")
        #expect(codes.count == 30)
        // A single object, too.
        let alone = file.container.newContext()
        request.limit = 1
        let first = try #require(try alone.fetch(request).first)
        let (one, code) = file.statements { first.enclosure?.code }
        #expect(one.isEmpty && code != nil, "\(one)")
    }

    @Test("What the context has is not read again")
    func nothingTwice() throws {
        let context = file.container.newContext()
        let homes = try context.fetch(request("animals.enclosure"))
        let (again, _) = try file.statements { try context.fetch(request("animals.enclosure")) }
        #expect(again.count == 1, "\(again)")
        #expect(homes.count == 30)
    }

    @Test("Unsaved changes count: members that moved, new ones, deleted ones")
    func pendingChanges() throws {
        let context = file.container.newContext()
        let sorted = try context.fetch(FetchRequest<Enclosure>(sortedBy: [FetchSort("code")]))
        let animals = try context.fetch(FetchRequest<Animal>(sortedBy: [FetchSort("name")]))
        let moved = try #require(animals.first)
        let old = try #require(moved.enclosure)
        let home = try #require(sorted.first { $0 !== old })
        moved.enclosure = home
        let new = Cat(context, name: "new", enclosure: home)
        let gone = try #require(animals.last { $0.enclosure !== home && $0 !== moved })
        let left = try #require(gone.enclosure)
        context.delete(gone)
        let homes = try context.fetch(request("animals"))
        let (walking, _) = file.statements {
            #expect(home.animals.contains(moved) && home.animals.contains(new))
            #expect(!old.animals.contains(moved) && !left.animals.contains(gone))
            #expect(homes.reduce(0) { $0 + $1.animals.count } == 180)
        }
        #expect(walking.isEmpty, "\(walking)")
        let child = context.makeChild()
        let seen = try child.fetch(request("animals.fans"))
        let (inChild, count) = file.statements { seen.reduce(0) { $0 + $1.animals.count } }
        #expect(inChild.isEmpty && count == 180, "\(inChild)")
    }

    @Test("A name that is no relationship is an error that says so, before anything is read")
    func unknownNames() throws {
        let context = file.container.newContext()
        for (path, part) in [
            ("animls", "Enclosure has no relationship animls"), ("animals.name", "Animal.name is an attribute"),
            ("animals.fans.nobody", "Keeper has no relationship nobody"), ("animals.", "Animal has no relationship "),
        ] {
            let (reads, _) = file.statements {
                #expect {
                    try context.fetch(request(path))
                } throws: { error in
                    guard case .invalidFetch("Enclosure", let reason)? = error as? PersistenceError else {
                        return false
                    }
                    return reason.contains(part)
                }
            }
            #expect(reads.isEmpty)
        }
    }
}
