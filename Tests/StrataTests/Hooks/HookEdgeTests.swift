import Foundation
import Strata
import Synchronization
import Testing

/// What hooks may do, at the edges.
@Suite struct HookEdgeTests {
    @Test("A save from within willSave or a validator is an error, not an endless recursion; from didSave it works")
    func recursiveSaves() throws {
        try HookLog.listening { log in
            let file = try ZooFile()
            let context = file.container.newContext()
            let sample = Sample(context, "a")
            var errors: [PersistenceError?] = []
            for hook in ["willSave", "validateForInsert"] {
                log.actions[hook] = { object in errors.append(persistenceError { try object.context?.save() }) }
            }
            try context.save()
            #expect(!errors.isEmpty)
            #expect(errors.allSatisfy { if case .recursiveSave? = $0 { true } else { false } })
            #expect(sample.version == 1 && !context.hasChanges)
            log.actions = [:]
            log.actions["didSave"] = { object in
                guard let sample = object as? Sample, sample.small == 0 else { return }
                sample.small = 1
                do { try sample.context?.save() } catch { Issue.record("\(error)") }
            }
            sample.label = "b"
            try context.save()
            #expect(sample.version == 3 && !context.hasChanges)
        }
    }

    @Test("Validators that never settle are an error")
    func restlessValidators() throws {
        try HookLog.listening { log in
            let file = try ZooFile()
            let context = file.container.newContext()
            _ = Sample(context, "a")
            log.actions["validateForInsert"] = { ($0 as? Sample)?.small = 1 }
            guard case .hooksNeverSettle(entities: ["Sample"])? = persistenceError({ try context.save() }) else {
                Issue.record("the save ended")
                return
            }
            #expect(context.hasChanges)
        }
    }

    @Test("willSave may delete, fetch and look at deleted objects")
    func deletingHooks() throws {
        try HookLog.listening { log in
            let file = try ZooFile()
            let context = file.container.newContext()
            let a = Sample(context, "a")
            let b = Sample(context, "b")
            try context.save()
            _ = log.take()
            var seen: [Bool] = []
            log.actions["willSave"] = { object in
                guard let sample = object as? Sample, let context = sample.context else { return }
                seen.append(sample.isDeleted)
                do {
                    for other in try context.fetch(FetchRequest<Sample>(where: AttributeKey<String>(["label"]) == "b"))
                    { context.delete(other) }
                } catch { Issue.record("\(error)") }
            }
            a.small = 1
            try context.save()
            #expect(b.isDeleted && seen.contains(true) && seen.contains(false))
            #expect(try context.count(FetchRequest<Sample>()) == 1)
        }
    }

    @Test("prepareForDeletion may save members from a cascade by moving them")
    func rescuing() throws {
        try HookLog.listening { log in
            let file = try ZooFile()
            let context = file.container.newContext()
            let mother = Cat(context, name: "Mother")
            let aunt = Cat(context, name: "Aunt")
            let kit = Cat(context, name: "Kit")
            mother.kittens = [kit]
            try context.save()
            log.actions["prepareForDeletion"] = { object in
                guard let cat = object as? Cat else { return }
                for kitten in cat.kittens { kitten.mother = aunt }
            }
            context.delete(mother)
            #expect(!kit.isDeleted && aunt.kittens == [kit])
            try context.save()
            #expect(try context.fetch(FetchRequest<Cat>(sortedBy: [FetchSort("name")])).map(\.name) == ["Aunt", "Kit"])
        }
    }

    @Test("awakeFromInsert runs once, also when a child's new object arrives in the parent")
    func awakeFromInsertOnce() throws {
        try HookLog.listening { log in
            let file = try ZooFile()
            let root = file.container.newContext()
            let child = root.makeChild()
            _ = Sample(child, "a")
            try child.save()
            try root.save()
            #expect(log.take().count { $0 == "awakeFromInsert Sample" } == 1)
        }
    }

    @Test("A fault that cannot be read because the store failed stays a fault, and says why")
    func unreadableFaults() throws {
        let file = try ZooFile()
        let seed = file.container.newContext()
        let home = Enclosure(seed, code: "AA-1")
        try seed.save()
        let context = file.container.newContext()
        let fault = try #require(try context.object(with: home.objectID) as? Enclosure)
        var heard: [PersistenceError] = []
        context.onFaultError = { error, _ in heard.append(error) }
        file.container.close()
        #expect(fault.code == "" && fault.isFault && !fault.isMissing && fault.animals.isEmpty)
        #expect(!heard.isEmpty)
        guard case .store(.closed)? = context.lastFaultError else {
            Issue.record("no error: \(String(describing: context.lastFaultError))")
            return
        }
    }

