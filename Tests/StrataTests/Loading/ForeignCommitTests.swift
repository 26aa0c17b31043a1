import Foundation
import Strata
import StrataStore
import Testing

/// SQLite notices commits of others: contexts share rows until there are any, and those that merge find them.
@Suite struct ForeignCommitTests {
    private typealias Sides = ForeignRowTests.Sides

    @Test(
        "A context that merges takes in what others have committed at its next boundary",
        arguments: ForeignRowTests.recordings)
    func merged(recording: HistoryRecording) throws {
        let sides = try Sides(recording)
        let context = sides.here.newContext(automaticallyMergesChanges: true)
        let authors = try sides.authors(context)
        try sides.rename(authors[0].objectID, "Carl")
        context.processPendingChanges()
        #expect(authors.map(\.name) == ["Carl", "Bob"])
        try sides.rename(authors[1].objectID, "Dora")
        context.processPendingChanges()
        #expect(authors.map(\.name) == ["Carl", "Dora"])
    }

    @Test("Without commits of others, a second context gets the rows that another one has")
    func shared() throws {
        let sides = try Sides(.asInFile)
        let held = try sides.authors(sides.here.newContext())
        let count = Guarded(0)
        let observation = sides.here.store.observeStatements { _ in count.withLock { $0 += 1 } }
        #expect(try sides.here.newContext().existingObject(Author.self, with: held[0].objectID).name == "Ann")
        #expect(count.withLock(\.self) == 0)
        withExtendedLifetime((held, observation)) {}
    }
}
