import Foundation
import Strata

/// The examples of Documentation/Predicates.md.
enum PredicatesGuide {
    static func typed(_ context: ManagedObjectContext, print: (Any) -> Void) throws {
        let request = City.where { $0.country.name == "Peru" && $0.population > 100_000 }
            .sorted(by: City.keys.population.descending, City.keys.name.ascending)
            .limit(10)
        for city in try context.fetch(request) { print(city.name) }
    }

    @Examples static func fourWays(limit: Int64) throws -> [Example] {
        City.where { $0.country.name == "Peru" && $0.population > 100_000 }  // typed keys, checked by the compiler
        Country.where { $0.cities.any { $0.population > 1_000_000 } }
        try FetchRequest(predicate: #Predicate<City> { $0.population > limit })  // Foundation's predicates
        try FetchPredicate(format: "population > %d AND country.name BEGINSWITH[cd] %@", 100_000, "p")  // a format
    }

    @Examples static func orders(lima: GeoPoint) throws -> [Example] {
        FetchRequest<City>(sortedBy: [City.keys.position.distance(to: lima).ascending, City.keys.name.ascending])
        FetchRequest<Country>(sortedBy: [Country.keys.cities.sum(\.population).descending])
        FetchRequest<Country>(sortedBy: [Country.keys.cities.filter { $0.isPort }.count.descending])
        FetchRequest<City>(sortedBy: [City.keys.name.ascending([.caseInsensitive])])
    }

    @Examples static func textOrders() throws -> [Example] {
        FetchSort("cities.@count", ascending: false)
        FetchSort(try FetchExpression(format: "cities.@sum.population"))
        try FetchSort(format: "-distance(position, {-12.04, -77.03})")
    }

    @Examples static func toMany() throws -> [Example] {
        Country.where { $0.cities.any { $0.population > 1_000_000 && $0.isPort } }
        Country.where { $0.cities.filter { $0.isPort }.count >= 2 }
        Country.where { $0.cities.sum(\.population) > 10_000_000 }
        Country.where { country in country.cities.any { $0.twins.any { $0.country != country } } }
        Country.where { $0.cities.sights.any { $0.name == "Louvre" } }
    }

    static func foundation() throws -> FetchRequest<City> {
        let limit: Int64 = 100_000
        let request = try FetchRequest(
            predicate: #Predicate<City> { $0.country.name == "Peru" && $0.population > limit })
        return request
    }

    static func foundation(_ peru: Country) throws -> FetchRequest<City> {
        let uri = peru.objectID.uri
        let request = try FetchRequest(predicate: #Predicate<City> { $0.country.objectID.uri == uri })
        return request
    }

    static func format() throws -> FetchRequest<City> {
        let rich = try FetchPredicate(
            format: "population > %d AND country.name BEGINSWITH[cd] %@", 100_000, "per")
        let request = FetchRequest<City>(where: rich)
        return request
    }

    /// The conditions in the table of typed keys, with what they find in ``AtlasFile``.
    @Examples static func values(date: Date) -> [Example] {
        City.where { $0.population > 5 }
        City.where { $0.name != "Lima" }
        City.where { $0.founded < date }
        City.where { $0.founded == nil }
        Sight.where { $0.kind == .museum }
        City.where { $0.languages.contains("es") }
        City.where { $0.languages.isEmpty }
        City.where { $0.languages.count > 1 }
        City.where { $0.isPort }
        City.where { !$0.isPort }
        FetchRequest<City>(where: City.keys.isPort.predicate)
        City.where { $0.isPort && !($0.name == "Lima" || $0.population < 5) }
        City.where { $0.population < $0.country.population }
        City.where { $0.name == $0.country.name }
    }

    @Examples static func calculations(names: [String]) -> [Example] {
        City.where { $0.population * 2 - 1 > 5 }
        City.where { $0.population / 2 > 5 }
        City.where { $0.population % 3 == 0 }
        City.where { $0.population.absolute > 5 }
        Country.where { $0.area.squareRoot > 10 }
        Country.where { $0.area.floor == $0.area.truncated && $0.area.ceiling > 5 }
        City.where { $0.population.asDouble / 2 > 0.5 }
        City.where { $0.name.isIn(names) }
        City.where { $0.population.isBetween(1...5) }
        City.where { 1...5 ~= $0.population }
        City.where { $0.population.isBetween(1..<5) }
    }

    @Examples static func texts() -> [Example] {
        City.where { $0.name.hasPrefix("li", [.caseInsensitive, .diacriticInsensitive]) }
        City.where { $0.name.hasSuffix("a") && $0.name.contains("im") }
        City.where { $0.name.equals("LIMA", [.caseInsensitive]) }
        City.where { $0.name.like("P*") }
        City.where { $0.name.matches("[a-z]+") }
        City.where { $0.name.lowercased() == "lima" }
        City.where { $0.name.uppercased() == "LIMA" }
        City.where { $0.about.matchesText("storm*") }
        City.where { $0.matchesText("storm*") }
    }

    @Examples static func objects(lima: City, peru: Country, countries: [Country], ids: [ObjectID]) -> [Example] {
        City.where { $0.country.name == nil }
        City.where { $0.country == peru }
        City.where { $0.country == peru.objectID }
        Sight.where { $0.city == nil }
        City.where { $0.country.isIn(countries) }
        City.where { $0.country.isIn(ids: ids) }
        City.where { $0 == lima }
        City.where { $0.country.cities.contains(lima) }
        Sight.where { $0.address.street == "Jirón de la Unión" }
    }

    @Examples static func places(point: GeoPoint) -> [Example] {
        City.where { $0.position.isWithin(kilometers: 50, of: point) }
        City.where { $0.position.isWithin(miles: 50, of: point) }
        City.where { $0.position.isWithin(radians: 0.01, of: point) }
        City.where { $0.position.isInBox(southWest: point, northEast: point) }
        City.where { $0.position.distance(to: point) < 5 }
        City.where { $0.position.isNear(point) }
    }
}

final class Harbour: ManagedObject {
    override class var entityName: String { "Harbour" }
    override class var propertyKeyPaths: PropertyKeyPaths {
        PropertyKeyPaths("name depth", [\Harbour.name, \Harbour.depth])
    }
    var name: String { self["name"] as? String ?? "" }
    var depth: Double { self["depth"] as? Double ?? 0 }
}
