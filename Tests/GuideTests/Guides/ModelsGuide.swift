import Foundation
import Strata

/// The examples of Documentation/Models.md.
enum ModelsGuide {
    static func classes(_ path: String) throws -> (City, FetchPredicate, PersistentContainer) {
        let container = try PersistentContainer(AtlasModel.self, at: .file(path: path))
        let context = container.newContext()
        let peru = Country(context: context, countryId: "PE", name: "Peru")
        let lima = City(
            context: context, name: "Lima", position: GeoPoint(latitude: -12.04, longitude: -77.03), isPort: true,
            country: peru)
        let condition = City.keys.population > 1_000_000 && City.keys.country.name == "Peru"
        try context.save()
        return (lima, condition, container)
    }

    static func model() throws -> ManagedObjectModel {
        let model = try ManagedObjectModel(
            name: "Atlas",
            fetches: [
                FetchTemplate(
                    "largeCities", of: "City", where: "population >= $minimum", sortedBy: "-population", limit: 10)
            ]
        ) {
            Entity("Country") {
                Attribute("name", .string).unique()
                Relationship("cities", to: "City", .toMany, inverse: "country", deleteRule: .deny)
            }
            Entity("City") {
                Attribute("name", .string).length(1...80).indexed()
                Attribute("population", .integer64, default: .value(0)).range(0...)
                Relationship("country", to: "Country", .toOne, inverse: "cities")
                FetchedProperty(
                    "neighbours", of: "City",
                    where: "country == $FETCH_SOURCE.country AND SELF != $FETCH_SOURCE", sortedBy: "name")
                Index("country", "-population")
            }
            Entity("Capital", inherits: "City")
        }
        return model
    }
}

class Sight: SightBase {
    override func awakeFromInsert() {
        super.awakeFromInsert()
        added = .now
    }
}

extension City {
    var label: String { "\(name), \(country.name)" }
}

final class Boat: ManagedObject {
    override class var entityName: String { "Boat" }
    /// For conditions and orders.
    static let length = AttributeKey<Double>(TypedPath([]), "length")

    var name: String {
        get { self["name"] as? String ?? "" }
        set { self["name"] = newValue }
    }
    var length: Double {
        get { self["length"] as? Double ?? 0 }
        set { self["length"] = newValue }
    }
}

func longBoats(at path: String) throws -> [Boat] {
    let model = try ManagedObjectModel(name: "Boats") {
        Entity("Boat") {
            Attribute("name", .string)
            Attribute("length", .double)
        }
    }
    let container = try PersistentContainer(model: model, classes: [Boat.self], at: .file(path: path))
    let context = container.newContext()
    let boat = Boat(inserting: context)
    boat.name = "Uros"
    boat.length = 12
    try context.save()
    return try context.fetch(FetchRequest<Boat>(where: Boat.length > 10))
}
