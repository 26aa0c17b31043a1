import Foundation
import GRDB

/// What both kinds of GRDB records have in common.
protocol CityRecord: FetchableRecord, PersistableRecord {
    init(_ data: CityData)
    var cityId: String { get }
    var name: String { get }
    var latitude: Double { get }
    var longitude: Double { get }
    var population: Int64 { get set }
    var timezone: String { get }
    var updatedAt: Date { get }
    var countryCode: String? { get }
}

extension CityRecord {
    /// Depends on every attribute.
    var check: Int64 {
        attributeCheck(
            cityId, name, latitude, longitude, population, timezone, updatedAt.timeIntervalSinceReferenceDate,
            countryCode ?? "")
    }
}

/// Encoded and decoded by hand, columns by position: GRDB at its fastest.
struct HandCity: CityRecord {
    static let databaseTableName = "city"

    var cityId: String
    var name: String
    var latitude: Double
    var longitude: Double
    var population: Int64
    var timezone: String
    var updatedAt: Date
    var countryCode: String?

    init(_ data: CityData) {
        cityId = data.cityId
        name = data.name
        latitude = data.latitude
        longitude = data.longitude
        population = data.population
        timezone = data.timezone
        updatedAt = Date(timeIntervalSinceReferenceDate: data.updated)
        countryCode = data.country
    }

    init(row: Row) {
        cityId = row[0]
        name = row[1]
        latitude = row[2]
        longitude = row[3]
        population = row[4]
        timezone = row[5]
        updatedAt = Date(timeIntervalSinceReferenceDate: row[6])
        countryCode = row[7]
    }

    func encode(to container: inout PersistenceContainer) {
        container["cityId"] = cityId
        container["name"] = name
        container["latitude"] = latitude
        container["longitude"] = longitude
        container["population"] = population
        container["timezone"] = timezone
        container["updatedAt"] = updatedAt.timeIntervalSinceReferenceDate
        container["countryCode"] = countryCode
    }
}

/// Encoded and decoded by Codable, with dates as numbers.
struct CodableCity: CityRecord, Codable {
    static let databaseTableName = "city"
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .timeIntervalSinceReferenceDate
    }
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .timeIntervalSinceReferenceDate
    }

    var cityId: String
    var name: String
    var latitude: Double
    var longitude: Double
    var population: Int64
    var timezone: String
    var updatedAt: Date
    var countryCode: String?

    init(_ data: CityData) {
        cityId = data.cityId
        name = data.name
        latitude = data.latitude
        longitude = data.longitude
        population = data.population
        timezone = data.timezone
        updatedAt = Date(timeIntervalSinceReferenceDate: data.updated)
        countryCode = data.country
    }
}

/// A country with an association for GRDB's own eager loading.
struct CountryRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "country"
    var code: String
    var name: String
    var population: Int64
}

/// A country together with its cities.
struct CountryWithCities<City: CityRecord & Decodable>: Decodable, FetchableRecord {
    var country: CountryRecord
    var cities: [City]
}
