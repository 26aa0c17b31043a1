import Foundation
import Strata
import Testing

/// Fetches that see unsaved changes.
@Suite struct PendingFetchTests {
    private let name = AttributeKey<String>(["name"])
    private let weight = AttributeKey<Double>(["weight"])

    private func zoo(_ context: ManagedObjectContext) throws {
        let a = Enclosure(context, code: "AA-1")
        let b = Enclosure(context, code: "BB-2")
        for index in 0..<10 {
            let animal: Animal =
                index.isMultiple(of: 2)
                ? Cat(context, name: "n\(index)", enclosure: a) : Dog(context, name: "n\(index)", enclosure: b)
            animal.weight = Double(index)
        }
        try context.save()
    }

    private func names(_ context: ManagedObjectContext, _ request: FetchRequest<Animal>) throws -> [String] {
        let result = try context.fetch(request).map(\.name)
        #expect(try context.count(request) == result.count, "count agrees with fetch")
        #expect(try context.fetchIDs(request).count == result.count)
        return result
    }

    @Test("Unsaved changes are tested, sorted, limited and counted with the rest, sub-entities included")
    func pendingChanges() throws {
        let file = try ZooFile()
        let seed = file.container.newContext()
        try zoo(seed)
        let context = file.container.newContext()
        let all = try context.fetch(FetchRequest<Animal>(sortedBy: [name.ascending]))
        #expect(all.map(\.name) == (0..<10).map { "n\($0)" })
        all[0].weight = 100
        all[9].weight = 0.25
        all[5].name = "a5"
        context.delete(all[8])
        Cat(context, name: "new").weight = 7.5
        let heavy = FetchRequest<Animal>(where: weight > 5, sortedBy: [weight.ascending])
        #expect(try names(context, heavy) == ["n6", "n7", "new", "n0"])
        for (offset, limit, expected) in [
            (0, 2, ["n6", "n7"]), (1, 2, ["n7", "new"]), (3, 5, ["n0"]), (4, 5, []), (0, 0, []),
        ] {
            #expect(
                try names(
                    context,
                    FetchRequest<Animal>(where: weight > 5, sortedBy: [weight.ascending], limit: limit, offset: offset))
                    == expected)
        }
        #expect(try names(context, FetchRequest<Animal>(sortedBy: [name.ascending], limit: 2)) == ["a5", "n0"])
        #expect(
            try context.fetch(FetchRequest<Cat>(where: weight > 5, sortedBy: [name.ascending])).map(\.name) == [
                "n0", "n6", "new",
            ])
        var stored = heavy
        stored.includesPendingChanges = false
        #expect(try context.count(stored) == 4)
        try context.save()
        #expect(try names(context, heavy) == ["n6", "n7", "new", "n0"])
        #expect(try names(seed, heavy) == ["n6", "n7", "new", "n0"], "the store decides where nothing is pending")
    }

    @Test("A condition and an order over a relationship see unsaved changes of the related objects")
    func relatedChanges() throws {
        let file = try ZooFile()
        let seed = file.container.newContext()
        try zoo(seed)
        let context = file.container.newContext()
        let code = AttributeKey<String>(["enclosure", "code"])
        let inA = FetchRequest<Animal>(where: code == "AA-1", sortedBy: [name.ascending])
        #expect(try names(context, inA) == ["n0", "n2", "n4", "n6", "n8"])
        let homes = try context.fetch(FetchRequest<Enclosure>(sortedBy: [FetchSort("code")]))
        homes[0].code = "ZZ-9"
        homes[1].code = "AA-1"
        #expect(try names(context, inA) == ["n1", "n3", "n5", "n7", "n9"])
        #expect(
            try names(context, FetchRequest<Animal>(sortedBy: [code.descending, name.ascending], limit: 3))
                == ["n0", "n2", "n4"])
        let moved = try context.fetch(inA)[0]
        moved.enclosure = homes[0]
        #expect(try names(context, inA) == ["n3", "n5", "n7", "n9"])
        moved.enclosure = nil
        #expect(
            try names(context, FetchRequest<Animal>(where: !(code == "ZZ-9"), sortedBy: [name.ascending])) == [
                "n1", "n3", "n5", "n7", "n9",
            ])
        #expect(
            try names(
                context, FetchRequest<Animal>(where: .comparison(.keyPath(["enclosure"]), .equal, .constant(.null), []))
            ) == ["n1"])
        try context.save()
        #expect(
            try names(context, FetchRequest<Animal>(where: !(code == "ZZ-9"), sortedBy: [name.ascending])) == [
                "n1", "n3", "n5", "n7", "n9",
            ])
    }

    @Test(
        "Unsaved objects of other entities of the same hierarchy are left out, and requests can leave sub-entities out"
    )
    func siblings() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        try zoo(context)
        Dog(context, name: "x").weight = 50
        #expect(try context.fetch(FetchRequest<Cat>(where: weight > 10)).isEmpty)
        var alone = FetchRequest<Animal>(entity: "Animal")
        alone.includesSubentities = false
        #expect(try context.fetch(alone).isEmpty && context.count(alone) == 0)
        #expect(try context.fetch(FetchRequest<Animal>()).count == 11)
        #expect(try context.fetch(FetchRequest<ManagedObject>(entity: "Dog")).allSatisfy { $0 is Dog })
    }

    @Test("Lists in conditions and batches of faults may have any length")
    func longLists() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        for index in 0..<40_000 { Sample(context, "\(index)").small = Int16(index % 1_000) }
        try context.save()
        let other = file.container.newContext()
        let wanted = (0..<50_000).map { "\($0 * 2)" }
        let label = AttributeKey<String>(["label"])
        #expect(try other.count(FetchRequest<Sample>(where: label.isIn(wanted))) == 20_000)
        let ids = try other.fetchIDs(FetchRequest<Sample>())
        #expect(ids.count == 40_000)
        let all = try other.fetch(FetchRequest<Sample>())
        try other.refreshAllObjects()
        let (reads, _, sum) = file.count { all.reduce(0) { $0 + Int($1.small) } }
        #expect(sum == 40 * (0..<1_000).reduce(0, +))
        #expect(reads <= 3)
    }

    @Test("Requests that make no sense are errors that name the property")
    func wrongRequests() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        func reason(_ request: FetchRequest<Animal>) -> String {
            guard case .invalidFetch(let entity, let reason)? = persistenceError({ try context.fetch(request) }) else {
                return ""
            }
            return "\(entity): \(reason)"
        }
        #expect(reason(FetchRequest(where: AttributeKey<String>(["nmae"]) == "x")).contains("nmae"))
        #expect(reason(FetchRequest(where: AttributeKey<String>(["enclosure", "cod"]) == "x")).contains("cod"))
        #expect(reason(FetchRequest(sortedBy: [FetchSort("enclosure.animals.name")])).contains("animals"))
        #expect(reason(FetchRequest(sortedBy: [FetchSort("enclosure.keepers")])).contains("keepers"))
        #expect(reason(FetchRequest(sortedBy: [FetchSort("")])) != "")
        #expect(reason(FetchRequest(limit: -1)).contains("negative"))
        #expect(reason(FetchRequest(offset: -1)).contains("negative"))
        guard
            case .unknownEntity(let name, _, _)? = persistenceError({
                try context.fetch(FetchRequest<Animal>(entity: "Lion"))
            })
        else {
            Issue.record("an unknown entity went through")
            return
        }
        #expect(name == "Lion")
    }

    @Test("now() is one moment for all objects of a fetch, saved and unsaved")
    func oneMoment() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        try zoo(context)
        for number in 0..<200 { _ = Cat(context, name: "new \(number)") }
        // Equal in order, so in the order of their keys, which is that of their insertion.
        let moment = FetchSort(try FetchExpression(format: "now()"), ascending: false)
        let found = try context.fetch(FetchRequest<Animal>(sortedBy: [moment]))
        #expect(found.map(\.name) == (0..<10).map { "n\($0)" } + (0..<200).map { "new \($0)" })
        let values = try context.fetchValues(
            FetchRequest<Animal>().select(FetchColumn("now", try FetchExpression(format: "now()"))))
        #expect(Set(values.map { "\($0)" }).count == 1 && values.count == 210)
    }
}
