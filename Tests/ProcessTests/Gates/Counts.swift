import ChildProcesses
import Foundation
import Testing

/// What the gates' probe counted for one case at one size.
struct Counts {
    /// By what was counted, for the case as a whole.
    var totals: [String: Int] = [:]

    /// A count for each object, or whatever else the case is about. nil where it cannot be counted.
    func perUnit(_ what: String) -> Double? {
        totals[what].map { Double($0) / Double(max(1, totals["units"] ?? 1)) }
    }

    /// Counts in a process of its own, where nothing else takes memory.
    static func of(_ name: String, size: Int, in folder: URL) throws -> Counts {
        let lines = try run("count", folder.path, String(size), name)
        var counts = Counts()
        for line in lines where line.count == 3 && line[0] == name { counts.totals[line[1]] = Int(line[2]) }
        try #require(counts.totals["units"] != nil && counts.totals["statements"] != nil, "\(name): \(lines)")
        return counts
    }

    /// The names of the probe's cases of a group.
    static func cases(_ group: String) throws -> [String] {
        let names = try run("list").filter { $0.first == group }.map { $0[1] }
        try #require(!names.isEmpty)
        return names
    }

    /// A folder for the stores that cases begin with.
    static func withFolder<R>(_ body: (URL) throws -> R) throws -> R {
        let folder = FileManager.default.temporaryDirectory.appending(path: "strata-gates-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }

    private static func run(_ arguments: String...) throws -> [[String]] {
        let process = Process()
        process.executableURL = try TestExecutable.named("GateProbe")
        process.arguments = arguments
        // How many blocks a dictionary takes depends on its hashes.
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_DETERMINISTIC_HASHING": "1"]) { $1 }
        let pipe = Pipe.forLaunch()
        process.standardOutput = pipe
        try process.start()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(
            process.terminationReason == .exit && process.terminationStatus == 0,
            "GateProbe \(arguments.joined(separator: " ")) ended with \(process.terminationStatus)")
        return output.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
    }
}
