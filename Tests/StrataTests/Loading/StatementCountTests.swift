import Foundation
import Strata
import Testing

/// How many statements the store is asked, however much data there is.
@Suite struct StatementCountTests {
    private func zoo(_ file: ZooFile, homes: Int, animals: Int) throws {
        let context = file.container.newContext()
        for index in 0..<homes {
            let home = Enclosure(context, code: "AA-\(index)")
            for number in 0..<animals {
                _ =
                    number.isMultiple(of: 2)
                    ? Cat(context, name: "\(number)", enclosure: home)
                    : Dog(context, name: "\(number)", enclosure: home)
            }
        }
        try context.save()
    }

    @Test("Walking many owners and their members after one fetch takes at most 3 statements")
    func walking() throws {
        let file = try ZooFile()
        try zoo(file, homes: 300, animals: 20)
        let context = file.container.newContext()
        let (statements, total) = try file.statements {
            var total = 0
            for home in try context.fetch(FetchRequest<Enclosure>()) {
                for animal in home.animals { total += animal.name.count + (animal.enclosure === home ? 1 : 0) }
            }
            return total
        }
        #expect(total > 12_000)
        #expect(statements.count <= 3, "\(statements)")
    }

    @Test("Walking the other way, from members to their owners, takes at most 3 statements")
    func walkingBack() throws {
        let file = try ZooFile()
        try zoo(file, homes: 100, animals: 10)
        let context = file.container.newContext()
        let (statements, codes) = try file.statements {
            Set(try context.fetch(FetchRequest<Animal>()).compactMap { $0.enclosure?.code })
        }
        #expect(codes.count == 100)
        #expect(statements.count <= 3, "\(statements)")
    }

    @Test("Pairs and ordered members are loaded for the whole batch, too")
    func walkingPairs() throws {
        let file = try ZooFile()
        let seed = file.container.newContext()
        let tricks = (0..<30).map { Trick(seed, title: "t\($0)") }
        for index in 0..<200 { Dog(seed, name: "\(index)").tricks = [tricks[index % 30], tricks[(index + 7) % 30]] }
        try seed.save()
        let context = file.container.newContext()
        let (statements, titles) = try file.statements {
            try context.fetch(FetchRequest<Dog>()).flatMap { $0.tricks.map(\.title) }
        }
        #expect(titles.count == 400)
        #expect(statements.count <= 3, "\(statements)")
    }

    @Test("Three levels deep: each level is one statement")
    func levels() throws {
        let file = try ZooFile()
        let seed = file.container.newContext()
        for index in 0..<20 {
            let top = Node(seed, "top \(index)")
            top.locks = Set(
                (0..<5).map { part in
                    let node = Node(seed, "middle \(part)")
                    node.locks = Set((0..<5).map { Node(seed, "leaf \($0)") })
                    return node
                })
        }
        try seed.save()
        let context = file.container.newContext()
        let (statements, leaves) = try file.statements {
            try context.fetch(FetchRequest<Node>(where: AttributeKey<String>(["label"]).hasPrefix("top"))).reduce(0) {
                sum, top in
                sum + top.locks.reduce(0) { $0 + $1.locks.count { $0.label.hasPrefix("leaf") } }
            }
        }
        #expect(leaves == 500)
        #expect(statements.count <= 4, "\(statements)")
    }

    @Test("Firing one fault loads those of its batch in one statement")
    func faults() throws {
        let file = try ZooFile()
        try zoo(file, homes: 50, animals: 10)
        let context = file.container.newContext()
        let animals = try context.fetch(FetchRequest<Animal>())
        try context.refreshAllObjects()
        let allFaults = animals.allSatisfy { $0.isFault }
        #expect(allFaults)
        let (statements, names) = file.statements { animals.map(\.name) }
        #expect(names.count == 500 && statements.count == 1, "\(statements)")
    }

    @Test(
        "Adding to a to-many of 10,000 members loads none of them, and saving that is a constant number of statements")
    func adding() throws {
        let file = try ZooFile()
        try zoo(file, homes: 1, animals: 10_000)
        let context = file.container.newContext()
        let home = try context.fetch(FetchRequest<Enclosure>())[0]
        let (statements, _) = file.statements { home.addAnimals([Cat(context, name: "new")]) }
        #expect(
            !statements.contains { $0.contains("SELECT") && $0.contains("animal") && $0.contains("enclosure") },
            "\(statements)")
        #expect(home.hasFault(forRelationship: "animals"))
        let (saving, _) = try file.statements { try context.save() }
        #expect(saving.count <= 8, "\(saving)")
        #expect(context.registeredObjects.count < 10)
        #expect(home.animals.count == 10_001)
    }

    @Test("Saving one change among 10,000 loaded objects is a constant number of statements")
    func savingOne() throws {
        let file = try ZooFile()
        let seed = file.container.newContext()
        for index in 0..<10_000 { _ = Sample(seed, "\(index)") }
        try seed.save()
        let context = file.container.newContext()
        let all = try context.fetch(FetchRequest<Sample>())
        all[5_000].small = 1
        let (one, _) = try file.statements { try context.save() }
        #expect(one.count { $0.hasPrefix("UPDATE") } == 1)
        for sample in all.prefix(100) { sample.small = 2 }
        let (hundred, _) = try file.statements { try context.save() }
        #expect(one.count <= 6, "\(one)")
        #expect(hundred.count <= one.count + 99, "one statement for each row, and nothing else")
        let (none, _) = try file.statements { try context.save() }
        #expect(none.isEmpty)
    }

    @Test("A second context is served from the rows that the first one holds")
    func sharedRows() throws {
        let file = try ZooFile()
        try zoo(file, homes: 20, animals: 5)
        let one = file.container.newContext()
        let two = file.container.newContext()
        let animals = try one.fetch(FetchRequest<Animal>())
        let faults = try animals.map { try two.object(with: $0.objectID) }
        let (statements, names) = file.statements { faults.compactMap { ($0 as? Animal)?.name } }
        #expect(names.count == 100)
        #expect(statements.isEmpty, "\(statements)")
        animals[0].name = "changed"
        try one.save()
        let third = file.container.newContext()
        #expect(
            try (third.object(with: animals[0].objectID) as? Animal)?.name == "changed", "the old row is not served")
    }
}
