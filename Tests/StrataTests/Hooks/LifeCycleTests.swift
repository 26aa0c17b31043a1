import Foundation
import Strata
import Testing

/// Hooks, faults, registration and identity.
@Suite struct LifeCycleTests {
    @Test("Hooks run in order and once for each event")
    func order() throws {
        try HookLog.listening { log in
            let file = try ZooFile()
            let context = file.container.newContext()
            let sample = Sample(context, "a")
            #expect(log.take() == ["awakeFromInsert Sample"])
            try context.save()
            #expect(log.take() == ["willSave Sample", "validateForInsert Sample", "didSave Sample"])
            sample.label = "b"
            #expect(log.take().isEmpty)
            try context.save()
            #expect(log.take() == ["willSave Sample", "validateForUpdate Sample", "didSave Sample"])
            try context.save()
            #expect(log.take().isEmpty, "nothing to save, no hook")
            try context.refresh(sample, mergingChanges: false)
            #expect(log.take() == ["willTurnIntoFault Sample", "didTurnIntoFault Sample"])
            #expect(sample.label == "b")
            #expect(log.take() == ["awakeFromFetch Sample"])
            try context.refresh(sample, mergingChanges: true)
            #expect(!log.take().contains("awakeFromInsert Sample"))
            context.delete(sample)
            #expect(log.take() == ["prepareForDeletion Sample"])
            try context.save()
            #expect(log.take() == ["willSave Sample", "validateForDelete Sample", "didSave Sample"])
        }
    }

