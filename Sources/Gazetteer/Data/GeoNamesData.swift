import Foundation

/// The GeoNames files, read and checked as a whole: keys are unique, references lead somewhere, and the figures are the
/// manifest's.
struct GeoNamesData: Sendable {
    /// Where the data is from.
    let source: String
    /// What the manifest says.
    let figures: GeoNamesFigures
    /// The continents by code.
    let continents: [ContinentRecord]
    /// The countries by ISO code.
    let countries: [CountryRecord]
    /// The cities by number.
    let cities: [CityRecord]

    /// Reads the four files of a folder.
    /// - Throws: The first thing that is wrong, with file and line.
    init(folder: URL) throws(DataFileError) {
        let manifest = try GeoNamesManifest(at: folder.appendingPathComponent(GeoNamesManifest.file))
        source = manifest.source
        figures = manifest.figures
        continents = try Self.continents(folder)
        countries = try Self.countries(folder, continents: Set(continents.map(\.code)))
        cities = try Self.cities(folder, countries: Set(countries.map(\.iso)))
        try manifest.compare(with: Self.figures(continents, countries, cities))
    }

    /// The objects that an import makes.
    var objectCount: Int { continents.count + countries.count + cities.count }

    private static func figures(
        _ continents: [ContinentRecord], _ countries: [CountryRecord], _ cities: [CityRecord]
    ) -> GeoNamesFigures {
        GeoNamesFigures(
            continents: Int64(continents.count), countries: Int64(countries.count),
            borders: Int64(countries.reduce(0) { $0 + $1.neighbours.count } / 2), cities: Int64(cities.count),
            population: cities.reduce(0) { $0 &+ $1.population })
    }

    private static func continents(_ folder: URL) throws(DataFileError) -> [ContinentRecord] {
        let file = try TabFile(at: folder.appendingPathComponent("continents.tsv"), columns: ["code", "name"])
        var result: [ContinentRecord] = []
        var keys = Set<String>()
        try file.forEachRecord { record throws(DataFileError) in
            try insert(record, into: &keys)
            result.append(ContinentRecord(code: record.text(0), name: try record.requiredText(1)))
        }
        return result
    }

    private static func countries(
        _ folder: URL, continents: Set<String>
    ) throws(DataFileError) -> [CountryRecord] {
        let file = try TabFile(
            at: folder.appendingPathComponent("countries.tsv"),
            columns: [
                "iso", "name", "capital", "area_km2", "population", "continent", "currency_code", "currency_name",
                "phone",
                "languages", "neighbours",
            ])
        var result: [CountryRecord] = []
        var lines: [TabRecord] = []
        var keys = Set<String>()
        try file.forEachRecord { record throws(DataFileError) in
            try insert(record, into: &keys)
            guard continents.contains(record.text(5)) else { throw record.unknown(5, record.text(5)) }
            result.append(
                CountryRecord(
                    iso: record.text(0), name: try record.requiredText(1), capital: record.optionalText(2),
                    areaSquareKilometres: try record.count(3), population: try record.count(4),
                    continent: record.text(5),
                    currencyCode: record.optionalText(6), currencyName: record.optionalText(7),
                    phone: record.optionalText(8),
                    languages: record.list(9), neighbours: record.list(10)))
            lines.append(record)
        }
        try checkBorders(of: result, lines)
        return result
    }

    /// A neighbour may stand further down in the file, so that this is checked when all countries are known.
    private static func checkBorders(of countries: [CountryRecord], _ lines: [TabRecord]) throws(DataFileError) {
        let neighbours = Dictionary(uniqueKeysWithValues: countries.map { ($0.iso, Set($0.neighbours)) })
        for (country, line) in zip(countries, lines) {
            for other in country.neighbours {
                guard let back = neighbours[other] else { throw line.unknown(10, other) }
                if !back.contains(country.iso) {
                    throw line.fault(10, "\(other) does not name \(country.iso) in return")
                }
            }
        }
    }

    private static func cities(_ folder: URL, countries: Set<String>) throws(DataFileError) -> [CityRecord] {
        let file = try TabFile(
            at: folder.appendingPathComponent("cities.tsv"),
            columns: [
                "id", "name", "country", "admin1", "latitude", "longitude", "population", "time_zone",
                "alternate_names",
            ])
        var result: [CityRecord] = []
        var keys = Set<String>()
        try file.forEachRecord { record throws(DataFileError) in
            try insert(record, into: &keys)
            guard countries.contains(record.text(2)) else { throw record.unknown(2, record.text(2)) }
            result.append(
                CityRecord(
                    id: record.text(0), name: try record.requiredText(1), country: record.text(2),
                    admin1: record.optionalText(3), latitude: try record.degrees(4, upTo: 90),
                    longitude: try record.degrees(5, upTo: 180), population: try record.count(6),
                    timeZone: try record.requiredText(7), alternateNames: record.list(8)))
        }
        return result
    }

    /// Notes the key of a record, which is in the first column of all files.
    private static func insert(_ record: TabRecord, into keys: inout Set<String>) throws(DataFileError) {
        let key = try record.requiredText(0)
        guard keys.insert(key).inserted else {
            throw .duplicate(file: record.file, line: record.line, column: record.columns[0], value: key)
        }
    }
}
