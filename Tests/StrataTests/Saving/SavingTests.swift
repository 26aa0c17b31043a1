import Foundation
import Strata
import Testing

/// Saving: hooks that change values, validation, failures.
@Suite struct SavingTests {
    struct Refusal: Error, CustomStringConvertible { let description: String }

    @Test("What willSave changes is saved, objects that it inserts or dirties take part, and it settles")
    func changingHooks() throws {
        try HookLog.listening { log in
            let file = try ZooFile()
            let context = file.container.newContext()
            let sample = Sample(context, "a")
            log.actions["willSave"] = { object in
                guard let sample = object as? Sample, let context = sample.context else { return }
                if sample.small < 3 { sample.small += 1 }
                if sample.label == "a", sample.small == 2 { _ = Sample(context, "made by a hook") }
            }
            try context.save()
            #expect(sample.small == 3 && !context.hasChanges)
            let stored = try file.container.newContext().fetch(FetchRequest<Sample>(sortedBy: [FetchSort("label")]))
            #expect(stored.map(\.label) == ["a", "made by a hook"] && stored.allSatisfy { $0.small == 3 })
            let lines = log.take()
            #expect(lines.count { $0 == "didSave Sample" } == 2)
            #expect(lines.count { $0 == "validateForInsert Sample" } == 2)
        }
    }

    @Test("Hooks that never settle are an error that names the entity, and nothing is written")
    func restlessHooks() throws {
        try HookLog.listening { log in
            let file = try ZooFile()
            let context = file.container.newContext()
            let sample = Sample(context, "a")
            log.actions["willSave"] = { object in
                guard let sample = object as? Sample else { return }
                sample.small = sample.small == 1 ? 0 : 1
            }
            guard case .hooksNeverSettle(entities: ["Sample"])? = persistenceError({ try context.save() }) else {
                Issue.record("the save ended")
                return
            }
            #expect(sample.isInserted && context.hasChanges)
            #expect(try file.container.newContext().count(FetchRequest<Sample>()) == 0)
            log.actions = [:]
            try context.save()
        }
    }

    @Test("Validation may change values; they are validated again and saved")
    func mutatingValidation() throws {
        try HookLog.listening { log in
            let file = try ZooFile()
            let context = file.container.newContext()
            log.actions["validateForInsert"] = { object in
                guard let cat = object as? Cat else { return }
                if cat.name.hasPrefix(" ") { cat.name = String(cat.name.dropFirst()) }
                if cat.name == "bad", cat.weight != 5_000 { cat.weight = 5_000 }
            }
            let cat = Cat(context, name: "  Tom")
            try context.save()
            #expect(cat.name == "Tom" && !context.hasChanges)
            #expect(try file.container.newContext().fetch(FetchRequest<Cat>())[0].name == "Tom")
            let bad = Cat(context, name: "bad")
            #expect(failures { try context.save() }.contains("weight maximum"))
            #expect(bad.isInserted)
        }
    }