    @Test("A fault is filled once for its batch, each object awakes once, and values set by awakening are not changes")
    func awakening() throws {
        let file = try ZooFile()
        let seed = file.container.newContext()
        for index in 0..<20 { _ = Sample(seed, "\(index)") }
        try seed.save()
        try HookLog.listening { log in
            log.actions["awakeFromFetch"] = { ($0 as? Sample)?.text = "awake" }
            let context = file.container.newContext()
            let all = try context.fetch(FetchRequest<Sample>())
            #expect(log.take().count == 20)
            #expect(
                !context.hasChanges
                    && all.allSatisfy { $0.text == "awake" && !$0.hasChanges && $0.changedValues().isEmpty })
            #expect(try context.fetch(FetchRequest<Sample>()) == all)
            #expect(log.take().isEmpty, "fetching again awakes nobody")
            try context.refreshAllObjects()
            #expect(log.take().count == 40 && all.allSatisfy(\.isFault))
            let (reads, _, _) = file.count { _ = all[7].label }
            #expect(reads <= 1 && all.allSatisfy { !$0.isFault })
            #expect(log.take() == Array(repeating: "awakeFromFetch Sample", count: 20))
            all[3].small = 9
            #expect(all[3].changedValues() == ["small": 9])
            try context.save()
            let stored = try seed.fetch(FetchRequest<Sample>(where: AttributeKey<String?>(["text"]) == "awake"))
            #expect(stored.isEmpty, "only what was set afterwards is saved")
        }
    }

    @Test("Reading identity and state fills no fault; reading a property does")
    func faultStates() throws {
        let file = try ZooFile()
        let seed = file.container.newContext()
        let id = Sample(seed, "a").objectID
        try seed.save()
        let context = file.container.newContext()
        let (reads, _, fault) = try file.count {
            let fault = try #require(try context.object(with: id) as? Sample)
            _ = (
                fault.objectID, fault.hashValue, fault == fault, fault.description, fault.hasChanges, fault.isDeleted,
                fault.isMissing
            )
            _ = (fault.changedValues(), fault.changedPropertyNames, fault.entity, fault.context, fault.isInserted)
            return fault
        }
        #expect(reads == 0 && fault.isFault)
        #expect(fault.label == "a" && !fault.isFault)
        let unknown = ObjectID(entity: id.entity, key: 1 << 40, storeIdentifier: id.storeIdentifier)
        #expect(context.registeredObject(for: unknown) == nil)
        #expect(!(try context.object(with: unknown)).isMissing)
        guard case .objectNotFound(unknown)? = persistenceError({ try context.existingObject(with: unknown) }) else {
            Issue.record("an object was found where there is none")
            return
        }
        let foreign = ObjectID(entity: id.entity, key: 1, storeIdentifier: UUID())
        guard case .foreignObject? = persistenceError({ try context.object(with: foreign) }),
            case .foreignObject? = persistenceError({ try context.existingObject(with: foreign) })
        else {
            Issue.record("an object of another store went through")
            return
        }
        #expect(context.registeredObject(for: foreign) == nil)
    }

    @Test("An unchanged object without references is released and comes back equal; a changed one stays")
    func weakRegistration() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        var ids: [ObjectID] = []
        do {
            let cats = (0..<3).map { Cat(context, name: "c\($0)") }
            ids = cats.map(\.objectID)
        }
        #expect(ids.allSatisfy { context.registeredObject(for: $0) != nil }, "new objects are held")
        try context.save()
        #expect(ids.allSatisfy { context.registeredObject(for: $0) == nil }, "saved ones are not")
        try { (try context.existingObject(Cat.self, with: ids[0])).name = "changed" }()
        try { context.delete(try context.existingObject(Cat.self, with: ids[1])) }()
        _ = try context.existingObject(Cat.self, with: ids[2])
        #expect(context.registeredObject(for: ids[0]) != nil && context.registeredObject(for: ids[1]) != nil)
        #expect(context.registeredObject(for: ids[2]) == nil)
        let changed = try context.existingObject(Cat.self, with: ids[0])
        #expect(changed.name == "changed" && changed.objectID == ids[0])
        #expect(try context.object(with: ids[0]) === changed)
        #expect(
            try context.fetch(FetchRequest<Cat>(where: AttributeKey<String>(["name"]) == "changed")).first === changed)
        context.rollback()
        #expect(changed.name == "c0")
        #expect(context.registeredObjects.contains(changed))
    }

    @Test("Loaded relationships do not keep a whole graph in memory")
    func noLeaks() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        weak var weakHome: Enclosure?
        do {
            let home = Enclosure(context, code: "AA-1")
            for index in 0..<5 { _ = Cat(context, name: "\(index)", enclosure: home) }
            try context.save()
            weakHome = home
        }
        do {
            let home = try context.fetch(FetchRequest<Enclosure>())[0]
            #expect(home.animals.allSatisfy { $0.enclosure === home })
            weakHome = home
        }
        context.reset()
        #expect(weakHome == nil)
        #expect(context.registeredObjects.isEmpty)
    }

    @Test(
        "Identity never changes: IDs, equality and hashes are the same before and after the save, in children and in other contexts"
    )
    func permanentIdentity() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let child = context.makeChild()
        let inner = Cat(child, name: "Tom")
        let id = inner.objectID
        let hash = inner.hashValue
        let byID = [id: "Tom"]
        let byObject = [inner: 1]
        let kitten = Cat(child, name: "Kit")
        inner.kittens = [kitten]
        try child.save()
        let outer = try context.existingObject(Cat.self, with: id)
        #expect(outer.kittens.map(\.objectID) == [kitten.objectID])
        try context.save()
        #expect(
            inner.objectID == id && inner.hashValue == hash && byObject[inner] == 1 && byID[outer.objectID] == "Tom")
        let uri = id.uri
        #expect(file.container.objectID(for: uri) == id)
        let second = try file.secondContainer()
        let again = try #require(second.objectID(for: uri))
        #expect(again == id)
        #expect(try second.newContext().existingObject(Cat.self, with: again).name == "Tom")
        second.close()
    }

    @Test("Objects without a context stay readable: after a reset, and after the context went")
    func detached() throws {
        let file = try ZooFile()
        var context: ManagedObjectContext? = file.container.newContext()
        let enclosure = Enclosure(try #require(context), code: "AA-1")
        let cat = Cat(try #require(context), name: "Tom", enclosure: enclosure)
        try context?.save()
        let fault = try #require(
            try context?.object(
                with: ObjectID(entity: cat.entity, key: 1 << 40, storeIdentifier: cat.objectID.storeIdentifier)) as? Cat
        )
        context?.reset()
        #expect(cat.context == nil && cat.name == "Tom" && cat.kittens.isEmpty && !cat.hasChanges)
        #expect(cat.enclosure === enclosure && enclosure.animals == [cat])
        #expect(fault.name == "" && fault.lives == 0 && fault.kittens.isEmpty && fault.friend == nil)
        #expect(try #require(context).fetch(FetchRequest<Cat>()).first !== cat)
        let diary = Diary(inserting: try #require(context))
        context = nil
        #expect(diary.context == nil && diary.text == "" && diary.keeper.name == "")
    }

    @Test("A new object of an abstract or unknown entity is an error; access by name works without a class")
    func inserting() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        guard case .abstractEntity("Animal")? = persistenceError({ try context.insert(entityNamed: "Animal") }),
            case .unknownEntity("Lion", "Zoo", nil)? = persistenceError({ try context.insert(entityNamed: "Lion") })
        else {
            Issue.record("an object of no entity was made")
            return
        }
        #expect(!context.hasChanges)
        let cat = try context.insert(entityNamed: "Cat")
        #expect(cat is Cat && cat["lives"] as? Int16 == 9)
    }
}
