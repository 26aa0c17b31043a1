import Foundation
import Strata
import Testing

/// Typed conditions and Foundation's, run, choose what the same conditions in Swift choose.
@Suite struct RunningTests {
    /// Countries with 0 to 7 cities, with nil among all optional values.
    private func makeAtlas(_ context: ManagedObjectContext) -> (countries: [Country], cities: [City]) {
        var cities: [City] = []
        let countries = (0..<6).map { index in
            let country = Country(
                context: context, name: ["Peru", "Chile", "Cuba", "Oman", "Fiji", "Mali"][index], code: "C\(index)")
            country.area = Int64(index * 4_000)
            for number in 0..<(index == 5 ? 0 : index + 3) {
                let city = City(context: context, name: "\(country.name) \(number)")
                city.country = country
                city.population = Int64((index * 7 + number * 13) % 11) * 1_000
                city.latitude = Double(number * 9 - 20)
                city.longitude = Double(index * 10 - 25)
                city.isPort = (index + number) % 2 == 0
                city.nickname = number % 3 == 0 ? nil : number % 3 == 1 ? "Ñandú \(index)" : "nandu"
                city.founded = number % 2 == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(number) * 1_000)
                city.budget = number == 1 ? nil : Decimal(number) / 4
                city.position = number == 2 ? nil : GeoPoint(latitude: city.latitude, longitude: city.longitude)
                city.mayor =
                    index == 1 ? nil : City.Mayor(name: "M\(number)", age: number == 0 ? nil : Int32(30 + number))
                cities.append(city)
            }
            country.capital = cities.last { $0.country === country }
            return country
        }
        for (index, city) in cities.enumerated() where index % 4 != 0 {
            city.twins = [cities[(index + 5) % cities.count], cities[(index + 9) % cities.count]]
        }
        return (countries, cities)
    }

    /// Compares what a condition chooses in the store's file, or in memory if no store is asked, with a filter.
    private func check<T: ManagedObject & Hashable>(
        _ objects: [T], _ predicate: FetchPredicate?, in context: ManagedObjectContext, store: Bool = true,
        at location: Testing.SourceLocation = #_sourceLocation, _ isIncluded: (T) -> Bool
    ) throws {
        let predicate = try #require(predicate, sourceLocation: location)
        let expected = Set(objects.filter(isIncluded))
        #expect(!expected.isEmpty && expected.count < objects.count, "the case says nothing", sourceLocation: location)
        let inMemory = Set(try objects.filter { try predicate.evaluate(on: ObjectProperties(object: $0)) })
        #expect(inMemory == expected, "\(predicate)", sourceLocation: location)
        guard store else { return }
        let fetched = try context.fetch(FetchRequest<T>(where: predicate))
        #expect(Set(fetched) == expected, "\(predicate)", sourceLocation: location)
        #expect(fetched.count == expected.count, sourceLocation: location)
    }

    @Test("Typed conditions on values find the same objects as Swift")
    func values() throws {
        let file = try AtlasFile()
        let context = file.container.newContext()
        let (countries, cities) = makeAtlas(context)
        try context.save()
        let peru = countries[0]
        let date = Date(timeIntervalSinceReferenceDate: 1_500)
        func check(
            _ request: FetchRequest<City>, at location: Testing.SourceLocation = #_sourceLocation,
            _ isIncluded: (City) -> Bool
        ) throws {
            try self.check(cities, request.predicate, in: context, at: location, isIncluded)
        }
        try check(City.where { $0.population > 4_000 && $0.isPort }) { $0.population > 4_000 && $0.isPort }
        try check(City.where { !$0.isPort || $0.name == "Peru 0" }) { !$0.isPort || $0.name == "Peru 0" }
        try check(City.where { $0.nickname != "nandu" }) { $0.nickname != "nandu" }
        try check(City.where { $0.nickname == nil }) { $0.nickname == nil }
        try check(City.where { $0.nickname.hasPrefix("NAN", [.caseInsensitive, .diacriticInsensitive]) }) {
            $0.nickname != nil
        }
        try check(City.where { $0.founded < date }) { $0.founded.map { $0 < date } ?? false }
        try check(City.where { $0.budget.isBetween(Decimal(0.5)...Decimal(1)) }) {
            $0.budget.map { (0.5...1).contains($0) } ?? false
        }
        try check(City.where { $0.population.isIn([1_000, 2_000]) }) { [1_000, 2_000].contains($0.population) }
        try check(City.where { $0.mayor.age > 32 }) { $0.mayor?.age.map { $0 > 32 } ?? false }
        try check(City.where { $0.country == peru }) { $0.country === peru }
        try check(City.where { $0.country == peru.objectID || $0 == cities[9] }) {
            $0.country === peru || $0 === cities[9]
        }
        try check(City.where { $0.isIn(cities[2..<4]) }) { $0 === cities[2] || $0 === cities[3] }
        try check(City.where { $0.country.name == "Cuba" && $0.country.area > 5 }) { $0.country?.name == "Cuba" }
        try check(City.where { $0.capitalOf != nil }) { $0.capitalOf != nil }
        try check(City.where { $0.country.capital == $0 }) { $0.country?.capital === $0 }
        try check(City.where { $0.latitude < $0.longitude }) { $0.latitude < $0.longitude }
        let limit: Int64 = 3_000
        try check(FetchRequest(predicate: #Predicate<City> { $0.population > limit && $0.country?.name != "Cuba" })) {
            $0.population > limit && $0.country?.name != "Cuba"
        }
        try check(FetchRequest(predicate: #Predicate<City> { $0.nickname?.starts(with: "n") == false })) {
            $0.nickname?.starts(with: "n") == false
        }
        let uri = peru.objectID.uri
        try check(FetchRequest(predicate: #Predicate<City> { $0.country?.objectID.uri != uri })) { $0.country !== peru }
    }

    @Test("Typed orders, offsets and limits return the same objects as Swift")
    func orders() throws {
        let file = try AtlasFile()
        let context = file.container.newContext()
        let (_, cities) = makeAtlas(context)
        try context.save()
        let found = try context.fetch(
            City.where { $0.population > 1_000 }
                .sorted(by: City.keys.country.name.descending, City.keys.population.ascending, City.keys.name.ascending)
                .offset(2).limit(7))
        let expected = cities.filter { $0.population > 1_000 }
            .sorted {
                ($1.country?.name ?? "", $0.population, $0.name) < ($0.country?.name ?? "", $1.population, $1.name)
            }
        #expect(found.map(\.name) == expected.dropFirst(2).prefix(7).map(\.name))
    }

    @Test("Typed calculations find the same objects as Swift")
    func calculations() throws {
        let file = try AtlasFile()
        let context = file.container.newContext()
        let (countries, cities) = makeAtlas(context)
        try context.save()
        func check(
            _ request: FetchRequest<City>, at location: Testing.SourceLocation = #_sourceLocation,
            _ isIncluded: (City) -> Bool
        ) throws {
            try self.check(cities, request.predicate, in: context, store: false, at: location, isIncluded)
        }
        try check(City.where { $0.population * 2 - 1_000 > $0.country.area }) {
            $0.population * 2 - 1_000 > $0.country?.area ?? .max
        }
        try check(City.where { $0.population % 2_000 == 1_000 }) { $0.population % 2_000 == 1_000 }
        try check(City.where { $0.latitude.absolute < 10 }) { abs($0.latitude) < 10 }
        try check(City.where { $0.population.asDouble / 3_000 > 1.5 }) { Double($0.population) / 3_000 > 1.5 }
        try check(City.where { $0.name.hasSuffix("3") || $0.name.like("P*2") || $0.name.matches("[A-C].*1") }) {
            $0.name.hasSuffix("3") || $0.name == "Peru 2" || ["Chile 1", "Cuba 1"].contains($0.name)
        }
        try check(City.where { $0.nickname.matchesText("nandu 3") }) { $0.nickname == "Ñandú 3" }
        let here = GeoPoint(latitude: 0, longitude: 0)
        try check(City.where { $0.position.isWithin(kilometers: 1_500, of: here) }) {
            $0.position.map { $0.distance(to: here) <= 1_500 } ?? false
        }
        try check(City.where { $0.position.distance(to: here) > 1_500 }) {
            $0.position.map { $0.distance(to: here) > 1_500 } ?? false
        }
        try check(
            City.where {
                $0.position.isInBox(
                    southWest: GeoPoint(latitude: -15, longitude: 170),
                    northEast: GeoPoint(latitude: 90, longitude: -20))
            }
        ) { $0.position.map { $0.latitude >= -15 && $0.longitude <= -20 } ?? false }
        try check(FetchRequest(predicate: #Predicate<City> { ($0.nickname ?? $0.name) == "nandu" })) {
            ($0.nickname ?? $0.name) == "nandu"
        }
        try check(FetchRequest(predicate: #Predicate<City> { $0.isPort ? $0.latitude > 0 : $0.longitude > 0 })) {
            $0.isPort ? $0.latitude > 0 : $0.longitude > 0
        }
        #expect(countries.count == 6)
    }

    @Test("Typed conditions on members find the same objects as Swift")
    func members() throws {
        let file = try AtlasFile()
        let context = file.container.newContext()
        let (countries, cities) = makeAtlas(context)
        try context.save()
        func check(
            _ request: FetchRequest<Country>, at location: Testing.SourceLocation = #_sourceLocation,
            _ isIncluded: (Country) -> Bool
        ) throws {
            try self.check(countries, request.predicate, in: context, store: false, at: location, isIncluded)
        }
        try check(Country.where { $0.cities.any { $0.population > 8_000 && $0.isPort } }) {
            $0.cities.contains { $0.population > 8_000 && $0.isPort }
        }
        try check(Country.where { $0.cities.all { $0.latitude < 20 } }) { $0.cities.allSatisfy { $0.latitude < 20 } }
        try check(Country.where { $0.cities.none { $0.nickname == "Ñandú 3" } }) {
            !$0.cities.contains { $0.nickname == "Ñandú 3" }
        }
        try check(Country.where { $0.cities.count > 4 }) { $0.cities.count > 4 }
        try check(Country.where { $0.cities.isEmpty }) { $0.cities.isEmpty }
        try check(Country.where { $0.cities.filter { $0.isPort }.count == 2 }) { $0.cities.filter(\.isPort).count == 2 }
        try check(Country.where { $0.cities.sum(\.population) > $0.area }) {
            $0.cities.map(\.population).reduce(0, +) > $0.area
        }
        try check(Country.where { $0.cities.max(\.population) == nil || $0.cities.min(\.latitude) > -15 }) {
            $0.cities.isEmpty || $0.cities.map(\.latitude).min()! > -15
        }
        try check(Country.where { $0.cities.average(\.population) > 5_000 }) {
            !$0.cities.isEmpty && $0.cities.map(\.population).reduce(0, +) > 5_000 * Int64($0.cities.count)
        }
        try check(Country.where { $0.cities.contains(cities[4]) }) { $0.cities.contains(cities[4]) }
        try check(
            Country.where { country in
                country.cities.any { one in
                    one.twins.any { $0.country != country && $0.population > one.population * 3 }
                }
            }
        ) { country in
            country.cities.contains { one in
                one.twins.contains { $0.country !== country && $0.population > one.population * 3 }
            }
        }
        try check(Country.where { $0.cities.twins.count > 6 }) { Set($0.cities.flatMap(\.twins)).count > 6 }
        try check(
            FetchRequest(
                predicate: #Predicate<Country> { country in
                    country.cities.contains { $0.population > 8_000 && $0.isPort } || country.cities.count > 6
                })
        ) { $0.cities.contains { $0.population > 8_000 && $0.isPort } || $0.cities.count > 6 }
        try check(FetchRequest(predicate: #Predicate<Country> { $0.cities.allSatisfy { $0.latitude < 20 } })) {
            $0.cities.allSatisfy { $0.latitude < 20 }
        }
    }
}

/// What predicates see of an object when they are evaluated in memory.
private struct ObjectProperties: PropertySource {
    let object: ManagedObject

    var evaluatedObject: Value { .object(object.objectID.key) }

    func property(_ name: String) -> PropertyValue {
        switch object[name] {
        case let related as ManagedObject: .object(ObjectProperties(object: related))
        case let members as Set<ManagedObject>: .objects(members.map { ObjectProperties(object: $0) }, isOrdered: false)
        case let members as [ManagedObject]: .objects(members.map { ObjectProperties(object: $0) }, isOrdered: true)
        case let elements as [String: Any]:
            .value(.composite(elements.compactMapValues { ($0 as? any PredicateArgument)?.predicateArgument }))
        case let value as any PredicateArgument: .value(value.predicateArgument)
        default: .value(.null)
        }
    }
}
