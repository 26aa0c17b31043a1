import Foundation
import GraphWorld
import SeededRandom
import Strata
import StrataTesting
import Testing

/// `STRATA_RUNS=1000` tries so many seeds, from `STRATA_SEED` on.
@Suite struct SeveralStoresRandomTests {
    /// Everything that contexts can do, against a store that has all entities at other positions than the container.
    @Test("Random commands do the same over a store whose model has the entities in another order")
    func otherPositions() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-order-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("world.sqlite").path
        let driver = try WorldDriver(seed: 8_100_000, place: path) { model in
            let reversed = try ManagedObjectModel(
                name: model.name, naming: model.naming, entities: model.entities.map(\.declaration).reversed())
            let description = PersistentStoreDescription { (_) throws(StoreError) in
                var options = SQLiteStore.Options()
                options.externalStorageThreshold = WorldDriver.largestInlineCover
                return try SQLiteStore.open(model: reversed, location: .file(path: path), options: options)
            }
            return try PersistentContainer(model: model, stores: [description]).store
        }
        do {
            try driver.run(steps: 1_500, fullCheckEvery: 20)
        } catch {
            Issue.record("\(error)")
        }
    }

    /// The same commands on one store and on two, by names, because keys may differ.
    @Test("Random commands on two stores give what they give on one", arguments: RunSeed.seeds(3, from: 910_001))
    func twoAndOne(seed: UInt64) throws {
        print("several stores: seed \(seed)")
        let files = try TravelFiles()
        let one = Half(try PersistentContainer(Travel.self, at: .memory(name: nil)))
        let two = Half(files.container)
        var random = SplitMix64(seed: seed)
        for step in 0..<600 {
            let command = Command(&random, step)
            let fails = random.oneIn(12)
            if case .save = command, fails {
                // The save of both stores fails half-way, and is completed by the next one.
                files.visits.fail([.commit], with: .locked(path: "visits.sqlite"))
                try? two.run(command)
                files.visits.recover()
            }
            try one.run(command)
            try two.run(command)
            if step % 5 == 0 {
                let (a, b) = try (one.dump(one.context), two.dump(two.context))
                try #require(a == b, "seed \(seed), step \(step), \(command)")
            }
            if case .save = command {
                let (a, b) = try (one.dump(one.container.newContext()), two.dump(two.container.newContext()))
                try #require(a == b, "seed \(seed), step \(step), in the stores")
            }
        }
        #expect(try !one.dump(one.context).isEmpty)
    }

    private enum Command {
        case region(String)
        case town(String, Int)
        case village(String, Int)
        case visit(String, Int)
        case label(String)
        case visits(Int, Int)
        case labels(Int, Int)
        case refer(Int, Int)
        case populate(Int, Int64)
        case rename(Int, String)
        case deleteSpot(Int)
        case deleteVisit(Int)
        case deleteRegion(Int)
        case bulk(Int64)
        case save, rollback
        case child(String, Int)

        init(_ random: inout SplitMix64, _ step: Int) {
            let (a, b) = (random.below(100), random.below(100))
            switch random.below(20) {
            case 0: self = .region("r\(step)")
            case 1, 2: self = .town("t\(step)", a)
            case 3: self = .village("v\(step)", a)
            case 4, 5: self = .visit("n\(step)", a)
            case 6: self = .label("l\(step)")
            case 7: self = .visits(a, b)
            case 8: self = .labels(a, b)
            case 9: self = .refer(a, b)
            case 10: self = .populate(a, Int64(b))
            case 11: self = .rename(a, "x\(step)")
            case 12: self = .deleteSpot(a)
            case 13: self = .deleteVisit(a)
            case 14: self = b < 30 ? .deleteRegion(a) : .child("c\(step)", a)
            case 15: self = .bulk(Int64(a))
            case 16: self = b < 30 ? .rollback : .save
            default: self = .save
            }
        }
    }

    /// One of the two containers, with the context that the commands work in.
    private final class Half {
        let container: PersistentContainer
        let context: ManagedObjectContext

        init(_ container: PersistentContainer) {
            self.container = container
            context = container.newContext()
            context.mergePolicy = .objectWinsByProperty
        }

        private func pick<T: ManagedObject>(_: T.Type, _ number: Int, _ name: String) throws -> T? {
            let all = try context.fetch(FetchRequest<T>(sortedBy: [FetchSort(name)]))
            return all.isEmpty ? nil : all[number % all.count]
        }

        func run(_ command: Command) throws {
            switch command {
            case .region(let code): _ = Region(context, code)
            case .town(let name, let region): _ = Town(context, name, try pick(Region.self, region, "code"))
            case .village(let name, let region): _ = Village(context, name, try pick(Region.self, region, "code"))
            case .visit(let note, let spot): _ = Visit(context, note, try pick(Spot.self, spot, "name"))
            case .label(let text): _ = Label(context, text)
            case .visits(let visit, let number):
                let traveller = try pick(Traveller.self, number, "name") ?? Traveller(context, "t\(number)")
                if let visit = try pick(Visit.self, visit, "note"), !traveller.visits.contains(visit) {
                    traveller.visits.insert(visit, at: number % (traveller.visits.count + 1))
                }
            case .labels(let visit, let label):
                guard let visit = try pick(Visit.self, visit, "note"), let label = try pick(Label.self, label, "text")
                else { return }
                if visit.labels.contains(label) { visit.labels.remove(label) } else { visit.labels.insert(label) }
            case .refer(let visit, let spot):
                try pick(Visit.self, visit, "note")?.spot = try pick(Spot.self, spot, "name").map(ObjectReference.init)
            case .populate(let spot, let count): try pick(Spot.self, spot, "name")?.population = count
            case .rename(let spot, let name): try pick(Spot.self, spot, "name")?.name = name
            case .deleteSpot(let number): try pick(Spot.self, number, "name").map { context.delete($0) }
            case .deleteVisit(let number): try pick(Visit.self, number, "note").map { context.delete($0) }
            case .deleteRegion(let number): try pick(Region.self, number, "code").map { context.delete($0) }
            case .bulk(let count):
                guard !context.hasChanges else { return }
                try context.update(FetchRequest<Spot>(where: FetchPredicate(format: "population < %@", count))) {
                    $0.population += 1
                }
            case .save: try context.save()
            case .rollback: context.rollback()
            case .child(let name, let spot):
                let child = context.makeChild()
                let town = Town(child, name)
                _ = Visit(child, name, town)
                if let id = try pick(Spot.self, spot, "name")?.objectID {
                    try child.existingObject(Spot.self, with: id).population += 1
                }
                try child.save()
            }
        }

        func dump(_ context: ManagedObjectContext) throws -> [String] {
            var lines: [String] = []
            for spot in try context.fetch(FetchRequest<Spot>(sortedBy: [FetchSort("name")])) {
                lines.append("\(type(of: spot)) \(spot.name) \(spot.population) \(spot.region?.code ?? "-")")
            }
            for region in try context.fetch(FetchRequest<Region>(sortedBy: [FetchSort("code")])) {
                lines.append("Region \(region.code): \(region.spots.map(\.name).sorted())")
            }
            let visits = try context.fetch(FetchRequest<Visit>(sortedBy: [FetchSort("note")]))
            let spots = try context.resolve(visits.compactMap(\.spot))
            for visit in visits {
                let spot = visit.spot.flatMap { spots[$0] }
                lines.append(
                    "Visit \(visit.note) \(spot?.name ?? "-") \(visit.traveller?.name ?? "-") "
                        + "\(visit.labels.map(\.text).sorted())")
            }
            for traveller in try context.fetch(FetchRequest<Traveller>(sortedBy: [FetchSort("name")])) {
                lines.append("Traveller \(traveller.name): \(traveller.visits.map(\.note))")
            }
            for label in try context.fetch(FetchRequest<Label>(sortedBy: [FetchSort("text")])) {
                lines.append("Label \(label.text): \(label.visits.map(\.note).sorted())")
            }
            return lines
        }
    }
}
