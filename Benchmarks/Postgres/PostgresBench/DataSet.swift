/// A city as data.
struct Place {
    let cityId: String
    let name: String
    let latitude: Double
    let longitude: Double
    let population: Int64
    let timezone: String
    /// Seconds since 2001-01-01 00:00 UTC.
    let updated: Int64
    /// The position of its country.
    let country: Int
}

/// Made-up cities, the same in each run; `contenders.py` makes the same ones.
struct DataSet {
    static let countryCount = 250
    private static let timezones = [
        "Africa/Lagos", "America/Lima", "Asia/Tokyo", "Australia/Perth", "Europe/Paris", "Europe/Rome", "Pacific/Apia",
        "UTC",
    ]

    let cities: [Place]

    init(count: Int) {
        cities = (0..<count).map { i in
            Place(
                cityId: "c\(i)", name: "Town \(i * 7_919 % count)", latitude: Double(i * 7_919 % 180_000) / 1_000 - 90,
                longitude: Double(i * 104_729 % 360_000) / 1_000 - 180, population: Int64(i * 611_953 % 1_000_000),
                timezone: Self.timezones[i % 8], updated: Int64(i * 37 % 600_000_000),
                country: i * 31 % Self.countryCount)
        }
    }

    static func countryCode(_ index: Int) -> String { "C\(index)" }

    /// Up to 10,000 cities, far from each other.
    var scattered: [Place] {
        (0..<min(10_000, cities.count)).map { cities[$0 * 611_953 % cities.count] }
    }

    /// Depends on all values of a city.
    static func whole(
        _ idLength: Int, _ nameLength: Int, _ timezoneLength: Int, _ codeLength: Int, _ latitude: Double,
        _ longitude: Double,
        _ population: Int64, _ updated: Double
    ) -> Int64 {
        Int64(idLength + nameLength + timezoneLength + codeLength) + Int64((latitude * 1_000).rounded())
            + Int64((longitude * 1_000).rounded()) + population + Int64(updated)
    }
}
