import Foundation
import StrataSQLite
import Testing

/// Conditions on points, over the R*Tree and without one.
@Suite struct GeoTests {
    let store: SQLiteStore

    static let places: [(String, Double, Double)] = [
        ("Paris", 48.8566, 2.3522), ("London", 51.5074, -0.1278), ("Suva", -18.1416, 178.4419),
        ("Apia", -13.8333, -171.7667), ("Alert", 82.5018, -62.3481), ("Barneo", 89.5, 105),
        ("Quito", -0.1807, -78.4678),
    ]

    init() throws {
        func entity(_ name: String, _ change: (Attribute) -> Attribute) -> Entity {
            var entity = Entity(name: name, location: nil)
            entity.attributes = [
                Attribute("name", .string), change(Attribute("place", .geoPoint, optional: true)),
            ]
            return entity
        }
        let model = try ManagedObjectModel(
            name: "Geo", entities: [entity("Plain") { $0 }, entity("Indexed") { $0.indexed() }])
        store = try SQLiteStore.open(model: model, location: .memory(name: nil))
        for name in ["Plain", "Indexed"] {
            try store.insert((name, 100, ["name": "Nowhere"]))
            for (index, place) in Self.places.enumerated() {
                let point = GeoPoint(latitude: place.1, longitude: place.2)
                try store.insert((name, Int64(index + 1), ["name": .string(place.0), "place": .geoPoint(point)]))
            }
        }
    }

    func names(_ format: String) throws -> [String] {
        let predicate = try FetchPredicate(format: format)
        let found = try ["Plain", "Indexed"].map { entity in
            try store.keys(entity, predicate).map { $0 == 100 ? "Nowhere" : Self.places[Int($0) - 1].0 }
        }
        #expect(found[0] == found[1], "\(format)")
        return found[1]
    }

    @Test func pointsWithinADistance() throws {
        // London and Paris are 343.6 km apart (haversine, R = 6371.0088 km).
        #expect(try names("withinKilometers(place, {48.8566, 2.3522}, 343)") == ["Paris"])
        #expect(try names("withinKilometers(place, {48.8566, 2.3522}, 344)") == ["Paris", "London"])
        #expect(try names("withinMiles(place, {48.8566, 2.3522}, 214)") == ["Paris", "London"])
        #expect(try names("withinRadians(place, {48.8566, 2.3522}, 0.0539)") == ["Paris"])
        #expect(try names("withinRadians(place, {48.8566, 2.3522}, 0.05395)") == ["Paris", "London"])
        #expect(try names("withinKilometers(place, {48.8566, 2.3522}, 343, 6350)") == ["Paris", "London"])
        #expect(try names("withinKilometers(place, {48.8566, 2.3522}, -1)").isEmpty)
        #expect(try names("NOT withinKilometers(place, {0, 0}, 30000)") == ["Nowhere"])
        // Over the 180° meridian and over the pole.
        #expect(try names("withinKilometers(place, {-16, -179}, 1000)") == ["Suva", "Apia"])
        #expect(try names("withinKilometers(place, {89, -75}, 800)") == ["Alert", "Barneo"])
    }

    @Test func pointsInABox() throws {
        #expect(try names("withinBox(place, {-20, 170}, {-10, -170})") == ["Suva", "Apia"])
        #expect(try names("withinBox(place, {-20, -180}, {-10, -170})") == ["Apia"])
        #expect(try names("withinBox(place, {48.8566, 2.3522}, {48.8566, 2.3522})") == ["Paris"])
        #expect(try names("withinBox(place, {80, -180}, {90, 180})") == ["Alert", "Barneo"])
        #expect(try names("withinBox(place, {10, 0}, {-10, 10})").isEmpty)
        #expect(try names("NOT withinBox(place, {-90, -180}, {90, 180})") == ["Nowhere"])
        #expect(try names("withinBox(place, {-90, -180}, {91, 180})").isEmpty)
    }

    @Test func nearestComeFirst() throws {
        #expect(
            try names("near(place, {51, 0})") == ["London", "Paris", "Alert", "Barneo", "Quito", "Apia", "Suva"])
        #expect(try names("name != 'Paris' AND near(place, {48, 2}) AND name != 'Suva'").first == "London")
        var plan = FetchPlan(entityIndex: try store.entity("Indexed").index)
        plan.predicate = try FetchPredicate(format: "near(place, {51, 0})")
        plan.limit = 2
        #expect(try store.fetchKeys(plan) == [2, 1])
        plan.sorts = [FetchSort("name", ascending: false)]
        #expect(try store.fetch(plan).rows.map { $0.row.key } == [3, 7])
    }

    @Test func whatIsNoPointIsRefused() throws {
        for format in ["near(name, {1, 2})", "near(place, 5)", "withinKilometers(place, {1, 2}, 'x')"] {
            #expect(throws: StoreError.self) { try names(format) }
        }
        #expect(try names("near(place, nil)").isEmpty)
        #expect(try names("near(place, {100, 0})").isEmpty)
    }
}
