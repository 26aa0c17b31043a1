extension Snippet {
    /// Conditions and sorts that mean nothing.
    static let predicateSnippets: [Snippet] = [
        Snippet(
            "textWithNumber", .types,
            expecting: "cannot be applied to operands of type 'AttributeKey<String>' and 'Int'",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.name == 5 })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.name == "5" })
                }
                """#),
        Snippet(
            "numberWithText", .types,
            expecting: "cannot convert value of type 'String' to expected argument type 'Int64",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.population > "many" })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.population > 100_000 })
                }
                """#),
        Snippet(
            "numberWithFraction", .types,
            expecting: "cannot convert value of type 'Double' to expected argument type 'Int64",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.population > 1.5 })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.latitude > 1.5 })
                }
                """#),
        Snippet(
            "unknownProperty", .types,
            expecting: "value of type 'CityKeys' has no member 'nmae'",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.nmae == "Lima" })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.name == "Lima" })
                }
                """#),
        Snippet(
            "unknownPropertyOfRelated", .types,
            expecting: "has no dynamic member 'population' using key path from root type 'CountryKeys'",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.country.population > 5 })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.country.code == "PE" })
                }
                """#),
        Snippet(
            "keysOfTwoKinds", .types,
            expecting: "'NumberKind') and 'String",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.population == $0.name })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.population == $0.latitude })
                }
                """#),
        Snippet(
            "orderOfTruthValues", .types,
            expecting: "cannot be applied to operands of type 'AttributeKey<Bool>'",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.isPort < true })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.isPort == true })
                }
                """#),
        Snippet(
            "orderOfPositions", .types,
            expecting: "requires that 'GeoPoint' conform to 'Comparable'",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.position > GeoPoint(latitude: 0, longitude: 0) })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.position == GeoPoint(latitude: 0, longitude: 0) })
                }
                """#),
        Snippet(
            "prefixOfNumber", .types,
            expecting: "'hasPrefix' on 'PredicateOperand' requires the types 'Int64",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.population.hasPrefix("1") })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.name.hasPrefix("1") })
                }
                """#),
        Snippet(
            "arithmeticOnText", .types,
            expecting: "cannot be applied to operands of type 'AttributeKey<String>' and 'Int'",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.name * 2 == 4 })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.population * 2 == 4 })
                }
                """#),
        Snippet(
            "remainderOfFraction", .types,
            expecting: "requires that 'AttributeKey<Double>' conform to",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.latitude % 2 == 1 })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.population % 2 == 1 })
                }
                """#),
        Snippet(
            "numberAlone", .types,
            expecting: "requires the types 'Int64.Wrapped' (aka 'Int64') and 'Bool' be equivalent",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.population })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.isPort })
                }
                """#),
        Snippet(
            "notOfNumber", .types,
            expecting: "requires the types 'Int64.Wrapped' (aka 'Int64') and 'Bool' be equivalent",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { !$0.population })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { !$0.isPort })
                }
                """#),
        Snippet(
            "conditionAndNumber", .types,
            expecting: "requires the types 'Int64.Wrapped' (aka 'Int64') and 'Bool' be equivalent",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.isPort && $0.population })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.isPort && $0.population > 0 })
                }
                """#),
        Snippet(
            "objectOfAnotherClass", .types,
            expecting: "'City' conform to 'ObjectOperand'",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.country == city })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.country == country })
                }
                """#),
        Snippet(
            "selfOfAnotherClass", .types,
            expecting: "'Country' conform to 'ObjectOperand'",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0 == country })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0 == city })
                }
                """#),
        Snippet(
            "relationshipsToTwoClasses", .types,
            expecting: "'Country') and 'CityKeys.Object' (aka 'City') be equivalent",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.country == $0 })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0 == $0 })
                }
                """#),
        Snippet(
            "membersOfAnotherClass", .types,
            expecting: "cannot convert value of type 'Country' to expected element type",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.isIn([country]) })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.isIn([city]) })
                }
                """#),
        Snippet(
            "quantifierOverToOne", .types,
            expecting: "has no dynamic member 'any'",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.country.any { $0.code == "PE" } })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.country.code == "PE" })
                }
                """#),
        Snippet(
            "toManyAsValue", .types,
            expecting: "cannot be applied to operands of type 'ToManyKey<CityKeys>' and 'Int'",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.sisters == 3 })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.sisters.count == 3 })
                }
                """#),
        Snippet(
            "attributeOfToMany", .types,
            expecting: "'AttributeKey<String>' conform to 'RelationshipKey'",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.sisters.name == "Lima" })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.sisters.any { $0.name == "Lima" } })
                }
                """#),
        Snippet(
            "sumOfTexts", .types,
            expecting: "requires the types 'String.Wrapped' (aka 'String') and 'NumberKind' be equivalent",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.sisters.sum(\.name) > 3 })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.sisters.sum(\.population) > 3 })
                }
                """#),
        Snippet(
            "greatestOfAnotherType", .types,
            expecting: "cannot convert value of type 'Int' to expected argument type 'String",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.sisters.max(\.name) > 3 })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.sisters.max(\.name) > "L" })
                }
                """#),
        Snippet(
            "distanceOfText", .types,
            expecting: "requires the types 'String.Wrapped' (aka 'String') and 'GeoPoint' be equivalent",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.name.isNear(GeoPoint(latitude: 0, longitude: 0)) })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.position.isNear(GeoPoint(latitude: 0, longitude: 0)) })
                }
                """#),
        Snippet(
            "rangeOfAnotherType", .types,
            expecting: "cannot convert value of type 'ClosedRange<String>'",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.population.isBetween("a"..."b") })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.population.isBetween(1...5) })
                }
                """#),
        Snippet(
            "listOfAnotherType", .types,
            expecting: "cannot convert value of type 'Int' to expected element type 'String",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.name.isIn([1, 2]) })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.name.isIn(["1", "2"]) })
                }
                """#),
        Snippet(
            "transformableCompared", .types,
            expecting: "'AttributeKey<[String]?>' conform to",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.aliases == ["Lima"] })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(City.where { $0.aliases != nil })
                }
                """#),
        Snippet(
            "sortByRelationship", .types,
            expecting: "has no dynamic member 'ascending'",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(FetchRequest<City>().sorted(by: CityKeys().country.ascending))
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(FetchRequest<City>().sorted(by: CityKeys().country.code.ascending))
                }
                """#),
        Snippet(
            "requestOfAnotherClass", .types,
            expecting: "cannot convert value of type '(Country) -> Country'",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(try context.fetch(City.where { $0.isPort }).map { (country: Country) in country })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(try context.fetch(City.where { $0.isPort }).map { (city: City) in city })
                }
                """#),
        Snippet(
            "foundationPredicateOfAnotherClass", .types,
            expecting: "cannot convert value of type 'Predicate<Country>' to expected argument type 'Predicate<City>'",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(try FetchRequest<City>(predicate: #Predicate<Country> { _ in true }))
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(try FetchRequest<City>(predicate: #Predicate<City> { _ in true }))
                }
                """#),
        Snippet(
            "tupleOfOtherTypes", .types,
            expecting: "to expected argument type 'ValueRequest<City, (String, String)>'",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    let rows: [(String, String)] = try context.fetchValues(
                        FetchRequest<City>().select { ($0.name, $0.population) })
                    use(rows)
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    let rows: [(String, Int64)] = try context.fetchValues(
                        FetchRequest<City>().select { ($0.name, $0.population) })
                    use(rows)
                }
                """#),
        Snippet(
            "columnThatThereIsNot", .types, expecting: "has no member 'popluation'",
            leak: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(FetchRequest<City>().select { ($0.name, $0.popluation) })
                }
                """#,
            twin: #"""
                private func run(_ context: ManagedObjectContext, _ city: City, _ country: Country) throws {
                    use(FetchRequest<City>().select { ($0.name, $0.population) })
                }
                """#),
    ]
}
