import Strata

/// Makes managed objects of the records and saves them.
struct Importer {
    /// How many cities are saved together. Larger saves are hardly faster, and smaller ones show more of what is going
    /// on.
    static let batchSize = 2_000

    /// The records.
    let data: GeoNamesData

    /// Inserts everything.
    /// - Parameters:
    ///   - context: Where the objects are made; it is saved several times.
    ///   - progress: Called with the number of objects that have been made.
    func run(in context: ManagedObjectContext, progress: (Int) -> Void) throws(PersistenceError) {
        let continents = insertContinents(context)
        let countries = insertCountries(context, continents)
        try context.save()
        var done = continents.count + countries.count
        progress(done)
        for start in stride(from: 0, to: data.cities.count, by: Self.batchSize) {
            let batch = data.cities[start..<min(start + Self.batchSize, data.cities.count)]
            for record in batch {
                insert(record, context, countries)
                done += 1
                progress(done)
            }
            try context.save()
        }
    }

    private func insertContinents(_ context: ManagedObjectContext) -> [String: Continent] {
        var result: [String: Continent] = [:]
        for record in data.continents {
            result[record.code] = Continent(context: context, continentId: record.code, name: record.name)
        }
        return result
    }

    private func insertCountries(
        _ context: ManagedObjectContext, _ continents: [String: Continent]
    ) -> [String: Country] {
        var result: [String: Country] = [:]
        for record in data.countries {
            guard let continent = continents[record.continent] else { continue }
            result[record.iso] = Country(
                context: context, countryId: record.iso, name: record.name, capital: record.capital,
                areaSquareKilometres: record.areaSquareKilometres, population: record.population,
                currencyCode: record.currencyCode, currencyName: record.currencyName, phone: record.phone,
                languages: record.languages, continent: continent)
        }
        // A border is one fact about two countries: naming it from one side is enough.
        for record in data.countries {
            let neighbours = record.neighbours.filter { record.iso < $0 }.compactMap { result[$0] }
            result[record.iso]?.addToNeighbours(neighbours)
        }
        return result
    }

    private func insert(_ record: CityRecord, _ context: ManagedObjectContext, _ countries: [String: Country]) {
        // The reader has checked that every city names a country of the data.
        guard let country = countries[record.country] else { return }
        _ = City(
            context: context, cityId: record.id, name: record.name, admin1: record.admin1,
            position: GeoPoint(latitude: record.latitude, longitude: record.longitude), population: record.population,
            timeZone: record.timeZone, alternateNames: record.alternateNames, country: country)
    }
}
