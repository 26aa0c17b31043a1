import Strata

extension Tour {
    /// Makes the store and fills it.
    func importEverything() throws {
        try printer.step("Import \(data.source)") {
            try open()
            var bar = ProgressBar("Importing", total: data.objectCount, terminal: printer.terminal)
            defer { bar.finish() }
            try Importer(data: data).run(in: container.newContext()) { bar.update($0) }
            bar.finish()
            printer.say(
                "\(Figures.counted(data.continents.count, "continent")), "
                    + "\(Figures.counted(data.countries.count, "country", "countries")) and "
                    + "\(Figures.counted(data.cities.count, "city", "cities")) became managed objects.")
        }
    }

    /// Closes the store and opens it again, so that all further steps start from the store and not from what the import
    /// left in memory.
    func openAgain() throws {
        try printer.step("Close the store and open it again") {
            close()
            try open()
            printer.say("\(store.name) has \(Figures.bytes(store.size)).")
        }
    }

    /// Compares what the store holds with what the source says.
    func checkFigures() throws {
        var wrong: [String] = []
        try printer.step("Check the store against the source") {
            let found = try figures()
            var table = Table(.text("Figure"), .number("Source"), .number("Store"), .text(""))
            let rows: [(String, KeyPath<GeoNamesFigures, Int64>)] = [
                ("Continents", \.continents), ("Countries", \.countries), ("Borders", \.borders), ("Cities", \.cities),
                ("People in cities", \.population),
            ]
            for (name, path) in rows {
                let (expected, actual) = (data.figures[keyPath: path], found[keyPath: path])
                table.add(name, Figures.grouped(expected), Figures.grouped(actual), expected == actual ? "✓" : "✗")
                if expected != actual { wrong.append(name) }
            }
            printer.show(table)
        }
        guard wrong.isEmpty else { throw GazetteerError.wrongFigures(wrong) }
    }

    /// Counts and adds up in a context of its own, so that the walk that follows finds nothing in memory.
    private func figures() throws(PersistenceError) -> GeoNamesFigures {
        let context = container.newContext()
        let cities = try context.fetch(FetchRequest<City>())
        let countries = try context.fetch(FetchRequest<Country>())
        return GeoNamesFigures(
            continents: Int64(try context.count(FetchRequest<Continent>())),
            countries: Int64(try context.count(FetchRequest<Country>())),
            borders: Int64(countries.reduce(0) { $0 + $1.neighbours.count } / 2),
            cities: Int64(try context.count(FetchRequest<City>())),
            population: cities.reduce(0) { $0 + $1.population })
    }
}
