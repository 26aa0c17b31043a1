import Strata

extension Tour {
    /// Goes through all countries and all their cities. The cities of all countries come in one statement when those of
    /// the first are asked for.
    func walkTheWorld() throws {
        let allowed = 3
        let title = "Walk all countries and their cities after one fetch"
        let taken = try printer.step(title) {
            let countries = try context.fetch(FetchRequest<Country>(sortedBy: [Country.keys.name.ascending]))
            let visits = countries.map { country in
                let cities = country.cities
                return Visit(
                    country: country.name, cities: cities.count, people: cities.reduce(0) { $0 + $1.population },
                    largest: cities.max { ($0.population, $1.name) < ($1.population, $0.name) }?.name ?? "–")
            }
            var table = Table(.text("Country"), .number("Cities"), .number("People in them"), .text("Largest"))
            for visit in visits.sorted(by: { $0.people > $1.people }).prefix(8) {
                table.add(visit.country, Figures.grouped(visit.cities), Figures.grouped(visit.people), visit.largest)
            }
            printer.show(table)
            printer.say(
                "… the eight with most people in cities, of \(Figures.counted(visits.count, "country", "countries")) "
                    + "with \(Figures.counted(visits.reduce(0) { $0 + $1.cities }, "city", "cities"))")
        }
        guard taken <= allowed else {
            throw GazetteerError.tooManyStatements(step: "the walk", allowed: allowed, taken: taken)
        }
    }

    /// Lists the largest cities of the chosen country, through the relationship.
    func listLargestCities() throws {
        try printer.step("The largest cities of \(country.name), through country.cities") {
            let country = try chosenCountry(in: context)
            let cities = country.cities.sorted { ($1.population, $0.name) < ($0.population, $1.name) }
            var table = Table(
                .number(""), .text("City"), .number("People"), .text("Time zone"), .number("Names"),
                .text("Another name"))
            for (rank, city) in cities.prefix(options.top).enumerated() {
                table.add(
                    "\(rank + 1)", city.name, Figures.grouped(city.population), city.timeZone,
                    "\(city.alternateNames.count)", Self.farName(of: city))
            }
            printer.show(table)
            let neighbours = country.neighbours.map(\.name).sorted()
            let borders = neighbours.isEmpty ? "no other country" : neighbours.joined(separator: ", ")
            printer.say("\(country.name) borders on \(borders).")
        }
    }

    /// Searches names of cities and shows the first pages.
    func searchInPages() throws {
        try printer.step("Search for “\(options.search)” in the names of cities, page by page") {
            let condition = City.keys.name.contains(options.search, [.caseInsensitive, .diacriticInsensitive])
            let hits = try context.count(FetchRequest<City>(where: condition))
            let pages = (hits + options.pageSize - 1) / options.pageSize
            printer.say("\(Figures.counted(hits, "city", "cities")) on \(Figures.counted(pages, "page")).")
            var table = Table(.number("Page"), .text("City"), .text("Country"), .number("People"), .text("Position"))
            for page in 0..<min(pages, options.pages) {
                let request = FetchRequest<City>(
                    where: condition, sortedBy: [City.keys.population.descending, City.keys.name.ascending],
                    limit: options.pageSize, offset: page * options.pageSize)
                for (row, city) in try context.fetch(request).enumerated() {
                    table.add(
                        row == 0 ? "\(page + 1)" : "", city.name, city.country.name, Figures.grouped(city.population),
                        Self.degrees(city.position))
                }
            }
            if hits > 0 { printer.show(table) }
        }
    }

    /// What the walk notes of a country.
    private struct Visit {
        let country: String
        let cities: Int
        let people: Int64
        let largest: String
    }

    /// One of the other names, if possible in another script: the last one, since the data sorts Latin letters first.
    private static func farName(of city: City) -> String { city.alternateNames.last ?? "" }

    private static func degrees(_ point: GeoPoint) -> String {
        func text(_ value: Double, _ letters: (String, String)) -> String {
            "\(Figures.fixed(value.magnitude, 2))° \(value < 0 ? letters.1 : letters.0)"
        }
        return "\(text(point.latitude, ("N", "S"))) \(text(point.longitude, ("E", "W")))"
    }
}
