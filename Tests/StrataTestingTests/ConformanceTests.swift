import Foundation
import StrataTesting
import Testing

/// Strata's own stores meet the kit's checks; the other tests show that the checks see what is wrong.
@Suite struct ConformanceTests {
    @Test("A SQLite store in a file passes every check")
    func sqliteFile() async {
        let report = await ConformanceSuite.standard.run(SQLiteFileSubject())
        #expect(report.failures.isEmpty, "\(report)")
        #expect(report.results.allSatisfy { $0.outcome == .passed }, "\(report)")
    }

    @Test func sqliteInMemory() async {
        let report = await ConformanceSuite.standard.run(SQLiteMemorySubject())
        #expect(report.failures.isEmpty, "\(report)")
        // Only memory does not persist; everything else must have been tried.
        for result in report.results where result.outcome != .passed {
            #expect(result.outcome == .omitted([.persistence]), "\(result.check.name)")
        }
    }

    @Test("No two checks of an area have one name")
    func names() {
        let names = ConformanceSuite.standard.checks.map { "\($0.area.rawValue): \($0.name)" }
        #expect(Set(names).count == names.count)
    }

    @Test("The matrix shows what a store leaves out")
    func matrix() async {
        struct Little: ConformanceSubject {
            let name = "Little"
            let omissions = Set(ConformanceFeature.allCases)
            func open(_ model: ManagedObjectModel, at place: URL) async throws -> any PersistentStore {
                try SQLiteStore.open(model: model, location: .memory(name: nil))
            }
        }
        let report = await ConformanceSuite.standard.run(Little())
        #expect(report.failures.isEmpty, "\(report)")
        let text = CapabilityMatrix([report]).description
        #expect(text.contains("| | Little |"), "\(text)")
        #expect(text.contains("| many-to-many | – |"), "\(text)")
        #expect(text.contains("| order and pages | 12 |"), "\(text)")
    }
}
