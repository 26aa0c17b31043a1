import Foundation
import Strata
import Testing

/// Delete rules over every shape of graph.
@Suite struct DeleteRuleTests {
    @Test("A delete takes effect immediately, in relationships and in fetches, and the hooks run then")
    func immediate() throws {
        try HookLog.listening { log in
            let file = try ZooFile()
            let context = file.container.newContext()
            let home = Enclosure(context, code: "AA-1")
            let cat = Cat(context, name: "Tom", enclosure: home)
            let kitten = Cat(context, name: "Kit", enclosure: home)
            cat.kittens = [kitten]
            try context.save()
            _ = log.take()
            context.delete(cat)
            #expect(log.take() == ["prepareForDeletion Cat", "prepareForDeletion Cat"])
            #expect(cat.isDeleted && kitten.isDeleted && home.animals.isEmpty)
            #expect(context.deletedObjects == [cat, kitten])
            #expect(try context.fetch(FetchRequest<Cat>()).isEmpty)
            #expect(try context.count(FetchRequest<Animal>()) == 0)
            #expect(cat.name == "Tom")
            context.delete(cat)
            #expect(log.take().isEmpty, "deleting again is nothing")
            try context.save()
            #expect(cat.context == nil && cat.isDeleted && !cat.hasChanges)
            let after = log.take()
            #expect(after.count { $0 == "willSave Cat" } == 2 && after.count { $0 == "didSave Cat" } == 2)
            #expect(after.count { $0 == "validateForDelete Cat" } == 2)
            #expect(cat.name == "Tom" && cat.enclosure == nil, "the last values stay readable")
        }
    }

    @Test("Cascades in cycles and diamonds run each object's hooks once")
    func cyclesAndDiamonds() throws {
        try HookLog.listening { log in
            let file = try ZooFile()
            let context = file.container.newContext()
            let ring = (0..<5).map { Node(context, "ring \($0)") }
            for (index, node) in ring.enumerated() { node.next = ring[(index + 1) % 5] }
            let top = Node(context, "top")
            let left = Node(context, "left")
            let right = Node(context, "right")
            let bottom = Node(context, "bottom")
            top.parts = [left, right]
            left.parts = [bottom]
            right.parts = [bottom]
            bottom.parts = [top]
            try context.save()
            _ = log.take()
            context.delete(ring[2])
            #expect(log.take().count { $0 == "prepareForDeletion Node" } == 5)
            context.delete(left)
            #expect(log.take().count { $0 == "prepareForDeletion Node" } == 4)
            #expect(context.deletedObjects.count == 9)
            try context.save()
            let after = log.take()
            #expect(after.count { $0 == "validateForDelete Node" } == 9 && after.count { $0 == "didSave Node" } == 9)
            #expect(try file.container.newContext().count(FetchRequest<Node>()) == 0)
        }
    }

