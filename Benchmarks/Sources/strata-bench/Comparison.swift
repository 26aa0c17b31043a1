import Foundation

/// What is measured in one go: a workload at a size by some contenders.
struct Line: Hashable {
    let workload: Workload
    let n: Int
    let contenders: [String]
    let rounds: Int
    let runs: Int
    let warmsUp: Bool
}

/// Starts one process for each contender, workload and round, the contenders of a line one after the other within each
/// round, so that what else happens on the machine hits all of them alike.
struct Comparison {
    let folder: URL
    /// The folder with `contenders.py`.
    let scripts: URL
    private(set) var samples: [Line: [[Sample]]] = [:]

    init(folder: URL, scripts: URL) {
        self.folder = folder
        self.scripts = scripts
    }

    static let python = ["sqlalchemy", "django"]

    /// Whether the Python contenders can run.
    var hasPython: Bool { FileManager.default.fileExists(atPath: folder.appending(path: "venv/ready").path) }

    /// Makes the stores of all lines, each in a process of its own.
    func prepare(_ lines: [Line]) throws {
        var done: Set<String> = []
        for line in lines {
            for name in line.contenders {
                // All SQL contenders share a store.
                let maker = Self.python.contains(name) ? TextDates.name : name.hasPrefix("grdb") ? Raw.name : name
                guard done.insert("\(maker) \(line.n)").inserted else { continue }
                _ = try launch([Self.program, "prepare", maker, "--folder", folder.path, "-n", "\(line.n)"])
            }
        }
    }

    /// Runs all rounds of a line. The Python contenders, which take most of the time and whose ratios need no second
    /// digit, take part only in the first round.
    /// - Throws: ``BenchError`` if a process fails or the contenders do not agree.
    mutating func run(_ line: Line) throws {
        for number in 0..<line.rounds {
            var round: [Sample] = []
            for name in line.contenders where number == 0 || !Self.python.contains(name) {
                let sample = try measure(name, line)
                if let first = round.first(where: { $0.skipped == nil }), sample.skipped == nil,
                    sample.check != first.check
                {
                    throw BenchError(
                        "\(line.workload.rawValue), N = \(line.n): \(name) found \(sample.check), \(first.contender) \(first.check)"
                    )
                }
                round.append(sample)
            }
            samples[line, default: []].append(round)
        }
    }

    private func measure(_ name: String, _ line: Line) throws -> Sample {
        var arguments = ["run", name, line.workload.rawValue, "--folder", folder.path, "-n", "\(line.n)", "--runs"]
        if Self.python.contains(name) {
            arguments =
                [
                    folder.appending(path: "venv/bin/python").path, scripts.appending(path: "contenders.py").path,
                ] + arguments + ["1"]
        } else {
            arguments = [Self.program] + arguments + ["\(line.runs)"] + (line.warmsUp ? [] : ["--no-warm-up"])
        }
        let output = try launch(arguments)
        do {
            return try JSONDecoder().decode(Sample.self, from: output)
        } catch {
            throw BenchError(
                "\(name) \(line.workload.rawValue) answered with \(String(decoding: output, as: UTF8.self))")
        }
    }

    /// This very program.
    static var program: String { Bundle.main.executablePath ?? CommandLine.arguments[0] }

    private func launch(_ arguments: [String]) throws -> Data {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: arguments[0])
        process.arguments = Array(arguments.dropFirst())
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchError("\(arguments.joined(separator: " ")) failed with status \(process.terminationStatus)")
        }
        return output
    }
}

/// The middle of some numbers; nil of none.
func median(_ values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// One contender on one line, over all rounds.
struct Result: Codable {
    var workload: String
    var contender: String
    var n: Int
    /// Medians in milliseconds.
    var cpuMilliseconds: Double?
    var wallMilliseconds: Double?
    /// The median over the rounds of this contender's time against raw's, and GRDB's by hand, of the same round.
    var cpuTimesRaw: Double?
    var cpuTimesGRDB: Double?
    var wallTimesRaw: Double?
    var wallTimesGRDB: Double?
    var peakMegabytes: Double?
    var bytesPerObject: Double?
    var statements: Int64?
    var skipped: String?
}

extension Comparison {
    /// The results of a line, in the order of its contenders.
    func results(_ line: Line) -> [Result] {
        let rounds = samples[line] ?? []
        return line.contenders.map { name in
            func sample(_ name: String, _ round: [Sample]) -> Sample? { round.first { $0.contender == name } }
            let own = rounds.compactMap { sample(name, $0) }
            func ratio(_ other: String, _ time: (Sample) -> [Double]) -> Double? {
                median(
                    rounds.compactMap { round in
                        guard let below = sample(other, round).flatMap({ median(time($0)) }),
                            let above = sample(name, round).flatMap({ median(time($0)) }), below > 0
                        else { return nil }
                        return above / below
                    })
            }
            let isSkipped = own.first?.skipped != nil
            return Result(
                workload: line.workload.rawValue, contender: name, n: line.n,
                cpuMilliseconds: median(own.flatMap(\.cpu)), wallMilliseconds: median(own.flatMap(\.wall)),
                cpuTimesRaw: ratio(Raw.name, \.cpu), cpuTimesGRDB: ratio(GRDBHand.name, \.cpu),
                wallTimesRaw: ratio(Raw.name, \.wall), wallTimesGRDB: ratio(GRDBHand.name, \.wall),
                peakMegabytes: isSkipped ? nil : median(own.map { Double($0.peakKiB) / 1024 }),
                bytesPerObject: median(own.compactMap(\.bytesPerObject)),
                statements: isSkipped || !line.warmsUp ? nil : own.first?.statements, skipped: own.first?.skipped)
        }
    }
}
