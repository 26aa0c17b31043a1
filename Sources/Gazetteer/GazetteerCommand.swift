import ArgumentParser
import Foundation
import Strata

/// The command line of the example.
struct GazetteerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Gazetteer",
        abstract: "Puts the world's countries and cities into managed objects, and shows what they can do.",
        discussion: """
            One run imports the GeoNames data (7 continents, 252 countries, 34,006 cities) into a SQLite file or a \
            PostgreSQL database, and checks it against the source. Then it walks all countries and their cities, lists the largest cities of \
            a country, pages through a search, saves an edit, rolls one back, lets a delete rule stop a cascade, \
            discards a child context, and migrates a copy to a second version of the model. Each step ends with the SQL statements and the time that it took.

            Colours and the progress bar are for terminals; NO_COLOR=1 turns colours off, and a pipe gets plain \
            text. The width of tables is the terminal's, or COLUMNS.

            EXAMPLES:
              Gazetteer --country Japan --search kawa
              Gazetteer --store /tmp/world.sqlite --top 20 --full-sql
              Gazetteer --store postgres://app@db.example.com/world
              sqlite3 gazetteer.sqlite 'SELECT name, population FROM city ORDER BY 2 DESC LIMIT 5'

            The data is by GeoNames (geonames.org), under the licence CC BY 4.0.
            """
    )

    @Option(
        help: ArgumentHelp(
            "The file to make, or the URL of a PostgreSQL database. A store of an earlier run is replaced, another one is not.",
            valueName: "place"),
        completion: .file(extensions: ["sqlite"]))
    var store = "gazetteer.sqlite"

    @Flag(help: "Replace the file of --store whatever it is. Databases are never replaced.")
    var force = false

    @Option(
        help: ArgumentHelp("The country whose cities are listed: its English name or ISO code.", valueName: "country"))
    var country = TourOptions().country

    @Option(help: ArgumentHelp("How many of its largest cities are listed.", valueName: "count"))
    var top = TourOptions().top

    @Option(
        help: ArgumentHelp("What to search for in names of cities; case and accents do not count.", valueName: "text"))
    var search = TourOptions().search

    @Option(help: ArgumentHelp("How many cities a page of the search has.", valueName: "count"))
    var pageSize = TourOptions().pageSize

    @Option(help: ArgumentHelp("How many pages of the search are shown at most.", valueName: "count"))
    var pages = TourOptions().pages

    @Flag(name: .customLong("full-sql"), help: "Show all statements of each step, in full length.")
    var fullSQL = false

    @Flag(help: "Leave out the steps with a server. A program built without it has none.")
    var offline = false

    @Flag(help: "Do only the steps with a server; --store is not needed then, and stays as it is.")
    var online = false

    #if Server
        @Option(help: "The protocol of the steps with a server.")
        var dialect = OnlineDialect.stackmob
    #endif

    @Option(
        help: ArgumentHelp(
            "The folder with the GeoNames files. The default is the folder next to the program.", valueName: "folder"),
        completion: .directory)
    var data: String?

    func validate() throws {
        for (name, value) in [("--top", top), ("--page-size", pageSize), ("--pages", pages)] where value < 1 {
            throw ValidationError("\(name) must be at least 1, not \(value)")
        }
        if search.isEmpty { throw ValidationError("--search must not be empty") }
        if store.isEmpty { throw ValidationError("--store must not be empty") }
        if online {
            if offline { throw ValidationError("--online and --offline exclude each other") }
            #if !Server
                throw ValidationError("--online needs a program that is built with --traits Server")
            #endif
        }
    }

    /// Runs the tour.
    @MainActor
    func runTour(on terminal: Terminal) async throws {
        let data = try GeoNamesData(folder: DataFolder.find(asked: data))
        let store = try tourStore(at: store)
        let options = TourOptions(
            country: country, search: search, top: top, pageSize: pageSize, pages: pages, fullSQL: fullSQL)
        let tour = try Tour(data: data, store: store, options: options, terminal: terminal)
        if !online {
            try store.removeOld(force: force)
            try await tour.run()
        }
        #if Server
            if !offline {
                if !online { terminal.line() }
                let online = OnlineTour(
                    data: data, country: tour.country, dialect: dialect, printer: tour.printer, log: tour.log)
                try await online.run()
            }
        #endif
    }
}
