import Foundation
import SeededRandom
import Strata
import StrataCoreData
import Testing

/// The same random changes in a Core Data store and in a store of Strata.
struct RandomWritingTests {
    /// The attribute with a person's name, which has another one in Core Data.
    private let person: String
    private let zoo: Zoo

    init() throws {
        zoo = try Zoo()
        let mapping = zoo.file.converted().mapping
        person = try #require(mapping.property("name", of: "Person"))
    }

    /// What a store holds, by the names of its objects.
    private func content(_ context: ManagedObjectContext) throws -> [String] {
        var lines: [String] = []
        func name(_ object: ManagedObject?) -> String {
            guard let object else { return "-" }
            let key =
                [person, "name", "title"].first { object.objectID.entity.slot(named: $0) != nil } ?? ""
            return "\(object.objectID.entity.name):\(object[key] as? String ?? "-")"
        }
        for animal in try context.all("Animal") {
            let clubs = (animal["clubs"] as? Set<ManagedObject> ?? []).map { name($0) }.sorted()
            let number = (animal["number"] as? Int16).map { "\($0)" } ?? "-"
            let rating = (animal["rating"] as? Decimal).map { "\($0)" } ?? "-"
            lines.append(
                "\(name(animal)) \(number) \(rating) \(name(animal["keeper"] as? ManagedObject)) \(clubs)")
        }
        for person in try context.all("Person") {
            lines.append(
                "\(name(person)) \((person["animals"] as? [ManagedObject] ?? []).map { name($0) })")
        }
        for club in try context.all("Club") {
            let sponsors = (club["sponsors"] as? Set<ManagedObject> ?? []).map { name($0) }.sorted()
            lines.append(
                "\(name(club)) \((club["members"] as? [ManagedObject] ?? []).map { name($0) }) \(sponsors)")
        }
        return lines.sorted()
    }

    /// One random change, by names, so that it is the same in every store.
    private func change(_ context: ManagedObjectContext, _ random: inout SplitMix64, step: Int) throws {
        func sorted(_ entity: String, _ key: String) throws -> [ManagedObject] {
            try context.all(entity).sorted { ($0[key] as? String ?? "") < ($1[key] as? String ?? "") }
        }
        let animals = try sorted("Animal", "name")
        let people = try sorted("Person", person)
        let clubs = try sorted("Club", "title")
        switch random.below(9) {
        case 0, 1:
            let animal = try context.insert(
                entityNamed: random.pick(["Animal", "Bird", "Fish"]) ?? "Animal")
            animal["name"] = "a\(step)"
            animal["keeper"] = random.pick(people)
        case 2:
            let new = try context.insert(entityNamed: random.oneIn(2) ? "Vet" : "Person")
            new[person] = "p\(step)"
        case 3:
            let club = try context.insert(entityNamed: "Club")
            club["title"] = "c\(step)"
            club["sponsors"] = Set(people.filter { _ in random.oneIn(2) })
        case 4:
            guard let animal = random.pick(animals) else { return }
            animal["number"] = random.below(1000)
            animal["rating"] = Decimal(random.below(100_000)) / 100
        case 5: random.pick(animals)?["keeper"] = random.oneIn(3) ? nil : random.pick(people)
        case 6:
            guard let owner = random.pick(people) else { return }
            owner["animals"] = animals.filter { _ in random.oneIn(3) }.shuffled(using: &random)
        case 7:
            guard let club = random.pick(clubs) else { return }
            club["members"] = animals.filter { _ in random.oneIn(2) }.shuffled(using: &random)
        default:
            if let object = random.pick(random.oneIn(3) ? people : random.oneIn(2) ? clubs : animals) {
                context.delete(object)
            }
        }
    }

    @Test("20 runs of 60 changes leave the same objects, and a store that keeps the rules")
    func runs() throws {
        let first = RunSeed.value()
        for seed in first..<first + 20 {
            let path = Samples.temporary(".sqlite")
            try CoreDataStore.create(path: path, model: zoo.file)
            var options = CoreDataStore.Options()
            options.isReadOnly = false
            let store = try CoreDataStore.open(path: path, options: options)
            let contexts = [
                try PersistentContainer(store: store).newContext(),
                try PersistentContainer(model: store.model, at: .memory(name: nil)).newContext(),
            ]
            var randoms = [SplitMix64(seed: seed), SplitMix64(seed: seed)]
            for step in 0..<60 {
                for (number, context) in contexts.enumerated() {
                    try change(context, &randoms[number], step: step)
                    if step % 3 == 2 { try context.save() }
                }
            }
            for context in contexts { try context.save() }
            let expected = try content(contexts[1])
            #expect(try content(contexts[0]) == expected, "seed \(seed)")
            let again = try PersistentContainer(store: CoreDataStore.open(path: path)).newContext()
            #expect(try content(again) == expected, "seed \(seed)")
            #expect(try CoreDataStore.check(at: path) == [], "seed \(seed)")
            #expect(!expected.isEmpty)
        }
    }
}
