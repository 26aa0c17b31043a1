import Foundation
import StrataTesting
import Testing

/// The dialect of the guide "Write a store for your back end", with the service that it speaks to.
@Suite struct WriteAStoreRunTests {
    @Test func dialectHoldsToItsLaws() throws {
        #expect(DialectSuite.run(try WriteAStoreGuideTests.subject()) == [])
    }

    @Test(arguments: BackendSuite.Law.allCases)
    func backEndHoldsToItsLaws(law: BackendSuite.Law) async {
        let failures = await BackendSuite.run(ShelfServers(), laws: [law])
        #expect(failures.isEmpty, "\(failures.map { "\n\($0)" }.joined())")
    }

    @Test func storeConforms() async {
        let report = await ConformanceSuite.standard.run(ShelfStores())
        #expect(report.failures.isEmpty, "\(report)")
    }

    @Test func anAppSavesAndFetches() async throws {
        let folder = try TestFolder()
        let titles = try await WriteAStoreGuideTests.firstSteps(path: folder.path, transport: ShelfServer())
        #expect(titles == ["Call Ann"])
    }

    @Test func requestsArePrinted() throws {
        #expect(try WriteAStoreGuideTests.requests() == ["GET /Todo"])
    }
}
