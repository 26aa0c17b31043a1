import Foundation
import Strata
import StrataStore
import Testing

@Suite struct ContextChangeTests {
    private func next(_ iterator: inout ContextChanges.AsyncIterator) async -> ContextChange? {
        await iterator.next(isolation: #isolation)
    }

    @Test("A boundary tells what was inserted, updated and deleted, with the old values")
    func ownChanges() async throws {
        let file = try LibraryFile()
        let context = file.container.newContext()
        let author = Author(context, name: "Ann")
        let doomed = Author(context, name: "Bob")
        try await context.save()
        var changes = context.changes.makeAsyncIterator()
        author.name = "Anna"
        author.score = 5
        author.score = 0
        let book = Book(context, title: "One", author: author)
        context.delete(doomed)
        context.processPendingChanges()
        let change = try #require(await next(&changes))
        #expect(change.inserted == [book.objectID] && change.deleted == [doomed.objectID])
        #expect(change.updated[author.objectID]?.oldValues == ["name": .string("Ann")])
        #expect(change.updated[author.objectID]?.relationships == ["books"])
        #expect(change.refreshed.isEmpty && !change.isEverything)
    }

    @Test("What is changed and changed back, or inserted and deleted, between two boundaries is no change")
    func nothing() async throws {
        let file = try LibraryFile()
        let context = file.container.newContext()
        let author = Author(context, name: "Ann")
        try await context.save()
        var changes = context.changes.makeAsyncIterator()
        author.name = "Anna"
        author.name = "Ann"
        context.delete(Author(context, name: "Nobody"))
        context.processPendingChanges()
        author.score = 1
        context.processPendingChanges()
        let change = try #require(await next(&changes))
        #expect(change.inserted.isEmpty && change.deleted.isEmpty)
        #expect(Array(change.updated.keys) == [author.objectID])
        #expect(change.updated[author.objectID]?.names == ["score"])
    }

    @Test("A slow reader gets one change for all boundaries since it asked last, with the oldest values")
    func coalescing() async throws {
        let file = try LibraryFile()
        let context = file.container.newContext()
        let author = Author(context, name: "Ann")
        try await context.save()
        var changes = context.changes.makeAsyncIterator()
        for name in ["B", "C", "D"] {
            author.name = name
            try await context.save()
        }
        let gone = Author(context, name: "X")
        context.processPendingChanges()
        context.delete(gone)
        context.processPendingChanges()
        let change = try #require(await next(&changes))
        #expect(change.updated[author.objectID]?.oldValues["name"] == .string("Ann"))
        #expect(change.inserted.isEmpty && change.deleted.isEmpty)
    }

    @Test("What others saved is refreshed, inserted or deleted once it is merged, also without an object of it")
    func merged() async throws {
        let file = try LibraryFile()
        let context = file.container.newContext(automaticallyMergesChanges: true)
        let other = file.container.newContext()
        let theirs = Author(other, name: "Ann")
        let unseen = Author(other, name: "Unseen")
        try await other.save()
        let mine = try context.existingObject(Author.self, with: theirs.objectID)
        var changes = context.changes.makeAsyncIterator()
        theirs.name = "Anna"
        unseen.score = 3
        let new = Author(other, name: "New")
        try await other.save()
        context.processPendingChanges()
        let change = try #require(await next(&changes))
        #expect(change.refreshed[mine.objectID]?.oldValues == ["name": .string("Ann")])
        #expect(change.refreshed[unseen.objectID]?.names == ["score"])
        #expect(change.inserted == [new.objectID] && change.updated.isEmpty)
        other.delete(theirs)
        try await other.save()
        context.processPendingChanges()
        #expect(await next(&changes)?.deleted == [mine.objectID])
    }

    @Test("A rollback refreshes what was changed, and takes back what was inserted")
    func rollback() async throws {
        let file = try LibraryFile()
        let context = file.container.newContext()
        let author = Author(context, name: "Ann")
        try await context.save()
        var changes = context.changes.makeAsyncIterator()
        author.name = "Anna"
        let new = Author(context, name: "New")
        context.processPendingChanges()
        #expect(await next(&changes)?.inserted == [new.objectID])
        context.rollback()
        let change = try #require(await next(&changes))
        #expect(change.refreshed[author.objectID]?.oldValues == ["name": .string("Anna")])
        #expect(change.deleted == [new.objectID])
    }

    @Test("The end of a perform is a boundary; the sequence ends with the task")
    func perform() async throws {
        let file = try LibraryFile()
        let center = NotificationCenter()
        file.container.notificationCenter = center
        let count = Guarded(0)
        let observer = center.addObserver(
            forName: .ManagedObjectContextObjectsDidChange, object: nil, queue: nil
        ) { _ in count.withLock { $0 += 1 } }
        let background = file.container.newBackgroundContext()
        await background.perform { context in
            _ = Author(context, name: "Ann")
            _ = Author(context, name: "Bob")
        }
        await background.perform { _ in }
        center.removeObserver(observer)
        #expect(count.withLock(\.self) == 1)
        let container = file.container
        let task = Task { @MainActor in
            var iterator = container.viewContext.changes.makeAsyncIterator()
            return await iterator.next(isolation: MainActor.shared) == nil
        }
        task.cancel()
        #expect(await task.value)
    }

    @Test("Too many objects become one change that says that anything may have changed")
    func overflow() async throws {
        let file = try LibraryFile()
        let context = file.container.newContext()
        var changes = context.changes.makeAsyncIterator()
        for index in 0...ContextChange.mostObjects { _ = Tag(context, label: "\(index)") }
        context.processPendingChanges()
        let change = try #require(await next(&changes))
        #expect(change.isEverything && change.inserted.isEmpty)
        context.reset()
        #expect(await next(&changes)?.isEverything == true)
    }

    @Test("Notifications have the names and keys that observers know, if the container has a center")
    func notifications() throws {
        let file = try LibraryFile()
        let center = NotificationCenter()
        file.container.notificationCenter = center
        let context = file.container.newContext()
        let seen = Guarded<[String]>([])
        let names: [Notification.Name] = [
            .ManagedObjectContextObjectsDidChange, .ManagedObjectContextWillSave, .ManagedObjectContextDidSave,
        ]
        let observers = names.map { name in
            center.addObserver(forName: name, object: context, queue: nil) { note in
                let inserted = note.userInfo?["inserted_objectIDs"] as? Set<ObjectID>
                seen.withLock { $0.append("\(name.rawValue) \(inserted?.count ?? 0)") }
            }
        }
        _ = Author(context, name: "Ann")
        context.processPendingChanges()
        try context.save()
        for observer in observers { center.removeObserver(observer) }
        #expect(
            seen.withLock(\.self) == [
                "ManagedObjectContextObjectsDidChange 1", "ManagedObjectContextWillSave 0",
                "ManagedObjectContextDidSave 1",
            ])
    }
}
