import Strata
import Testing

/// A new object gives way to the row that has its key: what becomes of the members that it was given, and that were taken from it
/// again, before the save.
@Suite struct AbsorbedPairTests {
    @Test(
        "Members that were taken from a new object are taken from the row that has its key, and nothing is left to save",
        arguments: [false, true], [false, true])
    func removedPairs(isKnown: Bool, isRelated: Bool) throws {
        let file = try ZooFile()
        let rival = file.container.newContext()
        let enclosure = Enclosure(rival, code: "AB-1")
        let trick = Trick(rival, title: "sit")
        try rival.save()

        let context = file.container.newContext()
        context.mergePolicy = .objectWinsByProperty
        let mine = try context.existingObject(Trick.self, with: trick.objectID)
        let home = try context.existingObject(Enclosure.self, with: enclosure.objectID)
        let dog = Dog(context, name: "Rex")
        dog.chip = "1"
        let keeper = Keeper(context, name: "Ann")
        keeper.keeperId = "k"
        mine.dogs = [dog]
        home.addKeepers([keeper])
        mine.dogs = []
        home.removeKeepers([keeper])

        let other = Dog(rival, name: "Other")
        other.chip = "1"
        let another = Keeper(rival, name: "Another")
        another.keeperId = "k"
        if isRelated {
            trick.dogs = [other]
            enclosure.addKeepers([another])
        }
        try rival.save()
        if isKnown {
            // The context has the rows under their own keys when it saves.
            #expect(try context.fetch(FetchRequest<Dog>()).map(\.objectID).contains(other.objectID))
            #expect(try context.fetch(FetchRequest<Keeper>()).map(\.objectID).contains(another.objectID))
        }
        try context.save()
        #expect(!context.hasChanges)
        let fresh = file.container.newContext()
        let stored = try fresh.existingObject(Trick.self, with: trick.objectID)
        let place = try fresh.existingObject(Enclosure.self, with: enclosure.objectID)
        #expect(stored.dogs.isEmpty && place.keepers.isEmpty)
        #expect(try fresh.fetch(FetchRequest<Dog>()).map(\.name) == ["Rex"])
    }

    @Test("Members that were given to a new object after they were taken from it go to the row that has its key")
    func addedAgain() throws {
        let file = try ZooFile()
        let rival = file.container.newContext()
        let trick = Trick(rival, title: "sit")
        let other = Dog(rival, name: "Other")
        other.chip = "1"
        try rival.save()
        let context = file.container.newContext()
        context.mergePolicy = .objectWinsByProperty
        let mine = try context.existingObject(Trick.self, with: trick.objectID)
        let dog = Dog(context, name: "Rex")
        dog.chip = "1"
        mine.dogs = [dog]
        mine.dogs = []
        mine.dogs = [dog]
        try context.save()
        #expect(!context.hasChanges)
        let stored = try file.container.newContext().existingObject(Trick.self, with: trick.objectID)
        #expect(stored.dogs.map(\.name) == ["Rex"])
    }
}
