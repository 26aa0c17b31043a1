import CCounters
import Foundation
import Strata

/// One case at one size.
struct Run {
    let item: Case
    let size: Int
    let folder: URL

    /// Counts what SQLite does in a first pass, and memory and retains in a second one, for which nothing listens to the
    /// statements.
    func count() throws {
        let units = item.units.count(size)
        report("units", units)
        let statistics = StatementStatistics()
        var options = SQLiteStore.Options()
        options.trace = statistics.record
        try pass(options) { _ in
            statistics.clear()
        } after: { _ in
            let work = statistics.work
            report("statements", statistics.runs)
            report("steps", work.machineSteps)
            report("fullScanSteps", work.fullScanSteps)
            report("sorts", work.sorts)
            report("automaticIndexRows", work.automaticIndexRows)
        }
        var allocations = 0
        var bytes = 0
        var retains = 0
        try pass { _ in
            (allocations, bytes, retains) = (allocation_count(), heap_bytes(), retain_count())
        } after: { _ in
            let now = (allocation_count(), heap_bytes(), retain_count())
            // Below zero: uncounted here.
            if allocations >= 0 { report("allocations", now.0 - allocations) }
            if bytes >= 0 { report("bytes", now.1 - bytes) }
            if retains >= 0 { report("retains", now.2 - retains) }
        }
    }

    /// Measures a pass after one that nobody measures, or, under callgrind, the first one.
    func time() throws {
        report("units", item.units.count(size))
        var options = SQLiteStore.Options()
        // The whole file: otherwise, the work of SQLite when the file outgrows its cache would hide Strata's. A reader drops its
        // cache after each commit of others, so in cases about a few changes a large one would cost more than it saves.
        if case .each = item.units { options.cacheSize = 2 << 20 }
        var start = 0
        try pass(options) { _ in
            begin_instructions()
            start = cpu_nanoseconds()
        } after: { _ in
            let end = cpu_nanoseconds()
            end_instructions()
            report("nanoseconds", end - start)
        }
    }

    /// Measures what is left of a pass once everything it made is gone. What the first passes leave is kept for good
    /// reason: metadata of types, caches of the system's library. Of the later ones the median counts, since a table
    /// that all share may happen to grow in one of them.
    func leaks() throws {
        report("units", item.units.count(size))
        guard heap_bytes() >= 0 else { return }
        var left: [Int] = []
        for _ in 0..<7 {
            let before = heap_bytes()
            try pass { _ in
            } after: { _ in
            }
            left.append(heap_bytes() - before)
        }
        report("leaked", left.suffix(5).sorted()[2])
    }

    private func report(_ what: String, _ number: Int) { print("\(item.name)\t\(what)\t\(number)") }

    private func pass(
        _ options: SQLiteStore.Options = SQLiteStore.Options(), before: (Stage) -> Void, after: (Stage) -> Void
    ) throws {
        let path = folder.appending(path: "run-\(ProcessInfo.processInfo.processIdentifier).sqlite").path
        Self.remove(path)
        defer { Self.remove(path) }
        try FileManager.default.copyItem(atPath: try base(), toPath: path)
        let container = try PersistentContainer(GatesModel.self, at: .file(path: path), options: options)
        defer { container.close() }
        let stage = Stage(container: container, size: size)
        let body = try item.prepare(stage)
        before(stage)
        let result = try body()
        withExtendedLifetime(result) { after(stage) }
    }

    private static func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    /// The store that the case begins with; made once for all that begin the same way.
    private func base() throws -> String {
        let grows = item.start != .empty && item.start != .places
        let path = folder.appending(path: "\(item.start.rawValue)-\(grows ? size : 0).sqlite").path
        guard !FileManager.default.fileExists(atPath: path) else { return path }
        let temporary = path + "-\(ProcessInfo.processInfo.processIdentifier)"
        Self.remove(temporary)
        let container = try PersistentContainer(GatesModel.self, at: .file(path: temporary))
        let context = container.newContext()
        switch item.start {
        case .empty: break
        case .places, .cities, .taggedCities: try makePlaces(in: context)
        case .chain: try Case.makeChain(0..<size, in: context)
        case .chains:
            try Case.makeChain(0..<size / 2, in: context)
            try Case.makeChain(size / 2..<size, in: context)
        case .stairs: try Case.makeStairs(size, in: context)
        case .tree: try Case.makeTree(size, in: context)
        }
        container.close()
        try FileManager.default.moveItem(atPath: temporary, toPath: path)
        return path
    }

    private func makePlaces(in context: ManagedObjectContext) throws {
        let countries = (0..<DataSet.countryCount).map { number in
            Country(
                context: context, code: DataSet.countryCode(number), name: "Country \(number)",
                population: Int64(number) * 1_000)
        }
        let tags = (0..<100).map { Tag(context: context, tagId: Int64($0), label: "tag \($0)") }
        if item.start != .places {
            let data = DataSet(count: size)
            for position in 0..<size {
                let city = data.make(position, in: context, countries)
                if item.start == .taggedCities { city.addToTags(DataSet.tags(ofCityAt: position).map { tags[$0] }) }
            }
        }
        try context.save()
    }
}
