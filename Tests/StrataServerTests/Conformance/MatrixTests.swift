#if Server
    import Foundation
    import PlainJSONStore
    import PostgresFixture
    import StrataRemoteTesting
    import Testing

    @testable import StrataTesting

    /// All kinds of stores side by side.
    struct MatrixTests {
        private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()

        @Test("Every kind of store passes the conformance suite, and the page about stores says what each supports")
        func matrix() async throws {
            var kinds: [@Sendable () async -> ConformanceReport] = [
                { await ConformanceSuite.standard.run(SQLiteFileSubject()) },
                { await ConformanceSuite.standard.run(SQLiteMemorySubject()) },
            ]
            #if Postgres
                let hasPostgres = PostgresServer.isAvailable
                if hasPostgres { kinds.append { await ConformanceSuite.standard.run(PostgresSubject()) } }
            #else
                let hasPostgres = false
            #endif
            kinds.append { await ConformanceSuite.standard.run(PlainJSONSubject()) }
            kinds.append {
                let stackMob = StackMobSubject()
                let report = await ConformanceSuite.standard.run(stackMob)
                await stackMob.stop()
                return report
            }
            for client in DialectStores.Client.allCases {
                kinds.append {
                    let stores = DialectStores(client)
                    let report = await ConformanceSuite.standard.run(stores)
                    await stores.stop()
                    return report
                }
            }
            let reports = await Self.run(kinds)
            for report in reports { #expect(report.failures.isEmpty, "\(report)") }
            let matrix = CapabilityMatrix(reports + [try Self.kinto()]).description
            print(matrix)
            var page = try String(
                contentsOf: Self.root.appending(path: "Documentation/Stores.md"), encoding: .utf8)
            if !hasPostgres { page = Self.withoutColumn(3, of: page) }
            #expect(
                page.contains(matrix + "\n"), "the table of Documentation/Stores.md is another one:\n\(matrix)")
        }

        /// The report on the store for Kinto. Its own package runs the checks against a real server, and fails unless all of
        /// them hold but those of the features that it declares to lack.
        private static func kinto() throws -> ConformanceReport {
            let source = try String(
                contentsOf: root.appending(path: "Examples/KintoStore/Tests/KintoStoreTests/ConformanceTests.swift"),
                encoding: .utf8)
            let match = source.firstMatch(of: /omissions: Set<ConformanceFeature> = \[([^\]]*)\]/)
            let list = try #require(match).output.1
            let omissions = try list.split(separator: ",").map { part -> ConformanceFeature in
                let name = part.trimmingCharacters(in: .whitespacesAndNewlines).dropFirst()
                return try #require(ConformanceFeature(rawValue: String(name)), "\(part) is not a feature")
            }
            let results = ConformanceSuite.standard.checks.map { check in
                let missing = check.needs.intersection(omissions)
                return ConformanceReport.Result(
                    check: check, outcome: missing.isEmpty ? .passed : .omitted(missing))
            }
            return ConformanceReport(name: "Kinto", results: results)
        }

        /// Runs all kinds at the same time.
        /// - Returns: Their reports, in the order of the kinds.
        private static func run(_ kinds: [@Sendable () async -> ConformanceReport]) async -> [ConformanceReport] {
            await withTaskGroup(of: (Int, ConformanceReport).self) { group in
                for (number, kind) in kinds.enumerated() { group.addTask { (number, await kind()) } }
                var reports: [Int: ConformanceReport] = [:]
                for await (number, report) in group { reports[number] = report }
                return kinds.indices.compactMap { reports[$0] }
            }
        }

        /// The page with a column of its tables left out: that of a store which cannot be had here.
        private static func withoutColumn(_ column: Int, of page: String) -> String {
            page.split(separator: "\n", omittingEmptySubsequences: false).map { line in
                var cells = line.split(separator: "|", omittingEmptySubsequences: false)
                guard line.hasPrefix("|"), cells.count > 8 else { return String(line) }
                cells.remove(at: column + 1)
                return cells.joined(separator: "|")
            }.joined(separator: "\n")
        }
    }
#endif
