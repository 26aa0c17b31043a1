import Foundation
import Strata

class Continent: ManagedObject {
    override class var entityName: String { "Continent" }
    final var continentId: String { get { _value(0, \Continent.continentId) } set { _setValue(newValue, 0) } }
    final var name: String { get { _value(1, \Continent.name) } set { _setValue(newValue, 1) } }
    final var countries: Set<Country> { get { _toMany(0, \Continent.countries) } set { _setToMany(newValue, 0) } }
    final func addToCountries(_ x: Country) { _add(CollectionOfOne(x), 0) }
    final func addToCountries(_ x: some Sequence<Country>) { _add(x.map { $0 }, 0) }
    final func removeFromCountries(_ x: Country) { _remove(CollectionOfOne(x), 0) }
    convenience init(context: ManagedObjectContext, continentId: String, name: String) {
        self.init(inserting: context)
        self.continentId = continentId
        self.name = name
    }
}
struct ContinentKeys: EntityKeys {
    typealias Object = Continent
    let path: [String]
    init(path: [String] = []) { self.path = path }
    var continentId: AttributeKey<String> { AttributeKey(path + ["continentId"]) }
    var name: AttributeKey<String> { AttributeKey(path + ["name"]) }
    var countries: ToManyKey<CountryKeys> { ToManyKey(path + ["countries"]) }
}
extension ManagedObjectProtocol where Self: Continent { static var keys: ContinentKeys { ContinentKeys() } }

class Country: ManagedObject {
    override class var entityName: String { "Country" }
    final var countryId: String { get { _value(0, \Country.countryId) } set { _setValue(newValue, 0) } }
    final var name: String { get { _value(1, \Country.name) } set { _setValue(newValue, 1) } }
    final var capital: String? { get { _optionalValue(2, \Country.capital) } set { _setOptionalValue(newValue, 2) } }
    final var areaSquareKilometres: Int64 { get { _value(3, \Country.areaSquareKilometres) } set { _setValue(newValue, 3) } }
    final var population: Int64 { get { _value(4, \Country.population) } set { _setValue(newValue, 4) } }
    final var currencyCode: String? { get { _optionalValue(5, \Country.currencyCode) } set { _setOptionalValue(newValue, 5) } }
    final var currencyName: String? { get { _optionalValue(6, \Country.currencyName) } set { _setOptionalValue(newValue, 6) } }
    final var phone: String? { get { _optionalValue(7, \Country.phone) } set { _setOptionalValue(newValue, 7) } }
    final var languages: [String] { get { _transformable(8, \Country.languages) } set { _setTransformable(newValue, 8) } }
    final var continent: Continent { get { _toOne(9, \Country.continent) } set { _setToOne(newValue, 9) } }
    final var neighbours: Set<Country> { get { _toMany(0, \Country.neighbours) } set { _setToMany(newValue, 0) } }
    final func addToNeighbours(_ x: Country) { _add(CollectionOfOne(x), 0) }
    final func addToNeighbours(_ x: some Sequence<Country>) { _add(x.map { $0 }, 0) }
    final func removeFromNeighbours(_ x: Country) { _remove(CollectionOfOne(x), 0) }
    final var cities: Set<City> { get { _toMany(1, \Country.cities) } set { _setToMany(newValue, 1) } }
    final func addToCities(_ x: City) { _add(CollectionOfOne(x), 1) }
    final func addToCities(_ x: some Sequence<City>) { _add(x.map { $0 }, 1) }
    final func removeFromCities(_ x: City) { _remove(CollectionOfOne(x), 1) }
    convenience init(context: ManagedObjectContext, countryId: String, name: String, capital: String? = nil, areaSquareKilometres: Int64, population: Int64 = 0, currencyCode: String? = nil, currencyName: String? = nil, phone: String? = nil, languages: [String], continent: Continent) {
        self.init(inserting: context)
        self.countryId = countryId
        self.name = name
        self.capital = capital
        self.areaSquareKilometres = areaSquareKilometres
        self.population = population
        self.currencyCode = currencyCode
        self.currencyName = currencyName
        self.phone = phone
        self.languages = languages
        self.continent = continent
    }
}
struct CountryKeys: EntityKeys {
    typealias Object = Country
    let path: [String]
    init(path: [String] = []) { self.path = path }
    var countryId: AttributeKey<String> { AttributeKey(path + ["countryId"]) }
    var name: AttributeKey<String> { AttributeKey(path + ["name"]) }
    var capital: AttributeKey<String?> { AttributeKey(path + ["capital"]) }
    var areaSquareKilometres: AttributeKey<Int64> { AttributeKey(path + ["areaSquareKilometres"]) }
    var population: AttributeKey<Int64> { AttributeKey(path + ["population"]) }
    var currencyCode: AttributeKey<String?> { AttributeKey(path + ["currencyCode"]) }
    var currencyName: AttributeKey<String?> { AttributeKey(path + ["currencyName"]) }
    var phone: AttributeKey<String?> { AttributeKey(path + ["phone"]) }
    var continent: ToOneKey<ContinentKeys> { ToOneKey(path + ["continent"]) }
    var neighbours: ToManyKey<CountryKeys> { ToManyKey(path + ["neighbours"]) }
    var cities: ToManyKey<CityKeys> { ToManyKey(path + ["cities"]) }
}
extension ManagedObjectProtocol where Self: Country { static var keys: CountryKeys { CountryKeys() } }

