// Works offline, synchronizes at the same time, and is killed while it does, so that a test can see what is left.
//
//     SyncKillProbe run FOLDER SEED       until somebody kills it; prints `running` first
//     SyncKillProbe finish FOLDER SEED    synchronizes to the end and prints what is here and at the server
//
// The mirror, the server's file, and a journal of what was saved are in the folder.

import Foundation
import SeededRandom
import Strata
import StrataRemote

/// Prints a line at once: standard output is a pipe here, which `print` would buffer.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

func text(_ values: [String: RemoteValue]) -> String {
    values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
}

/// Changes objects and synchronizes until the process is killed.
func run(_ folder: URL, _ seed: UInt64) async throws {
    var client = try LedgerClient(folder: folder, seed: seed, longestDelay: 2000)
    // What was under way when the last one was killed.
    say("under way \(try client.store.mirror.pendingEntries().count { $0.state == .sent })")
    let sync = client.store.sync
    say("running")
    var random = SplitMix64(seed: seed &+ 1)
    // Changes on top of what is under way.
    for _ in 0..<random.below(30) { try client.act() }
    let synchronizing = Task {
        while true {
            try await sync.synchronize()
            try await Task.sleep(for: .milliseconds(1))
        }
    }
    let start = ContinuousClock.now
    // An end of its own, if nobody kills it.
    while ContinuousClock.now - start < .seconds(120) {
        if random.oneIn(4) { try await client.actElsewhere() } else { try client.act() }
        try await Task.sleep(for: .microseconds(random.below(8000)))
    }
    synchronizing.cancel()
}

/// Synchronizes until nothing is left to do, and prints all there is.
func finish(_ folder: URL, _ seed: UInt64) async throws {
    let client = try LedgerClient(folder: folder, seed: seed, longestDelay: 0)
    for _ in 0..<3 { try await client.store.sync.synchronize() }
    say("pending \(try client.store.sync.pendingCount()) failed \(try client.store.sync.failedChanges().count)")
    let lines = try await client.server.lines()
    let there = Set(lines.filter { !$0.isGone }.map(\.identity))
    for line in lines {
        var values = line.values
        // What refers to nothing is nil here.
        if case .reference(let id?) = values["folder"], !there.contains(RemoteIdentity(entity: "Folder", id: id)) {
            values["folder"] = .reference(nil)
        }
        if case .references(let ids) = values["tags"] {
            values["tags"] = .references(
                ids.filter { there.contains(RemoteIdentity(entity: "Tag", id: $0)) }.sorted())
        }
        say("server \(line.identity) \(line.isGone ? "gone" : "there") \(line.timesMade) \(text(values))")
    }
    for (identity, values) in try client.contents() { say("mirror \(identity) \(text(values))") }
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let seed = UInt64(arguments[3]) else {
    FileHandle.standardError.write(Data("usage: SyncKillProbe run|finish FOLDER SEED\n".utf8))
    exit(64)
}
do {
    let folder = URL(filePath: arguments[2])
    if arguments[1] == "run" { try await run(folder, seed) } else { try await finish(folder, seed) }
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