    @Test("Writing to a fault that cannot be read changes nothing that would be saved over the row")
    func writingUnreadableFaults() throws {
        let file = try ZooFile()
        let seed = file.container.newContext()
        let sample = Sample(seed, "a")
        sample.small = 7
        try seed.save()
        let context = file.container.newContext()
        let fault = try #require(try context.object(with: sample.objectID) as? Sample)
        file.container.close()
        fault.label = "b"
        #expect(fault.isFault || fault.label == "b")
        #expect(persistenceError { try context.save() } != nil || !context.hasChanges)
    }
}

/// Unique constraints within one save and between saves.
@Suite struct UniqueTests {
    @Test("Values that must be unique can be swapped, and freed and taken, in one save")
    func swapping() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let a = Dog(context, name: "a")
        let b = Dog(context, name: "b")
        let c = Dog(context, name: "c")
        (a.chip, b.chip, c.chip) = ("1", "2", "3")
        try context.save()
        (a.chip, b.chip) = (b.chip, a.chip)
        try context.save()
        context.delete(c)
        Dog(context, name: "d").chip = "3"
        try context.save()
        let stored = try file.container.newContext().fetch(FetchRequest<Dog>(sortedBy: [FetchSort("name")]))
        #expect(stored.map { $0.chip ?? "" } == ["2", "1", "3"])
        #expect(stored.map(\.name) == ["a", "b", "d"])
        // Nil is unlike nil.
        _ = [Dog(context, name: "e"), Dog(context, name: "f")]
        try context.save()
    }

    @Test("Two new objects with one value, and a value that is taken, are conflicts that name the property")
    func conflicts() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let a = Dog(context, name: "a")
        let b = Dog(context, name: "b")
        (a.chip, b.chip) = ("1", "1")
        guard case .conflicts(let list)? = persistenceError({ try context.save() }),
            case .unique(let names, _)? = list.first?.reason
        else {
            Issue.record("no conflict")
            return
        }
        #expect(names == ["chip"])
        b.chip = "2"
        try context.save()
        b.chip = "1"
        guard case .conflicts(let again)? = persistenceError({ try context.save() }),
            case .unique(_, let other)? = again.first?.reason
        else {
            Issue.record("no conflict")
            return
        }
        #expect(other == a.objectID && again.first?.objectID == b.objectID)
        context.rollback()
        #expect(b.chip == "2")
    }

    @Test(
        "Object wins is an upsert by key: the row survives with its ID and its relationships, and new relationships lead to it"
    )
    func upsert() throws {
        let file = try ZooFile()
        let seed = file.container.newContext()
        let old = Dog(seed, name: "old")
        old.chip = "1"
        old.weight = 5
        old.tricks = [Trick(seed, title: "sit")]
        try seed.save()
        let context = file.container.newContext()
        context.mergePolicy = .objectWinsByProperty
        let new = Dog(context, name: "new")
        let home = Enclosure(context, code: "AA-1")
        new.chip = "1"
        new.enclosure = home
        new.tricks = [Trick(context, title: "beg")]
        let friend = Cat(context, name: "friend")
        friend.friend = new
        try context.save()
        #expect(new.objectID == old.objectID && new.name == "new" && new.weight == 5)
        #expect(home.animals == [new] && friend.friend === new)
        #expect(Set(new.tricks.map(\.title)) == ["sit", "beg"])
        let reader = file.container.newContext()
        let same = try #require(try reader.fetch(FetchRequest<Dog>()).first)
        #expect(try reader.count(FetchRequest<Dog>()) == 1)
        #expect(
            same.objectID == old.objectID && same.name == "new" && same.weight == 5 && same.enclosure?.code == "AA-1")
        #expect(Set(same.tricks.map(\.title)) == ["sit", "beg"] && same.friend?.name == "friend")
    }

    @Test("Changes of another process are met as conflicts, and a refresh takes them in")
    func otherProcess() throws {
        let file = try ZooFile()
        let second = try file.secondContainer()
        defer { second.close() }
        let context = file.container.newContext()
        let samples = ["a", "b", "c"].map { Sample(context, $0) }
        try context.save()
        let held = try context.fetch(FetchRequest<Sample>())
        let other = second.newContext()
        for sample in try other.fetch(FetchRequest<Sample>()) { sample.text = "elsewhere" }
        try other.save()
        samples[0].text = "here"
        guard case .conflicts? = persistenceError({ try context.save() }) else {
            Issue.record("no conflict")
            return
        }
        context.rollback()
        try context.refreshAllObjects()
        #expect(held.allSatisfy { $0.text == "elsewhere" })
        samples[0].text = "here"
        try context.save()
    }
}