class City: ManagedObject {
    override class var entityName: String { "City" }
    final var cityId: String { get { _value(0, \City.cityId) } set { _setValue(newValue, 0) } }
    final var name: String { get { _value(1, \City.name) } set { _setValue(newValue, 1) } }
    final var admin1: String? { get { _optionalValue(2, \City.admin1) } set { _setOptionalValue(newValue, 2) } }
    final var position: GeoPoint { get { _value(3, \City.position) } set { _setValue(newValue, 3) } }
    final var population: Int64 { get { _value(4, \City.population) } set { _setValue(newValue, 4) } }
    final var timeZone: String { get { _value(5, \City.timeZone) } set { _setValue(newValue, 5) } }
    final var alternateNames: [String] { get { _transformable(6, \City.alternateNames) } set { _setTransformable(newValue, 6) } }
    final var note: String? { get { _optionalValue(7, \City.note) } set { _setOptionalValue(newValue, 7) } }
    final var country: Country { get { _toOne(8, \City.country) } set { _setToOne(newValue, 8) } }
    convenience init(context: ManagedObjectContext, cityId: String, name: String, admin1: String? = nil, position: GeoPoint, population: Int64 = 0, timeZone: String, alternateNames: [String], note: String? = nil, country: Country) {
        self.init(inserting: context)
        self.cityId = cityId
        self.name = name
        self.admin1 = admin1
        self.position = position
        self.population = population
        self.timeZone = timeZone
        self.alternateNames = alternateNames
        self.note = note
        self.country = country
    }
}
struct CityKeys: EntityKeys {
    typealias Object = City
    let path: [String]
    init(path: [String] = []) { self.path = path }
    var cityId: AttributeKey<String> { AttributeKey(path + ["cityId"]) }
    var name: AttributeKey<String> { AttributeKey(path + ["name"]) }
    var admin1: AttributeKey<String?> { AttributeKey(path + ["admin1"]) }
    var position: AttributeKey<GeoPoint> { AttributeKey(path + ["position"]) }
    var population: AttributeKey<Int64> { AttributeKey(path + ["population"]) }
    var timeZone: AttributeKey<String> { AttributeKey(path + ["timeZone"]) }
    var note: AttributeKey<String?> { AttributeKey(path + ["note"]) }
    var country: ToOneKey<CountryKeys> { ToOneKey(path + ["country"]) }
}
extension ManagedObjectProtocol where Self: City { static var keys: CityKeys { CityKeys() } }

