/// A continent, as the data has it.
struct ContinentRecord: Sendable, Hashable {
    /// Two letters, for instance `SA`.
    let code: String
    /// The English name.
    let name: String
}

/// A country or a territory with an ISO 3166 code, as the data has it.
struct CountryRecord: Sendable, Hashable {
    /// The ISO 3166-1 code of two letters.
    let iso: String
    /// The English name.
    let name: String
    /// The name of the capital; nil where there is none.
    let capital: String?
    /// The area in square kilometres.
    let areaSquareKilometres: Int64
    /// How many people live there.
    let population: Int64
    /// The code of the continent.
    let continent: String
    /// The ISO 4217 code of the currency.
    let currencyCode: String?
    /// The name of the currency.
    let currencyName: String?
    /// The international dialling prefix.
    let phone: String?
    /// The codes of the languages, the most spoken first.
    let languages: [String]
    /// The ISO codes of the countries that share a border.
    let neighbours: [String]
}

/// A city, as the data has it.
struct CityRecord: Sendable, Hashable {
    /// The number that GeoNames gave it.
    let id: String
    /// The usual name.
    let name: String
    /// The ISO code of the country.
    let country: String
    /// The code of the first-level division within the country; nil where there is none.
    let admin1: String?
    /// Degrees north.
    let latitude: Double
    /// Degrees east.
    let longitude: Double
    /// How many people live there.
    let population: Int64
    /// The name of the time zone, for instance `America/Lima`.
    let timeZone: String
    /// Other names, in many languages and scripts.
    let alternateNames: [String]
}

/// What the data should hold, by the source that it was made from.
struct GeoNamesFigures: Sendable, Hashable {
    /// The number of continents.
    var continents: Int64 = 0
    /// The number of countries.
    var countries: Int64 = 0
    /// The number of pairs of countries that share a border.
    var borders: Int64 = 0
    /// The number of cities.
    var cities: Int64 = 0
    /// The people of all cities.
    var population: Int64 = 0
}
