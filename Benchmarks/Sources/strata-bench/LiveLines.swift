import CBench
import Foundation
import Strata

/// What live results, contexts that are pinned, and bulk operations cost.
struct LiveLines {
    let folder: URL
    let n: Int
    private let repetitions = 7

    func measure() throws -> [MicroLine] {
        let path = folder.appending(path: "trial-live.sqlite").path
        try copyStore(to: path)
        defer { StoreFiles.remove(path) }
        let container = try StrataContender.open(path)
        defer { container.close() }
        let context = container.newContext(automaticallyMergesChanges: true)
        let tags = try context.fetch(FetchRequest<Tag>())
        let alone = boundaries(context, tags) { $0.label = $0.label == "a" ? "b" : "a" }
        let live = try context.live(FetchRequest<City>(sortedBy: [City.keys.population.descending]))
        let unrelated = boundaries(context, tags) { $0.label = $0.label == "a" ? "b" : "a" }
        let stride = max(1, live.count / 1_000)
        let cities = (0..<min(1_000, live.count)).map { live[$0 * stride] }
        var population: Int64 = 0
        // Each moves to another place.
        let moved = boundaries(context, cities) { city in
            population = (population &+ 7_919) % 1_000_000
            city.population = population
        }
        let renamed = boundaries(context, cities) { $0.name = $0.name == "x" ? "y" : "x" }
        context.rollback()
        return [
            MicroLine(
                name: "move one in a live result of \(live.count.formatted())", value: moved / 1_000, unit: "µs",
                must: 50),
            MicroLine(name: "rename one in it", value: renamed / 1_000, unit: "µs", must: 50),
            MicroLine(
                name: "a change that is unrelated to it", value: max(0, unrelated - alone) / 1_000, unit: "µs", must: 1),
            MicroLine(name: "mark 50,000 as read", value: try bulkTimesRaw(), unit: "× raw SQL", must: 1.1),
            MicroLine(name: "pin a context to a version", value: try pinMicroseconds(container), unit: "µs", must: nil),
        ]
    }

    private func copyStore(to path: String) throws {
        StoreFiles.remove(path)
        try FileManager.default.copyItem(
            atPath: StoreFiles(folder: folder).base(StrataContender.family, cities: n), toPath: path)
    }

    /// The time of a change and the boundary after it, in nanoseconds of CPU.
    private func boundaries<Object: ManagedObject>(
        _ context: ManagedObjectContext, _ objects: [Object], _ change: (Object) -> Void
    ) -> Double {
        let times = (0..<repetitions).map { _ in
            let start = bench_cpu_ns()
            for object in objects {
                change(object)
                context.processPendingChanges()
            }
            return Double(bench_cpu_ns() - start) / Double(objects.count)
        }
        return median(times) ?? 0
    }

    /// A bulk update of 50,000 objects against the statement that a careful programmer writes on a copy of the same file.
    private func bulkTimesRaw() throws -> Double {
        let count = min(50_000, n)
        let ratios = try (0..<repetitions).map { number in
            let mine = folder.appending(path: "trial-bulk.sqlite").path
            let raw = folder.appending(path: "trial-bulk-raw.sqlite").path
            try copyStore(to: mine)
            try copyStore(to: raw)
            defer {
                StoreFiles.remove(mine)
                StoreFiles.remove(raw)
            }
            for path in [mine, raw] {
                let database = try RawDatabase(path)
                try database.execute("PRAGMA foreign_keys = OFF")
                try database.execute(
                    "DELETE FROM city WHERE _id NOT IN (SELECT _id FROM city ORDER BY _id LIMIT \(count))")
            }
            let database = try RawDatabase(raw)
            let rawStart = bench_cpu_ns()
            try database.execute("UPDATE city SET timezone = 'read \(number)', _version = _version + 1")
            let rawTime = Double(bench_cpu_ns() - rawStart)
            let expected = try database.integer("SELECT count(*) FROM city WHERE timezone = 'read \(number)'")
            let container = try StrataContender.open(mine)
            defer { container.close() }
            let context = container.newContext()
            // Opens the connections, as raw has.
            _ = try context.fetchFirst(FetchRequest<City>())
            _ = try context.update(City.where { $0.population < 0 }) { $0.population = 0 }
            let start = bench_cpu_ns()
            let changed = try context.update(FetchRequest<City>()) { $0.timezone = .value("read \(number)") }
            let time = Double(bench_cpu_ns() - start)
            guard changed == Int(expected) else { throw BenchError("\(changed) were marked, not \(expected)") }
            return time / rawTime
        }
        return median(ratios) ?? 0
    }

    private func pinMicroseconds(_ container: PersistentContainer) throws -> Double {
        let context = container.newContext()
        let times = try (0..<repetitions).map { _ in
            let start = bench_cpu_ns()
            try context.pin()
            return Double(bench_cpu_ns() - start) / 1_000
        }
        return median(times) ?? 0
    }
}
