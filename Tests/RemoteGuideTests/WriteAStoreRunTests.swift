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
}
