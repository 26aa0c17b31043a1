import Foundation
import Strata

/// A city before it is an object.
struct CityData {
    let cityId: String
    let name: String
    let latitude: Double
    let longitude: Double
    let population: Int64
    let timezone: String
    let updatedAt: Date
    let country: Int
}

/// Places that are made up, the same at every run: like real ones in the length of their texts, and in an order that has
/// nothing to do with any attribute.
struct DataSet {
    static let countryCount = 252
    let count: Int

    /// Different for every position up to ten millions, which a prime sees to.
    func cityId(at position: Int) -> String { String(1_000_000 + position * 611_953 % 9_999_991) }

    func city(at position: Int) -> CityData {
        let mixed = Self.mix(position)
        return CityData(
            cityId: cityId(at: position), name: Self.name(mixed), latitude: Double(mixed % 180_000) / 1000 - 90,
            longitude: Double(mixed / 7 % 360_000) / 1000 - 180, population: Int64(1_000 + mixed / 11 % 500_000),
            timezone: Self.timezones[mixed / 13 % Self.timezones.count],
            updatedAt: Date(timeIntervalSinceReferenceDate: Double(mixed / 17 % 800_000_000)),
            country: mixed / 19 % Self.countryCount)
    }

    /// Positions of up to some number of different cities, far from any order.
    func scattered(_ limit: Int) -> [Int] { (0..<min(limit, count)).map { $0 * 611_953 % count } }

    static func countryCode(_ number: Int) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        return String([letters[number / 26], letters[number % 26]])
    }

    /// The tags of the city at a position: none to four of a hundred.
    static func tags(ofCityAt position: Int) -> [Int] {
        let mixed = mix(position) >> 3
        return (0..<(mixed % 5)).map { (mixed + $0 * 7) % 100 }
    }

    private static let timezones = [
        "Asia/Tokyo", "America/Argentina/Buenos_Aires", "Europe/Rome", "Africa/Lagos", "America/Lima",
    ]
    private static let syllables = ["ba", "ni", "sólo", "kar", "ta", "mün", "ville", "ro", "san ", "ke", "po", "lis"]
    private static let initials = ["B", "C", "N", "H", "D", "R", "W", "F", "O", "I"]
    static var prefixes: [String] { initials }

    private static func name(_ mixed: Int) -> String {
        var name = initials[mixed % initials.count]
        var rest = mixed / 23
        for _ in 0..<(2 + mixed / 29 % 3) {
            name += syllables[rest % syllables.count]
            rest /= syllables.count
        }
        return name
    }

    /// The finalizer of SplitMix64 (Sebastiano Vigna, public domain, https://prng.di.unimi.it/splitmix64.c), without its
    /// highest bits.
    static func mix(_ number: Int) -> Int {
        var z = UInt64(bitPattern: Int64(number)) &* 0x9e37_79b9_7f4a_7c15
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int((z ^ (z >> 31)) >> 8)
    }
}
