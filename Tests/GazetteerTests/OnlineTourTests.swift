#if Server
    import Foundation
    import Testing

    @testable import Gazetteer

    @Suite("The tour with a server")
    @MainActor
    struct OnlineTourTests {
        @Test(
            "Two stores and a server are equal in the end",
            arguments: [("Monaco", .stackmob)] + OnlineDialect.allCases.map { ("Peru", $0) })
        func bothComeBack(_ name: String, dialect: OnlineDialect) async throws {
            let data = try GeoNamesData(folder: DataFolder.find(asked: nil))
            let country = try CountryFinder(countries: data.countries).find(name)
            let screen = Screen()
            let log = StatementLog()
            let printer = StepPrinter(terminal: screen.terminal(width: 120), log: log, fullSQL: false)
            try await OnlineTour(data: data, country: country, dialect: dialect, printer: printer, log: log).run()
            let text = screen.out
            #expect(text.contains("✓ Nothing of Ana's is lost"))
            // Where a write names no version, both sides' changes of an object are compared by their times.
            if dialect != .parse, dialect != .datasync {
                #expect(text.contains("met another: the server's note wins."))
                #expect(text.contains("“Ana: "))
            }
            #expect(text.contains("✓ Ana, Ben and the server have the same"))
            #expect(text.contains("request"))
            #expect(printer.totals.steps == 5)
        }
    }
#endif