enum GazetteerModel: GeneratedModel {
    static let model = try! ManagedObjectModel(name: "Gazetteer", entities: [makeContinent(), makeCountry(), makeCity()])
    static let classes: [ManagedObject.Type] = [Continent.self, Country.self, City.self]
    static func makeContinent() -> Entity {
        var e = Entity(name: "Continent", location: nil)
        do { var a = Attribute("continentId", .string, optional: false); a.isUnique = true; a.isIndexed = false; e.attributes.append(a) }
        do { var a = Attribute("name", .string, optional: false); a.isUnique = false; a.isIndexed = false; e.attributes.append(a) }
        e.relationships.append(Relationship("countries", to: "Country", .toMany, inverse: "continent", deleteRule: .cascade))
        return e
    }
    static func makeCountry() -> Entity {
        var e = Entity(name: "Country", location: nil)
        do { var a = Attribute("countryId", .string, optional: false); a.isUnique = true; a.isIndexed = false; e.attributes.append(a) }
        do { var a = Attribute("name", .string, optional: false); a.isUnique = false; a.isIndexed = true; e.attributes.append(a) }
        do { var a = Attribute("capital", .string, optional: true); a.isUnique = false; a.isIndexed = false; e.attributes.append(a) }
        do { var a = Attribute("areaSquareKilometres", .integer64, optional: false); a.isUnique = false; a.isIndexed = false; e.attributes.append(a) }
        do { var a = Attribute("population", .integer64, optional: false, default: .value(.integer(0))); a.isUnique = false; a.isIndexed = true; e.attributes.append(a) }
        do { var a = Attribute("currencyCode", .string, optional: true); a.isUnique = false; a.isIndexed = false; e.attributes.append(a) }
        do { var a = Attribute("currencyName", .string, optional: true); a.isUnique = false; a.isIndexed = false; e.attributes.append(a) }
        do { var a = Attribute("phone", .string, optional: true); a.isUnique = false; a.isIndexed = false; e.attributes.append(a) }
        do { var a = Attribute("languages", .transformable("[String]"), optional: false); a.isUnique = false; a.isIndexed = false; e.attributes.append(a) }
        e.relationships.append(Relationship("continent", to: "Continent", .toOne, inverse: "countries", deleteRule: .nullify))
        e.relationships.append(Relationship("neighbours", to: "Country", .toMany, inverse: "neighbours", deleteRule: .nullify))
        e.relationships.append(Relationship("cities", to: "City", .toMany, inverse: "country", deleteRule: .deny))
        return e
    }
    static func makeCity() -> Entity {
        var e = Entity(name: "City", location: nil)
        do { var a = Attribute("cityId", .string, optional: false); a.isUnique = true; a.isIndexed = false; e.attributes.append(a) }
        do { var a = Attribute("name", .string, optional: false); a.isUnique = false; a.isIndexed = true; e.attributes.append(a) }
        do { var a = Attribute("admin1", .string, optional: true); a.isUnique = false; a.isIndexed = false; e.attributes.append(a) }
        do { var a = Attribute("position", .geoPoint, optional: false); a.isUnique = false; a.isIndexed = false; e.attributes.append(a) }
        do { var a = Attribute("population", .integer64, optional: false, default: .value(.integer(0))); a.isUnique = false; a.isIndexed = true; e.attributes.append(a) }
        do { var a = Attribute("timeZone", .string, optional: false); a.isUnique = false; a.isIndexed = false; e.attributes.append(a) }
        do { var a = Attribute("alternateNames", .transformable("[String]"), optional: false); a.isUnique = false; a.isIndexed = false; e.attributes.append(a) }
        do { var a = Attribute("note", .string, optional: true); a.isUnique = false; a.isIndexed = false; e.attributes.append(a) }
        e.relationships.append(Relationship("country", to: "Country", .toOne, inverse: "cities", deleteRule: .nullify))
        e.indexes.append(Index("country", "-population"))
        e.indexes.append(Index("position", kind: .spatial))
        return e
    }
}
