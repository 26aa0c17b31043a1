import Foundation
import Strata
import Testing

/// The context of the main actor after its container is released.
@Suite(.timeLimit(.minutes(10))) struct ViewContextTests {
    private let byTitle = FetchRequest<Book>(sortedBy: [FetchSort("title")])

    @Test("A live result of the view context follows others on the same file after its container is released")
    @MainActor func withoutContainer() async throws {
        let file = try LibraryFile()
        weak var container: PersistentContainer?
        let results: FetchedResults<Book>
        do {
            let stranger = try file.stranger()
            container = stranger
            results = try stranger.viewContext.live(byTitle)
        }
        #expect(container == nil)
        for title in ["a", "b"] {
            try await file.container.write { context in _ = Book(context, title: title) }
            while results.last?.title != title { try await Task.sleep(for: .milliseconds(5)) }
        }
        #expect(results.map(\.title) == ["a", "b"])
    }

    @Test("Edits in the view context reach its live results after the container is released")
    @MainActor func edits() async throws {
        let file = try LibraryFile()
        let results = try file.stranger().viewContext.live(byTitle)
        _ = Book(results.context, title: "a")
        while results.isEmpty { await Task.yield() }
        #expect(results.map(\.title) == ["a"])
    }
}
