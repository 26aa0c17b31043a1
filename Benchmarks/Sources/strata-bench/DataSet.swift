import Foundation

/// A city as the source has it.
struct CityData {
    var cityId: String
    var name: String
    var latitude: Double
    var longitude: Double
    var population: Int64
    var timezone: String
    /// Seconds since 2001-01-01.
    var updated: Double
    var country: String
}

struct CountryData {
    var code: String
    var name: String
    var population: Int64
}

/// The cities and countries that all contenders work on: the same ones in the same order.
struct DataSet {
    let countries: [CountryData]
    let cities: [CityData]

    /// Reads what `fetch-data.py` wrote.
    /// - Parameter count: How many cities. Fewer than there are come evenly from the whole file, more are repeated with
    ///   a suffix.
    init(folder: URL, count: Int) throws {
        countries = try Self.lines(folder.appending(path: "countries.tsv")).map {
            CountryData(code: $0[0], name: $0[1], population: try Self.number($0[2]))
        }
        let lines = try Self.splitLines(folder.appending(path: "cities.tsv"))
        cities = try (0..<count).map { index in
            let position = count <= lines.count ? index * lines.count / count : index % lines.count
            let field = lines[position].split(separator: UInt8(ascii: "\t")).map { String(decoding: $0, as: UTF8.self) }
            guard field.count == 8 else { throw BenchError("cities.tsv, line \(position + 1): \(field.count) fields") }
            var city = CityData(
                cityId: field[0], name: field[1], latitude: try Self.number(field[2]),
                longitude: try Self.number(field[3]),
                population: try Self.number(field[4]), timezone: field[5], updated: try Self.number(field[6]),
                country: field[7])
            if index >= lines.count {
                city.cityId += "-\(index / lines.count)"
                city.name += " \(index / lines.count)"
            }
            return city
        }
    }

    /// Positions of 10,000 different cities (or of all, if there are fewer), far from any order.
    var scattered: [Int] {
        // A prime that divides none of the sizes visits each position once.
        (0..<min(10_000, cities.count)).map { $0 * 611_953 % cities.count }
    }

    /// Every fifth country, 50 in all.
    var deletedCountries: [String] { (0..<50).map { countries[$0 * 5].code } }

    /// The tags of the city at a position: none to four of a hundred.
    static func tags(ofCityAt position: Int) -> [Int64] {
        let mixed = (position &* 2_654_435_761) >> 7
        return (0..<(mixed % 5)).map { Int64((mixed + $0 * 7) % 100) }
    }

    /// Beginnings of names for which a comparison with and without regard to case gives the same in the data: SQL's
    /// LIKE ignores ASCII case.
    static let prefixes = ["B", "C", "N", "H", "D", "R", "W", "F", "O", "I"]

    /// The pages of workload W5: a prefix and an offset each.
    static let pages: [(prefix: String, offset: Int)] = (0..<200).map { (prefixes[$0 % 10], $0 / 10 % 4 * 25) }

    /// The boxes of workload W10, one degree to each side of 20 cities.
    var boxes: [Box] {
        (0..<20).map {
            let city = cities[($0 * 611_953 + 17) % cities.count]
            return Box(latitude: city.latitude, longitude: city.longitude)
        }
    }

    private static func splitLines(_ url: URL) throws -> [ArraySlice<UInt8>] {
        guard let data = try? Data(contentsOf: url) else {
            throw BenchError("\(url.lastPathComponent) is missing; run Benchmarks/fetch-data.py first")
        }
        return [UInt8](data).split(separator: UInt8(ascii: "\n"))
    }

    private static func lines(_ url: URL) throws -> [[String]] {
        try splitLines(url).map { $0.split(separator: UInt8(ascii: "\t")).map { String(decoding: $0, as: UTF8.self) } }
    }

    private static func number<T: LosslessStringConvertible>(_ text: String) throws -> T {
        guard let value = T(text) else { throw BenchError("not a number in the data: \(text)") }
        return value
    }
}

/// A box of two degrees by two around a point.
struct Box {
    let latitude: Double
    let longitude: Double
    var south: Double { latitude - 1 }
    var north: Double { latitude + 1 }
    var west: Double { longitude - 1 }
    var east: Double { longitude + 1 }

    /// Whether a point is within 100 km of the middle, by the haversine formula on a sphere of 6,371 km.
    func isNear(_ latitude: Double, _ longitude: Double) -> Bool {
        let radians = Double.pi / 180
        let a = sin((latitude - self.latitude) * radians / 2)
        let b = sin((longitude - self.longitude) * radians / 2)
        let h = a * a + cos(latitude * radians) * cos(self.latitude * radians) * b * b
        return 2 * 6_371 * asin(min(1, h.squareRoot())) <= 100
    }
}

/// Something that keeps the benchmark from measuring.
struct BenchError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
