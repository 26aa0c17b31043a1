import Foundation
import Strata
import Testing

/// Each typed form is the tree that the format language has for it.
@Suite struct TypedFormTests {
    private func expect(
        _ typed: some PredicateConvertible, _ format: String, _ arguments: (any PredicateArgument)?...,
        at location: Testing.SourceLocation = #_sourceLocation
    ) throws {
        let parsed = try FetchPredicate(
            format: format, arguments: arguments.map { $0?.predicateArgument ?? .null })
        #expect(typed.predicate == parsed, "\(typed.predicate)", sourceLocation: location)
        // The printed form reads back as the same.
        #expect(try FetchPredicate(format: "\(typed.predicate)") == typed.predicate, sourceLocation: location)
    }

    private let city = City.keys
    private let country = Country.keys

    @Test("Typed comparisons have the same form as those in text")
    func values() throws {
        try expect(city.name == "Lima", "name == 'Lima'")
        try expect(city.name != "Lima", "name != 'Lima'")
        try expect(city.population < 5, "population < 5")
        try expect(city.population <= 5, "population <= 5")
        try expect(city.population > 100_000, "population > 100000")
        try expect(city.latitude >= -3.5, "latitude >= -3.5")
        try expect(city.districts == 3, "districts == 3")
        try expect(city.isPort == false, "isPort == NO")
        try expect(city.nickname == nil, "nickname == nil")
        try expect(city.nickname != nil, "nickname != nil")
        let unknown: String? = nil
        try expect(city.nickname == unknown, "nickname == nil")
        try expect(city.mayor.age > 40, "mayor.age > 40")
        try expect(country.languages != nil, "languages != nil")
    }

    @Test func typesOfFoundation() throws {
        let date = Date(timeIntervalSinceReferenceDate: 5_000.25)
        let uuid = UUID()
        let url = try #require(URL(string: "https://example.com/a"))
        try expect(city.founded < date, "founded < %@", date)
        try expect(city.founded.isBetween(date..<date + 60), "founded >= %@ AND founded < %@", date, date + 60)
        try expect(city.budget > Decimal(string: "1.10")!, "budget > %@", Decimal(string: "1.10")!)
        try expect(city.token == uuid, "token == %@", uuid)
        try expect(city.token.isIn([uuid]), "token IN %@", [uuid])
        try expect(city.site != url, "site != %@", url)
        try expect(city.seal == Data([1, 2]), "seal == %@", Data([1, 2]))
    }

    @Test("Typed NOT, AND and OR have the same form as those in text")
    func logic() throws {
        try expect(city.isPort.predicate, "isPort == YES")
        try expect(!city.isPort, "NOT (isPort == YES)")
        try expect(city.isPort && city.population > 5, "isPort == YES AND population > 5")
        try expect(
            city.population > 5 || city.isPort || city.name == "a", "population > 5 OR isPort == YES OR name == 'a'")
        try expect(!(city.name == "a" && city.isPort), "NOT (name == 'a' AND isPort == YES)")
    }

    @Test func keysWithEachOther() throws {
        try expect(city.latitude < city.longitude, "latitude < longitude")
        try expect(city.name == city.nickname, "name == nickname")
        try expect(city.name != city.country.name, "name != country.name")
        try expect(city.population > city.latitude, "population > latitude")
        try expect(city.country == city.capitalOf, "country == capitalOf")
        try expect(city.country.capital != city, "country.capital != SELF")
    }

    @Test("Typed arithmetic has the same form as that in text")
    func arithmetic() throws {
        try expect(city.population * 2 > 10, "population * 2 > 10")
        try expect(city.latitude + city.longitude - 1 == 0, "latitude + longitude - 1.0 == 0.0")
    }

    @Test("Typed division, remainders and functions of numbers have the same form as those in text")
    func moreArithmetic() throws {
        try expect(city.population / 3 == 1, "population / 3 == 1")
        try expect(city.population % 3 == 1, "modulus:by:(population, 3) == 1")
        try expect(city.latitude.absolute < 10, "abs:(latitude) < 10.0")
        try expect(
            city.latitude.squareRoot.floor == city.longitude.ceiling, "floor:(sqrt:(latitude)) == ceiling:(longitude)")
        try expect(city.population.asDouble / 3 < 1.5, "population * 1.0 / 3.0 < 1.5")
    }

    @Test("Typed lists and ranges have the same form as those in text")
    func sets() throws {
        try expect(city.name.isIn(["a", "b"]), "name IN {'a', 'b'}")
        try expect(city.population.isBetween(1...5), "population BETWEEN {1, 5}")
        try expect(1...5 ~= city.population, "population BETWEEN {1, 5}")
        try expect(city.population.isBetween(1..<5), "population >= 1 AND population < 5")
    }

    @Test("Typed operators of text have the same form as those in text")
    func text() throws {
        try expect(city.name.hasPrefix("a", [.caseInsensitive]), "name BEGINSWITH[c] 'a'")
        try expect(city.name.hasSuffix("a", [.diacriticInsensitive]), "name ENDSWITH[d] 'a'")
        try expect(city.name.contains("a", [.caseInsensitive, .diacriticInsensitive]), "name CONTAINS[cd] 'a'")
        try expect(city.name.equals("a", [.caseInsensitive]), "name ==[c] 'a'")
        try expect(city.nickname.like("a*b?"), "nickname LIKE 'a*b?'")
        try expect(city.name.matches("[a-z]+"), "name MATCHES '[a-z]+'")
        try expect(city.name.matchesText("storm*"), "name MATCHESTEXT 'storm*'")
        try expect(city.matchesText("storm*"), "SELF MATCHESTEXT 'storm*'")
        try expect(city.name.hasPrefix(city.country.code), "name BEGINSWITH country.code")
        try expect(city.name.lowercased() == "a", "lowercase:(name) == 'a'")
        try expect(city.name.uppercased().contains("A"), "uppercase:(name) CONTAINS 'A'")
    }

