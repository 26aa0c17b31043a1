import Foundation
import Strata

/// The whole run: import, check, walk, list, search, edit, roll back, deny, child context, migrate.
///
/// Everything happens on the main actor, because the program has nothing else to do meanwhile; an application with a
/// user interface would import in a background context.
@MainActor
final class Tour {
    let data: GeoNamesData
    let store: any TourStore
    let options: TourOptions
    let printer: StepPrinter
    let country: CountryRecord
    let log = StatementLog()
    private var opened: PersistentContainer?

    /// Prepares a run. Nothing is written yet.
    /// - Throws: ``GazetteerError`` if the country is unknown or has nothing to show.
    init(data: GeoNamesData, store: any TourStore, options: TourOptions, terminal: Terminal) throws(GazetteerError) {
        self.data = data
        self.store = store
        self.options = options
        printer = StepPrinter(terminal: terminal, log: log, fullSQL: options.fullSQL)
        let country = try CountryFinder(countries: data.countries).find(options.country)
        guard data.cities.contains(where: { $0.country == country.iso }) else { throw .noCities(country: country.name) }
        self.country = country
    }

    /// Runs all steps. The store must not exist yet.
    func run() async throws {
        try importEverything()
        try openAgain()
        try checkFigures()
        try walkTheWorld()
        try listLargestCities()
        try searchInPages()
        try saveAnEdit()
        try rollBack()
        try denyACascade()
        try discardAChild()
        try await migrate()
        let totals = printer.totals
        printer.terminal.line(
            "Done: \(Figures.counted(totals.steps, "step")), \(Figures.counted(totals.statements, "statement")), "
                + "and \(Figures.bytes(store.size)) in \(store.name).")
    }

    /// The container that the steps work on.
    var container: PersistentContainer {
        guard let opened else { fatalError("the tour opens its store before it uses it") }
        return opened
    }

    /// The context that the steps work in.
    var context: ManagedObjectContext { container.viewContext }

    /// Opens the store, with the log of statements attached.
    func open() throws(PersistenceError) {
        opened = try store.open { [log] in log.record(sql: $0.sql, seconds: $0.duration, rows: $0.rows) }
    }

    /// Closes the store.
    func close() {
        opened?.close()
        opened = nil
    }

    /// The country that the user chose, as an object of a context.
    func chosenCountry(in context: ManagedObjectContext) throws -> Country {
        guard
            let object = try context.fetchFirst(FetchRequest<Country>(where: Country.keys.countryId == country.iso))
        else { throw GazetteerError.unexpected("\(country.name) is not in the store") }
        return object
    }
}
