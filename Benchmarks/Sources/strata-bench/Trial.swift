import CBench
import Foundation

/// What a contender needs for one trial.
struct Bench {
    let data: DataSet
    /// The file to work on: a fresh copy if the workload writes.
    let path: String
    let workload: Workload
    /// What should outlive the body so that its memory can be counted; empty in timed trials.
    let keeper: Keeper
}

/// Holds what a body made.
final class Keeper {
    var isKeeping = false
    private(set) var values: [Any] = []
    func keep(_ value: Any) {
        if isKeeping { values.append(value) }
    }
}

/// One run, ready to start: everything that is not measured is done.
struct Trial {
    /// The measured part.
    /// - Returns: The check value, on which all contenders must agree.
    let body: () throws -> Int64
    /// Measured nowhere: another check value, of what the file holds afterwards.
    var verify: () throws -> Int64 = { 0 }
}

/// A way to keep cities in SQLite.
protocol Contender {
    /// The name in results and on the command line.
    static var name: String { get }
    /// The stem of the files that are made once and copied.
    static var family: String { get }
    /// Makes the file that the reading workloads read, and, without cities, the one that the inserting ones begin with.
    static func makeStore(at path: String, data: DataSet, cities: Bool) throws
    /// Prepares a run; nil for what the contender cannot do yet.
    static func trial(_ bench: Bench) throws -> Trial?
}

/// The measurements of one process.
struct Sample: Codable {
    var workload: Workload
    var contender: String
    var n: Int
    /// Milliseconds, one value a timed run.
    var cpu: [Double] = []
    var wall: [Double] = []
    var peakKiB: Int64 = 0
    var bytesPerObject: Double?
    var statements: Int64 = 0
    var check: Int64 = 0
    /// Why there is nothing to report.
    var skipped: String?
}

/// Runs one contender on one workload: a warm-up that counts statements and memory, then the timed runs, which count
/// nothing.
struct Runner {
    let folder: URL
    let warmsUp: Bool
    let runs: Int

    func run(_ contender: any Contender.Type, _ workload: Workload, n: Int) throws -> Sample {
        // Workloads that need no data leave them out of the memory.
        let data = try DataSet(folder: folder, count: workload.needsData ? n : 0)
        bench_forget_peak()
        var sample = Sample(workload: workload, contender: contender.name, n: n)
        for round in 0..<(runs + (warmsUp ? 1 : 0)) {
            let isWarmUp = warmsUp && round == 0
            let path = try file(of: contender, workload, n: n)
            defer { if workload.writes { remove(path) } }
            let keeper = Keeper()
            keeper.isKeeping = isWarmUp && workload == .w3
            if isWarmUp { bench_count_statements() }
            defer { if isWarmUp { bench_stop_counting() } }
            guard let trial = try contender.trial(Bench(data: data, path: path, workload: workload, keeper: keeper))
            else {
                sample.skipped = "not available yet"
                return sample
            }
            bench_reset_statements()
            let heap = bench_heap_bytes()
            let cpu = bench_cpu_ns()
            let wall = bench_wall_ns()
            let check = try trial.body()
            let cpuEnd = bench_cpu_ns()
            let wallEnd = bench_wall_ns()
            if isWarmUp { sample.statements = bench_statements() }
            if keeper.isKeeping { sample.bytesPerObject = Double(bench_heap_bytes() - heap) / Double(n) }
            let all = check &* 31 &+ (try trial.verify())
            if round > 0, sample.check != all {
                throw BenchError(
                    "\(contender.name) \(workload.rawValue): the runs do not agree (\(sample.check), \(all))")
            }
            sample.check = all
            if !isWarmUp {
                sample.cpu.append(Double(cpuEnd - cpu) / 1e6)
                sample.wall.append(Double(wallEnd - wall) / 1e6)
            }
        }
        sample.peakKiB = bench_peak_rss_kib()
        return sample
    }

    /// The file for a trial.
    private func file(of contender: any Contender.Type, _ workload: Workload, n: Int) throws -> String {
        let base = StoreFiles(folder: folder).base(contender.family, cities: workload.startsEmpty ? 0 : n)
        guard FileManager.default.fileExists(atPath: base) else {
            throw BenchError("\(base) is missing; `strata-bench prepare` makes it")
        }
        guard workload.writes else { return base }
        let copy = folder.appending(path: "trial-\(ProcessInfo.processInfo.processIdentifier).sqlite").path
        remove(copy)
        try FileManager.default.copyItem(atPath: base, toPath: copy)
        return copy
    }

    private func remove(_ path: String) { StoreFiles.remove(path) }
}

/// The files that are made once.
struct StoreFiles {
    let folder: URL

    func base(_ family: String, cities: Int) -> String {
        folder.appending(path: "base-\(family)-\(cities).sqlite").path
    }

    /// Makes the files of a contender for a size, unless they are there.
    func prepare(_ contender: any Contender.Type, n: Int) throws {
        for count in [0, n] {
            let path = base(contender.family, cities: count)
            guard !FileManager.default.fileExists(atPath: path) else { continue }
            let temporary = path + ".part"
            Self.remove(temporary)
            try contender.makeStore(at: temporary, data: DataSet(folder: folder, count: n), cities: count > 0)
            guard !FileManager.default.fileExists(atPath: temporary + "-wal") else {
                throw BenchError("\(contender.name) left a write-ahead log next to \(temporary)")
            }
            try FileManager.default.moveItem(atPath: temporary, toPath: path)
        }
    }

    static func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        try? FileManager.default.removeItem(atPath: path + "-blobs")
    }
}
