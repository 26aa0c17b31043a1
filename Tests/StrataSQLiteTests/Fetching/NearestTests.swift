import Foundation
import SeededRandom
import StrataStore
import Testing

@testable import StrataSQLite

/// The nearest first, by a circle that grows in the R*Tree, against sorting all in memory.
@Suite struct NearestTests {
    /// A store whose points are in an R*Tree, with `name` to choose some of them.
    static func store(_ options: SQLiteStore.Options = .init()) throws -> SQLiteStore {
        var entity = Entity(name: "Spot", location: nil)
        entity.attributes = [
            Attribute("name", .string, optional: true), Attribute("place", .geoPoint, optional: true).indexed(),
        ]
        let model = try ManagedObjectModel(name: "Nearest", entities: [entity])
        return try SQLiteStore.open(model: model, location: .memory(name: nil), options: options)
    }

    static func insert(_ points: [(GeoPoint?, String)], into store: SQLiteStore) throws {
        let entity = try store.entity("Spot")
        let slots = ["name", "place"].compactMap { entity.slot(named: $0) }
        try #require(slots.count == 2)
        var builder = RowBatchBuilder(expectedRows: points.count)
        for (index, (point, name)) in points.enumerated() {
            builder.beginRow(entity: entity, key: Int64(index + 1), version: 1)
            builder.set(.string(name), slots[0])
            if let point { builder.set(.geoPoint(point), slots[1]) }
            builder.endRow()
        }
        var changes = ChangeSet()
        changes.inserts = builder.finish().rows.map { .init(row: $0) }
        guard case .committed = try store.commit(changes) else { throw MissingName(name: "a commit") }
    }

    /// The keys that memory finds, nearest first and by key where the distance is the same.
    static func expected(_ points: [(GeoPoint?, String)], _ plan: FetchPlan) throws -> [Int64] {
        var found: [(Double, Int64)] = []
        for (index, (point, name)) in points.enumerated() {
            let object = Value.composite(["name": .string(name), "place": point.map(Value.geoPoint) ?? .null])
            guard let predicate = plan.predicate, try predicate.evaluate(on: object),
                case .double(let distance)? = try predicate.nearestFirst?.evaluate(on: object)
            else { continue }
            found.append((distance, Int64(index + 1)))
        }
        found.sort { $0 < $1 }
        return found.dropFirst(plan.offset).prefix(plan.limit ?? .max).map(\.1)
    }

    /// Points that crowd, lie at the poles and at the 180° meridian, lie on each other, or are invalid.
    private static func point(_ random: inout SplitMix64) -> GeoPoint? {
        let fine = { (center: Double, random: inout SplitMix64) in
            center + Double.random(in: -0.01...0.01, using: &random)
        }
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return nil
        case 1: return GeoPoint(latitude: 91, longitude: 10)
        case 2: return GeoPoint(latitude: [90, -90].randomElement(using: &random)!, longitude: fine(0, &random) * 1000)
        case 3: return GeoPoint(latitude: fine(89.98, &random), longitude: .random(in: -180...180, using: &random))
        case 4: return GeoPoint(latitude: fine(-16, &random), longitude: [180, -180].randomElement(using: &random)!)
        case 5: return GeoPoint(latitude: fine(-16, &random), longitude: 179.99 + .random(in: 0...0.01, using: &random))
        case 6: return GeoPoint(latitude: fine(-16, &random), longitude: -180 + .random(in: 0...0.01, using: &random))
        case 7, 8: return GeoPoint(latitude: fine(48.86, &random), longitude: fine(2.35, &random))
        case 9: return GeoPoint(latitude: 48.86, longitude: 2.35)
        default:
            return GeoPoint(
                latitude: .random(in: -90...90, using: &random), longitude: .random(in: -180...180, using: &random))
        }
    }

    @Test func nearestAgreeWithMemory() throws {
        let seed = RunSeed.value()
        print("nearestAgreeWithMemory: seed \(seed)")
        var random = SplitMix64(seed: seed)
        for _ in 0..<8 {
            let store = try Self.store()
            let points = (0..<Int.random(in: 0...400, using: &random)).map { _ in
                (Self.point(&random), ["a", "b", "c"].randomElement(using: &random)!)
            }
            try Self.insert(points, into: store)
            for _ in 0..<40 {
                let center = Self.point(&random) ?? GeoPoint(latitude: 0, longitude: 0)
                let near = FetchPredicate.geo(
                    .near(
                        .keyPath(["place"]), .constant(.geoPoint(center)),
                        earthRadius: [GeoCondition.meanEarthRadius, 1].randomElement(using: &random)!))
                let isA = try FetchPredicate(format: "name == 'a'")
                let box = try FetchPredicate(format: "NOT withinKilometers(place, {48.86, 2.35}, 100)")
                var plan = FetchPlan(entityIndex: 0)
                plan.predicate = [near, .and([isA, near]), .and([box, .and([near, isA])])].randomElement(using: &random)
                plan.limit = [0, 1, 2, 7, 50, 1000].randomElement(using: &random)
                plan.offset = [0, 0, 1, 9].randomElement(using: &random)!
                let expected = try Self.expected(points, plan)
                #expect(try store.fetchKeys(plan) == expected, "seed \(seed), \(plan)")
                #expect(try store.fetch(plan).rows.map { $0.row.key } == expected, "seed \(seed), \(plan)")
            }
        }
    }

    /// How much is looked at depends on how many are requested, not on how many there are.
    @Test func fewAreLookedAt() throws {
        var steps: [Int] = []
        for count in [5_000, 40_000] {
            let log = TraceLog()
            var options = SQLiteStore.Options()
            options.trace = log.hook
            let store = try Self.store(options)
            var random = SplitMix64(seed: 5)
            let points = (0..<count).map { _ in
                (
                    Optional(
                        GeoPoint(
                            latitude: .random(in: -80...80, using: &random),
                            longitude: .random(in: -180...180, using: &random))), "a"
                )
            }
            try Self.insert(points, into: store)
            log.clear()
            var plan = FetchPlan(entityIndex: 0)
            plan.predicate = try FetchPredicate(format: "near(place, {12, 179.9})")
            plan.limit = 10
            #expect(try store.fetchKeys(plan) == Self.expected(points, plan))
            #expect(log.statements.allSatisfy { $0.work.fullScanSteps == 0 })
            steps.append(log.statements.reduce(0) { $0 + $1.work.machineSteps })
            // Without a limit all are read.
            plan.limit = nil
            #expect(try store.fetchKeys(plan).count == count)
        }
        #expect(steps[1] < 2 * steps[0], "\(steps)")
        #expect(steps[1] < 40_000, "\(steps)")
    }

    @Test func thePlanSearchesTheTree() throws {
        let store = try Self.store()
        var plan = FetchPlan(entityIndex: 0)
        plan.predicate = try FetchPredicate(format: "near(place, {1, 2})")
        plan.limit = 3
        let steps = try store.explain(plan).steps
        #expect(steps.contains { $0.contains("SEARCH t0 USING INTEGER PRIMARY KEY") }, "\(steps)")
        #expect(!steps.contains { $0.hasPrefix("SCAN t0") }, "\(steps)")
        plan.sorts = [FetchSort("name")]
        #expect(try store.explain(plan).steps.contains { $0.hasPrefix("SCAN t0") })
    }
}
