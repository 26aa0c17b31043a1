import Foundation
import StrataTesting
import Testing

/// The dialect of the guide "Write a store for your back end", with the service that it speaks to.
@Suite struct WriteAStoreRunTests {
    @Test func dialectHoldsToItsLaws() throws {
        #expect(try WriteAStoreGuideTests.dialect() == [])
    }

    @Test func backEndHoldsToItsLaws() async {
        let failures = await WriteAStoreGuideTests.backEnd()
        #expect(failures.isEmpty, "\(failures.map { "\n\($0)" }.joined())")
    }

    @Test func storeConforms() async {
        let report = await WriteAStoreGuideTests.store()
        #expect(report.failures.isEmpty, "\(report)")
    }

    @MainActor @Test func anAppSavesAndFetches() async throws {
        let folder = try TestFolder()
        let titles = try await WriteAStoreGuideTests.firstSteps(path: folder.path, transport: ShelfServer())
        #expect(titles == ["Call Ann"])
    }

    @Test func requestsArePrinted() throws {
        #expect(try WriteAStoreGuideTests.requests() == ["GET /Todo"])
    }

    @Test(
        "Conditions become those of the service, with the same answer where a value is missing",
        arguments: [
            ("title == 'Call \"Ann\"'", "title eq \"Call \\\"Ann\\\"\""), ("3 > rank", "rank lt 3"),
            ("rank != 3", "(rank ne 3 or rank is null)"), ("NOT rank != 3", "rank eq 3"),
            ("NOT rank < 3", "(rank ge 3 or rank is null)"), ("rank == nil", "rank is null"),
            ("NOT rank == nil", "rank is not null"),
            (
                "NOT (title == 'a' OR (rank > 1 AND rank <= 5))",
                "((title ne \"a\" or title is null) and ((rank le 1 or rank is null) or (rank gt 5 or rank is null)))"
            ),
        ])
    func conditions(format: String, text: String) throws {
        let model = try ManagedObjectModel(name: "Notes") {
            Entity("Note") {
                Attribute("noteId", .string)
                Attribute("title", .string, optional: true)
                Attribute("rank", .integer64, optional: true)
            }
        }
        let conditions = Conditions(entity: try #require(model.entity(named: "Note")))
        #expect(try conditions.text(try FetchPredicate(format: format)) == text)
        for other in ["title ==[c] 'a'", "rank + 1 == 2", "title BEGINSWITH 'a'", "rank < nil"] {
            #expect(throws: RemoteError.self) { try conditions.text(try FetchPredicate(format: other)) }
        }
    }
}
