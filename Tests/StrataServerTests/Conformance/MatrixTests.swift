#if Server
    import Foundation
    import PlainJSONStore
    import PostgresFixture
    import StrataTesting
    import Testing

    /// All kinds of stores side by side.
    struct MatrixTests {
        private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()

        @Test("Every kind of store passes the conformance suite, and the page about stores says what each supports")
        func matrix() async throws {
            let stackMob = StackMobSubject()
            let suite = ConformanceSuite.standard
            var reports = [await suite.run(SQLiteFileSubject()), await suite.run(SQLiteMemorySubject())]
            #if Postgres
                let hasPostgres = PostgresServer.isAvailable
                if hasPostgres { reports.append(await suite.run(PostgresSubject())) }
            #else
                let hasPostgres = false
            #endif
            reports.append(await suite.run(PlainJSONSubject()))
            reports.append(await suite.run(stackMob))
            await stackMob.stop()
            for client in DialectStores.Client.allCases {
                let stores = DialectStores(client)
                reports.append(await suite.run(stores))
                await stores.stop()
            }
            for report in reports { #expect(report.failures.isEmpty, "\(report)") }
            let matrix = CapabilityMatrix(reports).description
            print(matrix)
            var page = try String(
                contentsOf: Self.root.appending(path: "Documentation/Stores.md"), encoding: .utf8)
            if !hasPostgres { page = Self.withoutColumn(3, of: page) }
            #expect(
                page.contains(matrix + "\n"), "the table of Documentation/Stores.md is another one:\n\(matrix)")
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