    @Test("A cascade through faults of another context deletes all that the store has")
    func cascadeThroughFaults() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let chain = (0..<2_000).map { Node(context, "\($0)") }
        for (a, b) in zip(chain, chain.dropFirst()) { a.parts = [b] }
        try context.save()
        let other = file.container.newContext()
        let head = try other.existingObject(Node.self, with: chain[0].objectID)
        other.delete(head)
        #expect(other.deletedObjects.count == 2_000)
        try other.save()
        #expect(try other.count(FetchRequest<Node>()) == 0)
        #expect(try context.count(FetchRequest<Node>()) == 0)
    }

    @Test("Deny is decided after cascades: a member that is deleted with its owner does not deny")
    func denyAfterCascade() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let owner = Node(context, "owner")
        let locked = Node(context, "locked")
        owner.locks = [locked]
        owner.parts = [locked]
        let stranger = Node(context, "stranger")
        stranger.locks = [Node(context, "held")]
        try context.save()
        context.delete(owner)
        try context.save()
        #expect(try context.count(FetchRequest<Node>()) == 2)
        context.delete(stranger)
        #expect(failures { try context.save() } == ["locks deny"])
        #expect(stranger.isDeleted && context.deletedObjects == [stranger], "the delete is still pending")
        let held = try #require(try context.fetch(FetchRequest<Node>()).first)
        #expect(held.label == "held")
        context.delete(held)
        try context.save()
        #expect(try context.count(FetchRequest<Node>()) == 0)
    }

    @Test("A deny inside a cascade fails the save, writes nothing, and a rollback brings everything back")
    func denyInsideCascade() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let top = Node(context, "top")
        let part = Node(context, "part")
        let held = Node(context, "held")
        top.parts = [part]
        part.locks = [held]
        try context.save()
        context.delete(top)
        #expect(part.isDeleted && !held.isDeleted)
        #expect(failures { try context.save() } == ["locks deny"])
        #expect(try file.container.newContext().count(FetchRequest<Node>()) == 3)
        context.rollback()
        #expect(!top.isDeleted && !part.isDeleted && !context.hasChanges)
        #expect(top.parts == [part] && part.locks == [held] && held.lockedBy === part && part.wholes == [top])
        // Freed, it may go.
        held.lockedBy = nil
        context.delete(top)
        try context.save()
        #expect(try context.fetch(FetchRequest<Node>()) == [held])
    }

    @Test("A denied delete through a fault reads who remains")
    func denyThroughFault() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let home = Enclosure(context, code: "AA-1")
        _ = Cat(context, name: "Tom", enclosure: home)
        try context.save()
        let other = file.container.newContext()
        let fault = try other.object(with: home.objectID)
        #expect(fault.isFault)
        other.delete(fault)
        #expect(failures { try other.save() } == ["animals deny"])
        other.rollback()
        let cat = try other.fetch(FetchRequest<Cat>())[0]
        #expect(cat.enclosure === fault)
        cat.enclosure = nil
        other.delete(fault)
        try other.save()
        #expect(try other.count(FetchRequest<Enclosure>()) == 0)
        #expect(try other.count(FetchRequest<Cat>()) == 1)
    }

    @Test(
        "Deleting a new object forgets it: no hook of saving runs, nothing is written, and other new objects do not keep it"
    )
    func stillborn() throws {
        try HookLog.listening { log in
            let file = try ZooFile()
            let context = file.container.newContext()
            let home = Enclosure(context, code: "AA-1")
            try context.save()
            let cat = Cat(context, name: "Tom", enclosure: home)
            let diary = Diary(inserting: context)
            _ = log.take()
            context.delete(cat)
            context.delete(diary)
            #expect(log.take() == ["prepareForDeletion Cat", "prepareForDeletion Diary"])
            #expect(home.animals.isEmpty)
            let (_, writes, _) = try file.count { try context.save() }
            #expect(writes == 0)
            #expect(!log.take().contains { $0.hasSuffix("Cat") || $0.hasSuffix("Diary") })
            #expect(cat.context == nil && cat.isDeleted)
        }
    }

    @Test("A delete rolled back restores loaded and unloaded relationships")
    func rolledBack() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let keeper = Keeper(context, name: "k")
        let diary = Diary(inserting: context)
        let home = Enclosure(context, code: "AA-1")
        diary.keeper = keeper
        keeper.enclosures = [home]
        let rex = Dog(context, name: "Rex")
        let sit = Trick(context, title: "sit")
        let beg = Trick(context, title: "beg")
        rex.tricks = [sit, beg]
        try context.save()
        context.delete(keeper)
        context.delete(sit)
        #expect(diary.isDeleted && home.keepers.isEmpty && rex.tricks == [beg])
        context.rollback()
        #expect(keeper.diary === diary && home.keepers == [keeper] && rex.tricks == [sit, beg] && sit.dogs == [rex])
        #expect(!context.hasChanges)
        try context.save()
        let reader = file.container.newContext()
        #expect(try reader.fetch(FetchRequest<Dog>())[0].tricks.map(\.title) == ["sit", "beg"])
    }
}
