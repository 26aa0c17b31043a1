import ChildProcesses
import Foundation
import SeededRandom
import Testing

/// A process that is killed while it works offline and synchronizes goes on where it was.
@Suite(.serialized) struct SyncKillTests {
    @Test("Synchronization survives SIGKILL: nothing that was saved is lost, done twice or comes back")
    func killDuringSynchronization() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "strata-sync-kill-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let seed = RunSeed.value()
        print("kill seed \(seed)")
        var random = SplitMix64(seed: seed)
        var underWay = 0
        for number in 0..<KillTests.kills {
            let probe = try SyncProbe("run", folder, seed &+ UInt64(number) &* 1000)
            let before = try probe.read(to: "running")
            if !before.contains("under way 0") { underWay += 1 }
            Thread.sleep(forTimeInterval: Double.random(in: 0...0.6, using: &random))
            #expect(probe.kill() == SIGKILL, "the process ended by itself")
        }
        print("kills that left a request under way: \(underWay) of \(KillTests.kills)")

        let left = try SyncRemains(try SyncProbe("finish", folder, seed).readAll())
        #expect(left.waiting == "pending 0 failed 0", "seed \(seed)")
        #expect(left.mirror == left.server, "seed \(seed)")
        let journal = try allowedTitles(in: folder.appending(path: "journal"))
        #expect(!journal.isEmpty)
        for (name, allowed) in journal.sorted(by: { $0.key < $1.key }) {
            #expect(
                allowed.contains(left.title(name)), "seed \(seed): \(name) is \(left.title(name)), saved as \(allowed)")
            #expect(left.timesMade[name] ?? 0 <= 1, "seed \(seed): \(name) was made more than once")
        }
    }

    /// What each object may be in the end: as it was last saved, or as the save that was cut off would have it. A dash
    /// stands for a deleted object.
    private func allowedTitles(in journal: URL) throws -> [String: [String]] {
        var result: [String: [String]] = [:]
        for line in try String(contentsOf: journal, encoding: .utf8).split(separator: "\n") {
            let parts = line.split(separator: " ").map(String.init)
            try #require(parts.count == 3, "\(line)")
            switch parts[0] {
            case "did": result[parts[1]] = [parts[2]]
            case "try": result[parts[1], default: ["-"]].append(parts[2])
            default: result[parts[1]]?.removeLast()
            }
        }
        return result
    }
}

/// What there is when all is done.
private struct SyncRemains {
    var waiting = ""
    /// The values of objects as text, by name.
    var mirror: [String: String] = [:]
    var server: [String: String] = [:]
    /// How often the server was told to create an object, including deleted ones.
    var timesMade: [String: Int] = [:]

    init(_ text: String) throws {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 4).map(String.init)
            switch parts[0] {
            case "pending": waiting = String(line)
            case "mirror": mirror[parts[1]] = line.split(separator: " ", maxSplits: 2).last.map(String.init)
            case "server":
                timesMade[parts[1]] = Int(parts[3])
                if parts[2] == "there" { server[parts[1]] = parts[4] }
            default: Issue.record("the probe said \(line)")
            }
        }
    }

    func title(_ name: String) -> String {
        guard let values = server[name] else { return "-" }
        let part = values.components(separatedBy: "title=value(\"").last ?? ""
        return part.components(separatedBy: "\"").first ?? ""
    }
}

/// A process that works offline and synchronizes.
private final class SyncProbe {
    private let process = Process()
    private let pipe = Pipe.forLaunch()

    init(_ mode: String, _ folder: URL, _ seed: UInt64) throws {
        process.executableURL = try TestExecutable.named("SyncKillProbe")
        process.arguments = [mode, folder.path, String(seed)]
        process.standardOutput = pipe
        try process.start()
    }

    deinit { if process.isRunning { _ = kill() } }

    /// What it says until it says a word.
    func read(to word: String) throws -> String {
        var seen = ""
        while !seen.contains(word + "\n") {
            let data = pipe.fileHandleForReading.availableData
            try #require(!data.isEmpty, "the probe ended before it said \(word)")
            seen += String(decoding: data, as: UTF8.self)
        }
        return seen
    }

    /// What it says until it ends.
    func readAll() throws -> String {
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return String(decoding: data, as: UTF8.self)
    }

    /// Kills it.
    /// - Returns: The signal that ended it; 0 if it had ended before.
    func kill() -> Int32 {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return process.terminationReason == .uncaughtSignal ? process.terminationStatus : 0
    }
}
