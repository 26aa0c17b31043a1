import Foundation
import Strata
import Testing

/// Objects that somebody else deleted are a state, never a crash.
@Suite struct MissingObjectTests {
    /// Deletes all objects without the knowledge of other contexts.
    private func deleteAll(_ file: ZooFile) throws {
        let context = file.container.newContext()
        for entity in ["Diary", "Sample"] {
            for object in try context.fetch(FetchRequest<ManagedObject>(entity: entity)) { context.delete(object) }
        }
        for keeper in try context.fetch(FetchRequest<Keeper>()) { context.delete(keeper) }
        try context.save()
    }

    @Test(
        "A fault without a row reads as zero and empty, required properties included, and says that it is missing"
    )
    func faultsForNothing() throws {
        let file = try ZooFile()
        let seed = file.container.newContext()
        let keeper = Keeper(seed, name: "k")
        let diary = Diary(inserting: seed)
        let sample = Sample(seed, "s")
        diary.keeper = keeper
        try seed.save()
        let context = file.container.newContext()
        let lostDiary = try #require(try context.object(with: diary.objectID) as? Diary)
        let lostSample = try #require(try context.object(with: sample.objectID) as? Sample)
        try deleteAll(file)
        #expect(!lostDiary.isMissing, "nobody has looked yet")
        #expect(
            lostDiary.text == "" && lostDiary.isMissing && lostDiary.isDeleted && !lostDiary.isFault
                && !lostDiary.hasChanges)
        #expect(lostDiary.keeper.name == "" && lostDiary.keeper.enclosures.isEmpty && lostDiary.keeper.context == nil)
        #expect(lostSample.small == 0 && !lostSample.flag && lostSample.date == nil && lostSample.uuid == nil)
        lostSample.small = 5
        #expect(!lostSample.hasChanges && !context.hasChanges)
        context.delete(lostSample)
        #expect(!context.hasChanges)
        try context.save()
        guard case .objectNotFound? = persistenceError({ try context.existingObject(with: diary.objectID) }) else {
            Issue.record("a missing object was found")
            return
        }
        #expect(context.lastFaultError == nil)
    }

    @Test("A loaded object that another context deleted keeps its last values, and relationships no longer have it")
    func loadedObjects() throws {
        let file = try ZooFile()
        let context = file.container.newContext(automaticallyMergesChanges: true)
        let keeper = Keeper(context, name: "k")
        let home = Enclosure(context, code: "AA-1")
        let diary = Diary(inserting: context)
        diary.keeper = keeper
        home.keepers = [keeper]
        try context.save()
        #expect(home.keepers == [keeper] && keeper.diary === diary)
        let other = file.container.newContext()
        other.delete(try other.existingObject(with: keeper.objectID))
        try other.save()
        context.processPendingChanges()
        #expect(keeper.isMissing && keeper.isDeleted && keeper.name == "k")
        #expect(home.keepers.isEmpty)
        #expect(diary.isMissing && keeper.diary == nil)
        #expect(!context.hasChanges)
        try context.save()
    }

    @Test("An object that was changed here and deleted elsewhere is a conflict that each policy solves")
    func changedHere() throws {
        for policy in MergePolicy.allCases {
            let file = try ZooFile()
            let context = file.container.newContext(automaticallyMergesChanges: true)
            let sample = Sample(context, "s")
            try context.save()
            sample.text = "mine"
            let other = file.container.newContext()
            other.delete(try other.existingObject(with: sample.objectID))
            try other.save()
            context.processPendingChanges()
            #expect(sample.text == "mine" && sample.hasChanges)
            context.mergePolicy = policy
            let error = persistenceError { try context.save() }
            switch policy {
            case .error:
                guard case .conflicts(let conflicts)? = error else { throw try #require(error) }
                #expect(conflicts.map(\.reason) == [.deletedInStore])
                #expect(sample.hasChanges && sample.text == "mine")
            case .storeWinsByProperty, .rollback:
                #expect(error == nil && sample.isMissing && !context.hasChanges)
                #expect(try context.count(FetchRequest<Sample>()) == 0)
            case .objectWinsByProperty, .overwrite:
                #expect(error == nil && !sample.isMissing && !sample.isDeleted && !context.hasChanges)
                let reader = file.container.newContext()
                let again = try reader.existingObject(Sample.self, with: sample.objectID)
                #expect(again.label == "s" && again.text == "mine")
                sample.text = "next"
                try context.save()
            }
        }
    }

    @Test(
        "An object that a policy inserts again does not refer to an object that the same save deletes",
        arguments: [MergePolicy.objectWinsByProperty, .overwrite])
    func againWithoutADeletedTarget(policy: MergePolicy) throws {
        let container = try PersistentContainer(Library.self, at: .memory(name: nil))
        let other = container.newContext()
        let writer = Author(other, name: "fan")
        let book = Book(other, title: "old")
        writer.favourites = [book]
        try other.save()
        let context = container.newContext()
        context.mergePolicy = policy
        let mine = try context.existingObject(Book.self, with: book.objectID)
        mine.title = "mine"
        let fan = try context.existingObject(Author.self, with: writer.objectID)
        other.delete(book)
        try other.save()
        // The store no longer knows that the book refers to its fan.
        context.delete(fan)
        try context.save()
        #expect(!context.hasChanges && !mine.isMissing && mine.fan == nil)
        let reader = container.newContext()
        #expect(try reader.fetch(FetchRequest<Book>()).map(\.title) == ["mine"])
        #expect(try reader.count(FetchRequest<Author>()) == 0)
    }

    @Test("What lives on here for its changes stays until the save, also if others delete it twice and its target, too")
    func goneTwice() throws {
        let file = try ZooFile()
        let context = file.container.newContext(automaticallyMergesChanges: true)
        let home = Enclosure(context, code: "AA-1")
        let cat = Cat(context, name: "c", enclosure: home)
        try context.save()
        cat.enclosure = nil
        let late = file.container.newContext()
        late.mergePolicy = .overwrite
        for id in [cat.objectID, home.objectID] { late.delete(try late.existingObject(with: id)) }
        let other = file.container.newContext()
        other.delete(try other.existingObject(with: cat.objectID))
        try other.save()
        #expect(try context.fetch(FetchRequest<Cat>()) == [cat])
        try late.save()
        #expect(try context.fetch(FetchRequest<Cat>()) == [cat])
        #expect(cat.hasChanges && !cat.isMissing && home.isMissing)
        // With its target gone there is nothing left to write, and so nothing to disagree about.
        try context.save()
        #expect(try context.fetch(FetchRequest<Cat>()).isEmpty)
        #expect(!context.hasChanges && cat.isDeleted)
    }

    @Test("A to-one that leads to an object deleted elsewhere reads as nil after the merge, and after a fault")
    func targets() throws {
        let file = try ZooFile()
        let context = file.container.newContext(automaticallyMergesChanges: true)
        let node = Node(context, "a")
        let next = Node(context, "b")
        let lock = Node(context, "c")
        node.lockedBy = lock
        lock.locks.insert(next)
        try context.save()
        let other = file.container.newContext()
        let otherLock = try other.existingObject(Node.self, with: lock.objectID)
        otherLock.locks = []
        other.delete(otherLock)
        try other.save()
        context.processPendingChanges()
        #expect(node.lockedBy == nil && next.lockedBy == nil && lock.isMissing)
        try context.refreshAllObjects()
        #expect(node.lockedBy == nil && lock.label == "" && lock.isMissing)
    }

    @Test("A fetch does not find a fault whose row is gone, also if one of its relationships is changed here")
    func faultsWithChangedRelationships() throws {
        let container = try PersistentContainer(Library.self, at: .memory(name: nil))
        let context = container.newContext()
        let other = container.newContext()
        let author = Author(other, name: "a")
        let book = Book(context, title: "b")
        try context.save()
        try other.save()
        let fault = try #require(try context.object(with: author.objectID) as? Author)
        book.author = fault
        #expect(fault.isFault && fault.hasChanges)
        other.delete(author)
        try other.save()
        #expect(try context.fetch(FetchRequest<Author>()).isEmpty)
        #expect(try context.count(FetchRequest<Author>()) == 0)
        #expect(fault.isMissing && !fault.hasChanges)
    }

    @Test(
        "A condition on a reference that was set here and leads to what others deleted does not depend on the objects held",
        arguments: [true, false], [true, false])
    func conditionsOnLostTargets(isHeld: Bool, isRefreshed: Bool) throws {
        let container = try PersistentContainer(Library.self, at: .memory(name: nil))
        let context = container.newContext(automaticallyMergesChanges: !isRefreshed)
        let other = container.newContext()
        let author = Author(other, name: "a")
        let book = Book(context, title: "b")
        try context.save()
        try other.save()
        let loose = Book(context, title: "c")
        var held = try context.object(with: author.objectID) as? Author
        book.author = held
        loose.author = held
        if !isHeld { held = nil }
        other.delete(author)
        try other.save()
        if isRefreshed { try context.refreshAllObjects() } else { context.processPendingChanges() }
        let orphans = FetchRequest<Book>(where: try FetchPredicate(format: "author == NULL"))
        #expect(try Set(context.fetch(orphans)) == [book, loose])
        #expect(try context.count(FetchRequest<Book>(where: try FetchPredicate(format: "author != NULL"))) == 0)
        #expect(held == nil || held?.isMissing == true)
    }

    @Test(
        "A delete that gives way to what others saved gives way with the pairs that were taken away before it",
        arguments: [MergePolicy.rollback, .storeWinsByProperty], [true, false])
    func pairsOfADeleteThatGivesWay(policy: MergePolicy, fromTheObject: Bool) throws {
        let container = try PersistentContainer(Library.self, at: .memory(name: nil))
        let other = container.newContext()
        let (book, tag) = (Book(other, title: "b"), Tag(other, label: "t"))
        book.tags = [tag]
        try other.save()
        let context = container.newContext()
        context.mergePolicy = policy
        let mine = try context.existingObject(Book.self, with: book.objectID)
        let label = try context.existingObject(Tag.self, with: tag.objectID)
        if fromTheObject { mine.tags = [] } else { label.books = [] }
        context.delete(mine)
        book.title = "newer"
        try other.save()
        try context.save()
        #expect(!mine.isDeleted && mine.title == "newer" && mine.tags == [label] && label.books == [mine])
        let reader = container.newContext()
        #expect(try reader.existingObject(Book.self, with: book.objectID).tags.count == 1)
        #expect(!context.hasChanges)
    }

    @Test("A delete clears the references of what lives on here for its changes after others have deleted it")
    func deletedTargetsOfWhatLivesOn() throws {
        let container = try PersistentContainer(Library.self, at: .memory(name: nil))
        let other = container.newContext()
        let (book, author) = (Book(other, title: "b"), Author(other, name: "a"))
        book.fan = author
        try other.save()
        let context = container.newContext(automaticallyMergesChanges: true)
        let mine = try context.existingObject(Book.self, with: book.objectID)
        mine.title = "mine"
        other.delete(book)
        try other.save()
        context.processPendingChanges()
        context.delete(try context.existingObject(Author.self, with: author.objectID))
        #expect(mine.fan == nil && Set(mine.changedValues().keys) == ["fan", "title"])
        context.mergePolicy = .overwrite
        try context.save()
        let reader = container.newContext()
        #expect(try reader.fetch(FetchRequest<Book>()).map(\.fan) == [nil])
        #expect(try reader.count(FetchRequest<Author>()) == 0)
    }

    @Test(
        "A save that drops a relationship to what others deleted keeps what was added to an object that had led there before"
    )
    func unchangedRelationships() throws {
        let container = try PersistentContainer(Library.self, at: .memory(name: nil))
        let context = container.newContext()
        let other = container.newContext()
        let author = Author(context, name: "a")
        let old = Book(context, title: "old")
        let new = Book(context, title: "new")
        old.fan = author
        try context.save()
        old.tags = [Tag(context, label: "t")]
        new.fan = author
        other.delete(try other.existingObject(with: author.objectID))
        try other.save()
        context.mergePolicy = .rollback
        try context.save()
        let reader = container.newContext()
        #expect(try reader.existingObject(Book.self, with: old.objectID).tags.map(\.label) == ["t"])
        #expect(try reader.fetch(FetchRequest<Book>()).allSatisfy { $0.fan == nil })
        #expect(old.fan == nil && new.fan == nil && !context.hasChanges)
    }

    @Test(
        "What others deleted and a child has changed lives on there, with the members that its parent has set to lead to it"
    )
    func changedInChild() throws {
        let container = try PersistentContainer(Library.self, at: .memory(name: nil))
        let root = container.newContext(automaticallyMergesChanges: true)
        let other = container.newContext()
        let author = Author(root, name: "a")
        let book = Book(root, title: "b")
        try root.save()
        let child = root.makeChild()
        let same = try child.existingObject(Author.self, with: author.objectID)
        same.score = 5
        book.author = author
        other.delete(try other.existingObject(with: author.objectID))
        try other.save()
        root.processPendingChanges()
        try child.refreshAllObjects()
        let member = try child.existingObject(Book.self, with: book.objectID)
        #expect(author.isMissing && !same.isMissing)
        #expect(member.author === same && same.books == [member])
    }

    @Test("A refresh that finds a changed object deleted elsewhere takes it out of its pairs at both ends")
    func refreshedPairs() throws {
        let container = try PersistentContainer(Library.self, at: .memory(name: nil))
        let context = container.newContext()
        let book = Book(context, title: "b")
        let tag = Tag(context, label: "t")
        book.tags = [tag]
        try context.save()
        #expect(tag.books == [book])
        book.pages = 7
        let other = container.newContext()
        other.delete(try other.existingObject(with: book.objectID))
        try other.save()
        try context.refresh(book)
        #expect(!book.isMissing && book.pages == 7)
        #expect(book.tags.isEmpty && tag.books.isEmpty)
    }
}