    @Test("Typed paths through to-one relationships have the same form as those in text")
    func toOne() throws {
        try expect(city.country.name == "Peru", "country.name == 'Peru'")
        try expect(city.country.capital.country.code == "PE", "country.capital.country.code == 'PE'")
        try expect(city.country == nil, "country == nil")
        try expect(city.country != nil, "country != nil")
    }

    @Test("Typed conditions on members have the same form as those in text")
    func toMany() throws {
        try expect(country.cities.count > 3, "cities.@count > 3")
        try expect(country.cities.isEmpty, "cities.@count == 0")
        try expect(
            country.cities.any { $0.population > 5 && $0.isPort },
            "SUBQUERY(cities, $each, $each.population > 5 AND $each.isPort == YES).@count > 0")
        try expect(country.cities.all { $0.isPort }, "SUBQUERY(cities, $each, NOT ($each.isPort == YES)).@count == 0")
        try expect(country.cities.none { $0.name == "x" }, "SUBQUERY(cities, $each, $each.name == 'x').@count == 0")
        try expect(
            country.cities.filter { $0.isPort }.count >= 2, "SUBQUERY(cities, $each, $each.isPort == YES).@count >= 2")
        try expect(country.cities.sum(\.population) > 10, "cities.@sum.population > 10")
        try expect(country.cities.average(\.latitude) < 1.5, "cities.@avg.latitude < 1.5")
        try expect(country.cities.min(\.name) == "a", "cities.@min.name == 'a'")
        try expect(country.cities.max(\.country.area) == nil, "cities.@max.country.area == nil")
        try expect(
            country.cities.filter { $0.isPort }.max(\.population) > country.area,
            "SUBQUERY(cities, $each, $each.isPort == YES).@max.population > area")
        try expect(country.cities.twins.count == 1, "cities.twins.@count == 1")
        try expect(country.cities.country.isEmpty, "cities.country.@count == 0")
        try expect(city.country.cities.count == 1, "country.cities.@count == 1")
    }

    @Test("Inner conditions may name the members of outer ones, whose variables differ")
    func nested() throws {
        try expect(
            country.cities.any { one in
                one.twins.all { two in two.country != one.country && two.lines.any { $0.length > 5 } }
            },
            """
            SUBQUERY(cities, $each, SUBQUERY($each.twins, $each2, NOT ($each2.country != $each.country AND \
            SUBQUERY($each2.lines, $each3, $each3.length > 5.0).@count > 0)).@count == 0).@count > 0
            """)
        try expect(
            country.cities.any { one in
                country.cities.any { two in one != two && one.name == two.name && one.population > country.area }
            },
            """
            SUBQUERY(cities, $each, SUBQUERY(cities, $each2, $each != $each2 AND $each.name == $each2.name AND \
            $each.population > area).@count > 0).@count > 0
            """)
    }

    @Test("Typed conditions on places have the same form as those in text")
    func geo() throws {
        let here = GeoPoint(latitude: 48.5, longitude: 2.25)
        let there = GeoPoint(latitude: 49, longitude: 3)
        try expect(city.position.isWithin(kilometers: 50, of: here), "withinKilometers(position, %@, 50.0)", here)
        try expect(city.position.isWithin(miles: 50, of: here), "withinMiles(position, %@, 50.0)", here)
        try expect(city.position.isWithin(radians: 0.5, of: here), "withinRadians(position, %@, 0.5)", here)
        try expect(
            city.position.isWithin(kilometers: 50, of: here, earthRadius: 6378),
            "withinKilometers(position, %@, 50.0, 6378.0)",
            here)
        try expect(city.position.isInBox(southWest: here, northEast: there), "withinBox(position, %@, %@)", here, there)
        try expect(city.position.isNear(here), "near(position, %@)", here)
    }

    @Test func sortsAndSteps() throws {
        let request = City.where { $0.country.name == "Peru" && $0.population > 100_000 }
            .where(city.isPort)
            .sorted(by: city.country.name.descending([.caseInsensitive]), city.name.ascending)
            .limit(5).offset(2)
        let direct = FetchRequest<City>(
            where: try FetchPredicate(format: "country.name == 'Peru' AND population > 100000 AND isPort == YES"),
            sortedBy: [
                FetchSort("country.name", ascending: false, options: [.caseInsensitive]), FetchSort("name"),
            ], limit: 5, offset: 2)
        #expect(request.predicate == direct.predicate)
        #expect(request.sorts == direct.sorts)
        #expect(request.limit == 5 && request.offset == 2)
        #expect(
            City.where { $0.isPort }.prefetch(city.country.cities, "twins").prefetch.map(\.prefetchPath) == [
                ["country", "cities"], ["twins"],
            ])
        #expect(City.where { $0.isPort }.predicate == (try FetchPredicate(format: "isPort == YES")))
    }
}
