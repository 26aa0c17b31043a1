import Foundation
import Strata
import Testing

@Suite struct ContainerChangeTests {
    @Test("Each commit of any context is told, with the names of what was written and the author")
    func commits() async throws {
        let file = try LibraryFile()
        var changes = file.container.changes.makeAsyncIterator()
        let context = file.container.newContext()
        context.author = "importer"
        let author = Author(context, name: "Ann")
        try await context.save()
        var change = try #require(await changes.next())
        #expect(change.inserted == [author.objectID] && change.authors == ["importer"])
        #expect(!change.isFromElsewhere && !change.isEverything)
        author.score = 4
        try await context.save()
        context.delete(author)
        try await context.save()
        change = try #require(await changes.next())
        #expect(change.updated.isEmpty && change.deleted == [author.objectID])
    }

    @Test("A commit of a stranger on the same file is noticed, and merging contexts show it")
    func strangers() async throws {
        let file = try LibraryFile()
        let context = file.container.newContext(automaticallyMergesChanges: true)
        let author = Author(context, name: "Ann")
        try await context.save()
        let id = author.objectID
        var changes = file.container.changes.makeAsyncIterator()
        let stranger = try file.stranger()
        defer { stranger.close() }
        let theirs = stranger.newContext()
        let same = try theirs.existingObject(Author.self, with: theirID(id, stranger))
        same.name = "Anna"
        try await theirs.save()
        let change = try #require(await changes.next())
        #expect(change.isFromElsewhere && change.isEverything)
        context.processPendingChanges()
        #expect(author.name == "Anna")
        // What this container writes itself is not from elsewhere.
        author.score = 2
        try await context.save()
        var own = try #require(await changes.next())
        while own.updated.isEmpty { own = try #require(await changes.next()) }
        #expect(own.updated[id] == ["score"])
    }

    private func theirID(_ id: ObjectID, _ container: PersistentContainer) throws -> ObjectID {
        try #require(container.objectID(for: id.uri))
    }

    @Test("Live results follow strangers")
    func liveResults() async throws {
        let file = try LibraryFile()
        let context = file.container.newContext(automaticallyMergesChanges: true)
        _ = Author(context, name: "Ann")
        try await context.save()
        let authors = try context.live(FetchRequest<Author>(sortedBy: [FetchSort("name")]))
        var changes = file.container.changes.makeAsyncIterator()
        let stranger = try file.stranger()
        defer { stranger.close() }
        let theirs = stranger.newContext()
        _ = Author(theirs, name: "Abe")
        try await theirs.save()
        _ = await changes.next()
        context.processPendingChanges()
        #expect(authors.map(\.name) == ["Abe", "Ann"])
    }
}
