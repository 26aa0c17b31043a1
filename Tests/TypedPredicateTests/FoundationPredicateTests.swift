import Foundation
import Strata
import Testing

/// Foundation's predicates are read as the tree that the format language has for them.
@Suite struct FoundationPredicateTests {
    private func expect<T: ManagedObject>(
        _ predicate: Predicate<T>, _ format: String, _ arguments: (any PredicateArgument)?...,
        at location: Testing.SourceLocation = #_sourceLocation
    ) throws {
        let parsed = try FetchPredicate(format: format, arguments: arguments.map { $0?.predicateArgument ?? .null })
        let read = try FetchPredicate(predicate)
        #expect(read == parsed, "\(read)", sourceLocation: location)
    }

    @Test("Comparisons in #Predicate become comparisons of a predicate")
    func comparisons() throws {
        let limit: Int64 = 100_000
        try expect(
            #Predicate<City> { $0.country?.name == "Peru" && $0.population > limit },
            "country.name == 'Peru' AND population > 100000")
        try expect(#Predicate<City> { $0.name != "a" || $0.latitude <= 1.5 }, "name != 'a' OR latitude <= 1.5")
        try expect(#Predicate<City> { 5 < $0.population }, "population > 5")
        try expect(#Predicate<City> { !$0.isPort }, "NOT (isPort == YES)")
        try expect(#Predicate<City> { $0.isPort }, "isPort == YES")
        try expect(#Predicate<City> { $0.isPort == false }, "isPort == NO")
        try expect(#Predicate<City> { $0.latitude < $0.longitude }, "latitude < longitude")
        try expect(#Predicate<City> { $0.districts == 3 }, "districts == 3")
        try expect(#Predicate<City> { _ in true }, "TRUEPREDICATE")
    }

    @Test("Inherited properties have the key paths of the class that is asked for")
    func inherited() throws {
        try expect(#Predicate<Place> { $0.name == "a" }, "name == 'a'")
        try expect(#Predicate<Country> { $0.name == "a" && $0.code == "b" }, "name == 'a' AND code == 'b'")
    }

    @Test func valuesOfFoundation() throws {
        let date = Date(timeIntervalSinceReferenceDate: 9.5)
        let uuid = UUID()
        let url = try #require(URL(string: "https://example.com"))
        let price = Decimal(string: "1.5")!
        try expect(
            #Predicate<City> { $0.founded == date && $0.token == uuid }, "founded == %@ AND token == %@", date, uuid)
        try expect(#Predicate<City> { $0.site == url || $0.budget == price }, "site == %@ OR budget == %@", url, price)
    }

    @Test("Optional values in #Predicate are compared with nil")
    func optionals() throws {
        try expect(#Predicate<City> { $0.nickname == nil }, "nickname == nil")
        try expect(#Predicate<City> { $0.country != nil }, "country != nil")
        try expect(#Predicate<City> { $0.country?.capital?.population == 3 }, "country.capital.population == 3")
        try expect(
            #Predicate<City> { ($0.nickname ?? "none") == "none" },
            "TERNARY(nickname != nil, nickname, 'none') == 'none'")
        try expect(
            #Predicate<City> { $0.nickname?.contains("ab") == true }, "nickname != nil AND nickname CONTAINS 'ab'")
        try expect(
            #Predicate<City> { $0.nickname?.contains("ab") ?? false }, "nickname != nil AND nickname CONTAINS 'ab'")
        try expect(
            #Predicate<City> { $0.nickname?.contains("ab") ?? true }, "NOT (nickname != nil) OR nickname CONTAINS 'ab'")
        try expect(#Predicate<City> { $0.country!.name == "a" }, "country.name == 'a'")
        try expect(
            #Predicate<City> { $0.mayor?.name == "a" && $0.mayor?.age == 3 }, "mayor.name == 'a' AND mayor.age == 3")
        try expect(
            #Predicate<City> { ($0.country?.cities.count ?? 0) > 1 },
            """
            TERNARY(TERNARY(country != nil, country.cities.@count, nil) != nil, \
            TERNARY(country != nil, country.cities.@count, nil), 0) > 1
            """)
    }

    @Test("Functions of text in #Predicate become operators of text")
    func text() throws {
        try expect(#Predicate<City> { $0.name.contains("ab") }, "name CONTAINS 'ab'")
        try expect(#Predicate<City> { $0.name.starts(with: "ab") }, "name BEGINSWITH 'ab'")
        try expect(#Predicate<City> { $0.name.isEmpty }, "name == ''")
        try expect(#Predicate<City> { $0.name < "b" }, "name < 'b'")
    }

    @Test("Arithmetic in #Predicate stays arithmetic")
    func arithmetic() throws {
        try expect(#Predicate<City> { $0.population * 2 + 1 > 10 }, "population * 2 + 1 > 10")
        try expect(#Predicate<City> { $0.population / 2 == 1 }, "population / 2 == 1")
        try expect(#Predicate<City> { $0.latitude / 2 - 1 == 1 }, "latitude / 2.0 - 1.0 == 1.0")
        try expect(#Predicate<City> { $0.population % 2 == 1 }, "modulus:by:(population, 2) == 1")
        try expect(#Predicate<City> { -$0.latitude > 1 }, "0 - latitude > 1.0")
    }

    @Test("Collections in #Predicate become lists, counts and sub-queries")
    func collections() throws {
        let names = ["a", "b"]
        let some: Set<Int64> = [3]
        try expect(#Predicate<City> { names.contains($0.name) }, "name IN {'a', 'b'}")
        try expect(#Predicate<City> { some.contains($0.population) }, "population IN %@", some)
        try expect(#Predicate<Country> { $0.cities.count > 3 }, "cities.@count > 3")
        try expect(#Predicate<Country> { $0.cities.isEmpty }, "cities.@count == 0")
        try expect(
            #Predicate<Country> { $0.cities.contains { $0.population > 5 } },
            "SUBQUERY(cities, $each, $each.population > 5).@count > 0")
        try expect(
            #Predicate<Country> { $0.cities.allSatisfy { $0.isPort } },
            "SUBQUERY(cities, $each, NOT ($each.isPort == YES)).@count == 0")
        try expect(
            #Predicate<Country> { $0.cities.filter { $0.isPort }.count >= 2 },
            "SUBQUERY(cities, $each, $each.isPort == YES).@count >= 2")
        try expect(
            #Predicate<Country> { country in
                country.cities.contains { one in
                    one.twins.contains { two in two.name == one.name && two.name == country.name }
                }
            },
            """
            SUBQUERY(cities, $each, SUBQUERY($each.twins, $each2, $each2.name == $each.name AND $each2.name == name)\
            .@count > 0).@count > 0
            """)
        try expect(
            #Predicate<City> { $0.lines.count == 1 && $0.lines[0].label == "a" },
            "lines.@count == 1 AND (lines[0]).label == 'a'")
    }

    @Test("Ranges in #Predicate become BETWEEN or two comparisons")
    func ranges() throws {
        let range: ClosedRange<Int64> = 1...5
        try expect(#Predicate<City> { (1...5).contains($0.population) }, "population BETWEEN {1, 5}")
        try expect(#Predicate<City> { range.contains($0.population) }, "population BETWEEN {1, 5}")
        try expect(#Predicate<City> { (1..<5).contains($0.population) }, "population >= 1 AND population < 5")
        try expect(
            #Predicate<City> { ($0.latitude...$0.longitude).contains(1.5) }, "1.5 BETWEEN {latitude, longitude}")
    }

    @Test("Conditional expressions in #Predicate become TERNARY or two conditions")
    func choices() throws {
        try expect(
            #Predicate<City> { $0.isPort ? $0.population > 1 : $0.population < 2 },
            "(isPort == YES AND population > 1) OR (NOT (isPort == YES) AND population < 2)")
        try expect(
            #Predicate<City> { ($0.isPort ? $0.latitude : $0.longitude) > 1 },
            "TERNARY(isPort == YES, latitude, longitude) > 1.0")
    }

    @Test("Objects are captured by the URIs of their IDs")
    func identities() throws {
        let file = try AtlasFile()
        let context = file.container.newContext()
        let peru = Country(context: context, name: "Peru", code: "PE")
        let uri = peru.objectID.uri
        try expect(
            #Predicate<City> { $0.country?.objectID.uri == uri }, "country == %@", Value.object(peru.objectID.key))
        try expect(#Predicate<Country> { $0.objectID.uri != uri }, "SELF != %@", Value.object(peru.objectID.key))
    }

    @Test("What has no meaning for stores is an error that names the part")
    func unreadable() throws {
        func expect<T: ManagedObject>(
            _ predicate: Predicate<T>, _ part: String, at location: Testing.SourceLocation = #_sourceLocation
        ) {
            do throws(UnreadablePredicateError) {
                let request = try FetchRequest(predicate: predicate)
                Issue.record("read as \(request)", sourceLocation: location)
            } catch {
                #expect(error.part == part, "\(error)", sourceLocation: location)
            }
        }
        let sums = [Sum(cents: 5)]
        let sum = Sum(cents: 6)
        let prices = ["a": 1.5]
        let ids = [1, 2]
        expect(#Predicate<City> { $0.isHuge }, "KeyPath from City to Bool")
        expect(#Predicate<City> { $0.name.count == 3 }, "KeyPath from String to Int")
        expect(#Predicate<Country> { $0.languages != nil }, "KeyPath from Country to Optional<Array<String>>")
        expect(#Predicate<Place> { ($0 as? City) != nil }, "ConditionalCast")
        expect(#Predicate<City> { _ in sums.contains(sum) }, "Value(Array<Sum>)")
        expect(#Predicate<City> { prices[$0.name] == 2 }, "DictionaryKeySubscript")
        expect(#Predicate<City> { _ in ids.starts(with: ids) }, "SequenceStartsWith")
    }
}

extension City {
    /// Computed by the application: no store knows it.
    fileprivate var isHuge: Bool { population > 10_000_000 }
}

/// No attribute has this type.
private struct Sum: Codable, Sendable, Equatable {
    var cents: Int
}
