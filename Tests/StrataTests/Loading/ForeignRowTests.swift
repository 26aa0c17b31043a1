import Foundation
import Strata
import Testing

/// Contexts of a container share rows that one of them has read, but not beyond a commit of others.
@Suite(.recordsHistory) struct ForeignRowTests {
    /// Two containers on one file, as two processes have them, with two authors, who have a book each.
    struct Sides {
        let file: HistoryFile
        let there: PersistentContainer

        init(_ recording: HistoryRecording) throws {
            file = try HistoryFile(recording)
            there = try file.open()
            let context = file.container.newContext()
            for name in ["Ann", "Bob"] { _ = Book(context, title: "By \(name)", author: Author(context, name: name)) }
            try context.save()
        }

        var here: PersistentContainer { file.container }

        func authors(_ context: ManagedObjectContext) throws -> [Author] {
            try context.fetch(FetchRequest<Author>(sortedBy: [FetchSort("name")]))
        }

        /// What somebody else does.
        func rename(_ id: ObjectID, _ name: String) throws {
            let context = there.newContext()
            let author = try context.existingObject(Author.self, with: id)
            author.name = name
            try context.save()
        }
    }

    static let recordings: [HistoryRecording] = [.asInFile, .on(keeping: .days(1))]

    @Test("After a commit of others, no context gets the rows that another one still has", arguments: recordings)
    func renamed(recording: HistoryRecording) async throws {
        let sides = try Sides(recording)
        let held = try sides.authors(sides.here.newContext())
        let id = held[0].objectID
        func name(_ context: ManagedObjectContext) throws -> String {
            try context.existingObject(Author.self, with: id).name
        }
        for new in ["Carl", "Dora"] {
            try sides.rename(id, new)
            #expect(try name(sides.here.newContext()) == new)
            #expect(try name(sides.here.newContext(automaticallyMergesChanges: true)) == new)
            let read = try await sides.here.read { context in try context.existingObject(Author.self, with: id).name }
            #expect(read == new)
            let seen = try await sides.here.performBackgroundTask { context in
                try context.existingObject(Author.self, with: id).name
            }
            #expect(seen == new)
            let books = try await sides.here.newContext().fetch(FetchRequest<Book>())
            #expect(Set(books.compactMap { $0.author?.name }) == ["Bob", new])
            var faults = FetchRequest<Author>(where: try FetchPredicate(format: "name == %@", new))
            faults.returnsObjectsAsFaults = true
            #expect(try await sides.here.newContext().fetch(faults).map(\.name) == [new])
        }
        // What a context without merges has read stays.
        #expect(held[0].name == "Ann")
    }

    @Test("A write after a commit of others is no conflict")
    func written() async throws {
        let sides = try Sides(.asInFile)
        let held = try sides.authors(sides.here.newContext())
        let id = held[0].objectID
        try sides.rename(id, "Carl")
        try await sides.here.write { context in
            let author = try context.existingObject(Author.self, with: id)
            author.name += " here"
        }
        #expect(try sides.there.newContext().existingObject(Author.self, with: id).name == "Carl here")
        withExtendedLifetime(held) {}
    }
}
