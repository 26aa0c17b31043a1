import CBench
import Foundation
import Strata

/// A figure that has no counterpart elsewhere.
struct MicroLine: Codable {
    let name: String
    let value: Double
    let unit: String
    /// The bound that the project sets itself; nil without one.
    let must: Double?
}

/// The cost of one read and one write of an attribute through generated accessors, and of opening a store and fetching
/// an object.
struct MicroLines {
    let folder: URL
    let n: Int
    /// How often each figure is taken; the median counts.
    private let repetitions = 7

    func measure() throws -> [MicroLine] {
        let path = folder.appending(path: "trial-micro.sqlite").path
        StoreFiles.remove(path)
        try FileManager.default.copyItem(
            atPath: StoreFiles(folder: folder).base(StrataContender.family, cities: n), toPath: path)
        defer { StoreFiles.remove(path) }
        let startUp = try startUpMilliseconds(path)
        let container = try StrataContender.open(path)
        let context = container.newContext()
        // Few enough to stay in the cache: what counts here is the accessor, not the memory after it.
        let cities = try context.fetch(FetchRequest<City>(sortedBy: [City.keys.population.descending], limit: 1_000))
        var lines: [MicroLine] = []
        var sink: Int64 = 0
        lines.append(
            MicroLine(
                name: "read a number", value: nanoseconds(cities) { sink &+= $0.population }, unit: "ns", must: 25))
        lines.append(
            MicroLine(
                name: "read a string", value: nanoseconds(cities) { sink &+= Int64($0.name.utf8.count) }, unit: "ns",
                must: 25))
        lines.append(
            MicroLine(
                name: "read a date",
                value: nanoseconds(cities) { sink &+= Int64($0.updatedAt.timeIntervalSinceReferenceDate) }, unit: "ns",
                must: 25))
        for city in cities { city.population += 1 }
        lines.append(
            MicroLine(name: "write a number", value: nanoseconds(cities) { $0.population = sink }, unit: "ns", must: 60)
        )
        lines.append(
            MicroLine(name: "write a string", value: nanoseconds(cities) { $0.name = "Città" }, unit: "ns", must: 60))
        context.rollback()
        lines.append(MicroLine(name: "open a store and fetch one object", value: startUp, unit: "ms of CPU", must: 5))
        lines += try LiveLines(folder: folder, n: n).measure()
        return lines
    }

    private func nanoseconds(_ cities: [City], _ body: (City) -> Void) -> Double {
        let passes = 100
        for city in cities { body(city) }
        let times = (0..<repetitions).map { _ in
            let start = bench_cpu_ns()
            for _ in 0..<passes { for city in cities { body(city) } }
            return Double(bench_cpu_ns() - start) / Double(passes * cities.count)
        }
        return median(times) ?? 0
    }

    private func startUpMilliseconds(_ path: String) throws -> Double {
        let times = try (0..<repetitions).map { _ in
            let start = bench_cpu_ns()
            let container = try StrataContender.open(path)
            let city = try container.newContext().fetchFirst(
                FetchRequest<City>(sortedBy: [City.keys.population.descending]))
            guard let city, !city.name.isEmpty else { throw BenchError("the store at \(path) is empty") }
            let time = Double(bench_cpu_ns() - start) / 1e6
            container.close()
            return time
        }
        return median(times) ?? 0
    }
}
