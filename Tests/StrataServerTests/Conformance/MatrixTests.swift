#if Server
    import Foundation
    import PlainJSONStore
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
            var reports = [
                await suite.run(SQLiteFileSubject()), await suite.run(SQLiteMemorySubject()),
                await suite.run(PlainJSONSubject()), await suite.run(stackMob),
            ]
            await stackMob.stop()
            for client in DialectStores.Client.allCases {
                let stores = DialectStores(client)
                reports.append(await suite.run(stores))
                await stores.stop()
            }
            for report in reports { #expect(report.failures.isEmpty, "\(report)") }
            let matrix = CapabilityMatrix(reports).description
            print(matrix)
            let page = try String(
                contentsOf: Self.root.appending(path: "Documentation/Stores.md"), encoding: .utf8)
            #expect(
                page.contains(matrix + "\n"), "the table of Documentation/Stores.md is another one:\n\(matrix)")
        }
    }
#endif
