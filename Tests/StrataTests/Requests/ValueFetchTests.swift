import Foundation
import Strata
import Testing

/// Values in place of objects: from the store, and in memory where unsaved changes matter.
@Suite struct ValueFetchTests {
    let file: ZooFile

    init() throws {
        file = try ZooFile()
        let context = file.container.newContext()
        let homes = (0..<3).map { Enclosure(context, code: "AA-\($0)") }
        for home in homes { home.wardens = [Keeper(context, name: "warden of \(home.code)")] }
        for index in 0..<12 {
            let cat = Cat(context, name: "cat \(10 + index)", enclosure: index < 9 ? homes[index % 3] : nil)
            cat.weight = Double(index % 4)
            cat.lives = Int16(index % 5)
        }
        for index in 0..<3 { Dog(context, name: "dog \(index)", enclosure: homes[0]).weight = 20 }
        try context.save()
    }

    private var code: AttributeKey<String?> { AttributeKey(["enclosure", "code"]) }
    private var weight: AttributeKey<Double> { AttributeKey(["weight"]) }

    private var byEnclosure: ValueRequest<Animal, FetchedRow> {
        FetchRequest<Animal>(sortedBy: [FetchSort(["enclosure", "code"])])
            .select(code, weight.sum, FetchColumn("n", .function(.count, [.evaluatedObject])))
            .grouped(by: code)
    }

    @Test("Groups with typed columns and names, one statement")
    func groups() throws {
        let context = file.container.newContext()
        let (reads, rows) = try file.statements { try context.fetchValues(byEnclosure) }
        #expect(reads.count == 1 && context.registeredObjects.isEmpty)
        #expect(rows.map { $0[code] } == [nil, "AA-0", "AA-1", "AA-2"])
        #expect(rows.map { $0["n"] } == [3, 6, 3, 3])
        #expect(rows[1][weight.sum] == 65 && rows[1][weight] == nil && rows[1][0] == "AA-0")
        let many = try context.fetchValues(byEnclosure.having("$n > %d", 3))
        #expect(many.map { $0[code] } == ["AA-0"])
    }

    /// Each kind of request: columns, distinct, groups, totals, with limits and orders.
    private func requests() throws -> [ValueRequest<Animal, FetchedRow>] {
        let all = FetchRequest<Animal>()
        let heavy = FetchRequest<Animal>(where: try FetchPredicate(format: "weight >= 1"))
        var result = [byEnclosure, try byEnclosure.having("max:(weight) > 2 OR $n == 3")]
        for objects in [all, heavy] {
            result.append(objects.select(weight, code).distinct())
            result.append(objects.select(weight.sum, weight.average, weight.maximum, weight.minimum, weight.valueCount))
            result.append(objects.select(code.valueCount, code.maximum))
            var sorted = objects
            sorted.sorts = [FetchSort("twice", ascending: false), FetchSort("name")]
            sorted.limit = 4
            sorted.offset = 2
            let twice = FetchColumn("twice", try FetchExpression(format: "weight * 2"))
            result.append(sorted.select(twice, AttributeKey<String>(["name"])))
        }
        var page = byEnclosure
        page.objects.sorts = [FetchSort("n", ascending: false)]
        page.objects.limit = 2
        page.objects.offset = 1
        return result + [page]
    }

    @Test("Unsaved changes count, in child contexts too: the answer is that of the store after the save")
    func pendingChanges() async throws {
        let parent = file.container.newContext()
        change(parent)
        let child = parent.makeChild()
        let stray = Cat(child, name: "of the child")
        stray.weight = 2
        var inParent: [[FetchedRow]] = []
        var inChild: [[FetchedRow]] = []
        for request in try requests() {
            inParent.append(try await parent.fetchValues(request))
            inChild.append(try await child.fetchValues(request))
            #expect(try fetchNow(request, parent) == inParent.last)
        }
        try await parent.save()
        for (request, expected) in zip(try requests(), inParent) {
            #expect(try await file.container.newContext().fetchValues(request) == expected)
        }
        try await child.save()
        try await parent.save()
        for (request, expected) in zip(try requests(), inChild) {
            #expect(try await file.container.newContext().fetchValues(request) == expected)
        }
    }