    @Test("One error has all failures of all objects, the model's and the classes' own")
    func allFailures() throws {
        try HookLog.listening { log in
            let file = try ZooFile()
            let context = file.container.newContext()
            log.actions["validateForInsert"] = { object in
                if let cat = object as? Cat, cat.lives == 4 { throw Refusal(description: "four is bad luck") }
                if let trick = object as? Trick {
                    throw ValidationError([
                        ValidationFailure(objectID: trick.objectID, property: "title", message: "one"),
                        ValidationFailure(objectID: trick.objectID, property: "title", message: "two"),
                    ])
                }
            }
            let cat = Cat(context, name: "")
            cat.weight = -1
            cat.lives = 4
            let other = Cat(context, name: String(repeating: "x", count: 21))
            other.lives = 10
            _ = Trick(context, title: "t")
            let nameless = try context.insert(entityNamed: "Trick")
            let home = Enclosure(inserting: context)
            home.code = "aa-1"
            let error = persistenceError { try context.save() }
            guard case .validation(let validation)? = error else {
                Issue.record("expected failures, not \(String(describing: error))")
                return
            }
            let found = validation.failures.map {
                "\($0.objectID.entity.name).\($0.property ?? "-") \($0.rule.rawValue)"
            }.sorted()
            #expect(
                found == [
                    "Cat.- custom", "Cat.lives maximum", "Cat.name maximumLength", "Cat.name minimumLength",
                    "Cat.weight minimum",
                    "Enclosure.code pattern", "Enclosure.wardens minimumCount", "Trick.title custom",
                    "Trick.title custom",
                    "Trick.title custom", "Trick.title custom", "Trick.title required",
                ])
            #expect(validation.failures.contains { $0.objectID == nameless.objectID && $0.rule == .required })
            #expect(validation.failures.contains { $0.value == .double(-1) })
            #expect(validation.description.contains("four is bad luck"))
            #expect(context.insertedObjects.count == 5)
        }
    }

    @Test("An object that only its inverse made dirty is validated by its own rules, too")
    func validationOfInverses() throws {
        try HookLog.listening { log in
            let file = try ZooFile()
            let context = file.container.newContext()
            let home = Enclosure(context, code: "AA-1")
            try context.save()
            log.actions["validateForUpdate"] = { object in
                if let home = object as? Enclosure, home.animals.count > 1 { throw Refusal(description: "full") }
            }
            _ = Cat(context, name: "a", enclosure: home)
            try context.save()
            _ = Cat(context, name: "b", enclosure: home)
            #expect(failures { try context.save() } == ["- custom"])
        }
    }

    @Test("didSave may change values; the object is changed again, and the next save writes it")
    func changingAfterwards() throws {
        try HookLog.listening { log in
            let file = try ZooFile()
            let context = file.container.newContext()
            let sample = Sample(context, "a")
            log.actions["didSave"] = { ($0 as? Sample)?.small = 5 }
            try context.save()
            #expect(sample.hasChanges && sample.changedValues() == ["small": 5])
            try context.save()
            #expect(sample.version == 2)
        }
    }

    @Test("A save that fails leaves objects, relationships, order and the store exactly as they were")
    func failedSave() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let rival = file.container.newContext()
        let rex = Dog(context, name: "Rex")
        let sit = Trick(context, title: "sit")
        let beg = Trick(context, title: "beg")
        let home = Enclosure(context, code: "AA-1")
        let gone = Sample(context, "gone")
        rex.chip = "1"
        rex.tricks = [sit, beg]
        try context.save()
        let same = try rival.existingObject(Dog.self, with: rex.objectID)
        same.name = "Rival"
        let other = Dog(rival, name: "Other")
        other.chip = "2"
        try rival.save()

        rex.name = "Mine"
        rex.tricks = [beg, sit]
        rex.enclosure = home
        let new = Dog(context, name: "New")
        new.tricks = [sit]
        context.delete(gone)
        func state() -> [String] {
            let parts: [String] = [
                rex.name, "\(rex.version)", "\(rex.changedPropertyNames.sorted())", rex.tricks.map(\.title).joined(),
                "\(home.animals.count)",
                sit.dogs.map(\.name).joined(), "\(new.isInserted)", "\(new.objectID)", "\(new.version)",
                "\(gone.isDeleted)",
                "\(context.insertedObjects.count) \(context.updatedObjects.count) \(context.deletedObjects.count)",
                "\(rex.committedValues()["name"] ?? .null)", "\(rex.changedValues()["name"] ?? .null)",
            ]
            return parts
        }
        let before = state()
        guard case .conflicts? = persistenceError({ try context.save() }) else {
            throw Refusal(description: "no conflict")
        }
        #expect(state() == before)
        // A unique constraint that the policy cannot solve, after it solved the version conflict.
        context.mergePolicy = .objectWinsByProperty
        rex.chip = "2"
        let again = state()
        guard case .conflicts? = persistenceError({ try context.save() }) else {
            throw Refusal(description: "no conflict")
        }
        #expect(state() == again)
        new.name = ""
        let third = state()
        #expect(failures { try context.save() } == ["name minimumLength"])
        #expect(state() == third)
        #expect(try file.container.newContext().count(FetchRequest<Sample>()) == 1)
        new.name = "New"
        rex.chip = "3"
        try context.save()
        let reader = file.container.newContext()
        let fresh = try reader.existingObject(Dog.self, with: rex.objectID)
        #expect(fresh.name == "Mine" && fresh.chip == "3" && fresh.tricks.map(\.title) == ["beg", "sit"])
        #expect(try context.fetch(FetchRequest<Sample>()).isEmpty)
    }

    @Test("A rollback after a failed save brings back what was read")
    func rollbackAfterFailure() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let home = Enclosure(context, code: "AA-1")
        let cat = Cat(context, name: "Tom", enclosure: home)
        try context.save()
        cat.name = ""
        cat.enclosure = nil
        let new = Cat(context, name: "New", enclosure: home)
        #expect(persistenceError { try context.save() } != nil)
        context.rollback()
        #expect(cat.name == "Tom" && home.animals == [cat] && !context.hasChanges)
        #expect(new.context == nil && new.isDeleted)
        try context.save()
        cat.name = "Tim"
        try context.save()
        #expect(try file.container.newContext().fetch(FetchRequest<Cat>()).map(\.name) == ["Tim"])
    }

    @Test("A store that was closed fails a save with its error, and nothing in the context changes")
    func closedStore() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let cat = Cat(context, name: "Tom")
        file.container.close()
        guard case .store(.closed)? = persistenceError({ try context.save() }) else {
            Issue.record("a closed store saved")
            return
        }
        #expect(cat.isInserted && context.hasChanges && cat.version == 0)
        guard case .store(.closed)? = persistenceError({ try context.fetch(FetchRequest<Dog>()) }) else {
            Issue.record("a closed store answered")
            return
        }
    }
}