    private func fetchNow(
        _ request: ValueRequest<Animal, FetchedRow>, _ context: ManagedObjectContext
    ) throws -> [FetchedRow] { try context.fetchValues(request) }

    private func change(_ context: ManagedObjectContext) {
        guard let animals = try? context.fetch(FetchRequest<Animal>(sortedBy: [FetchSort("name")])) else { return }
        animals[0].weight = 3
        animals[1].enclosure?.code = "BB-1"
        animals[2].enclosure = nil
        context.delete(animals[3])
        Dog(context, name: "new dog", enclosure: animals[0].enclosure).weight = 5
    }

    @Test("Without pending changes the store alone answers")
    func storeAlone() throws {
        let context = file.container.newContext()
        let before = try context.fetchValues(byEnclosure)
        change(context)
        var request = byEnclosure
        #expect(try context.fetchValues(request) != before)
        request.objects.includesPendingChanges = false
        #expect(try context.fetchValues(request) == before)
    }

    @Test("What makes no sense is an error, whether the store answers or not")
    func faults() throws {
        for isChanged in [false, true] {
            let context = file.container.newContext()
            if isChanged { change(context) }
            let objects = FetchRequest<Animal>()
            let name = AttributeKey<String>(["name"])
            for request in [
                objects.select(), objects.select(name, weight.sum), objects.select(weight, weight),
                objects.select(AttributeKey<String>(["nothing"])),
                try objects.select(weight.sum).having("name == 'x'"),
                FetchRequest<Animal>(sortedBy: [FetchSort("name")]).select(weight).distinct(),
            ] {
                guard case .invalidFetch? = persistenceError({ try context.fetchValues(request) }) else {
                    Issue.record("\(request.columns) is no error")
                    continue
                }
            }
        }
    }

    @Test("An object or an ID is a value to compare with, saved or not")
    func objects() throws {
        let context = file.container.newContext()
        let home = Enclosure(context, code: "NN-1")
        let cat = Cat(context, name: "new", enclosure: home)
        let old = try #require(try context.fetchFirst(FetchRequest<Dog>(sortedBy: [FetchSort("name")])))
        func fetch(_ format: String, _ arguments: (any PredicateArgument)?...) throws -> [Animal] {
            let predicate = try FetchPredicate(
                format: format, arguments: arguments.map { $0?.predicateArgument ?? .null })
            return try context.fetch(FetchRequest<Animal>(where: predicate, sortedBy: [FetchSort("name")]))
        }
        #expect(try fetch("enclosure == %@", home) == [cat])
        #expect(try fetch("enclosure == %@", home.objectID) == [cat])
        #expect(try fetch("SELF == %@ OR SELF == %@", cat, old) == [old, cat])
        #expect(try fetch("NOT SELF IN %@", [cat, old]).count == 14)
        #expect(
            try context.makeChild().fetch(
                FetchRequest<Enclosure>(where: FetchPredicate(format: "ANY animals == %@", cat))
            ).map(\.code) == ["NN-1"])
        home.wardens = [Keeper(context, name: "new warden")]
        try context.save()
        #expect(try fetch("enclosure == %@", home) == [cat])
        #expect(try fetch("SELF IN %@", [cat.objectID, old.objectID]) == [old, cat])
    }

    @Test("Members of relationships to many count as they are now")
    func collections() throws {
        let context = file.container.newContext()
        let homes = FetchRequest<Enclosure>(
            where: try FetchPredicate(format: "animals.@count > 3 AND ANY animals.weight == 20"))
        #expect(try context.fetch(homes).map(\.code) == ["AA-0"])
        for dog in try context.fetch(FetchRequest<Dog>()) { dog.enclosure = nil }
        #expect(try context.fetch(homes).isEmpty && context.count(homes) == 0)
        #expect(try context.makeChild().fetch(homes).isEmpty)
    }
}
