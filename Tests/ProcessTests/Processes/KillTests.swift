import CrashModels
import Foundation
import SeededRandom
import Strata
import Testing

/// A process that is killed in the middle of a save leaves all of the save or nothing of it.
@Suite(.serialized) struct KillTests {
    /// How often a process is killed; `STRATA_KILLS` sets another number for a longer run.
    static let kills = ProcessInfo.processInfo.environment["STRATA_KILLS"].flatMap(Int.init) ?? 6
    /// How many objects a save writes; `STRATA_KILL_OBJECTS` sets another number.
    static let objects = ProcessInfo.processInfo.environment["STRATA_KILL_OBJECTS"].flatMap(Int.init) ?? 100_000

    @Test("A save of many objects survives SIGKILL as all or nothing")
    func killDuringSave() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "strata-kill-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        let whole = try Probe(store: folder.appending(path: "whole.sqlite"), count: Self.objects)
        try whole.wait(for: "saving")
        let start = ContinuousClock.now
        try whole.wait(for: "saved")
        let length = ContinuousClock.now - start
        #expect(whole.end() == 0)
        #expect(try survivors(in: folder.appending(path: "whole.sqlite")) == Self.objects)

        let seed = RunSeed.value()
        print("kill seed \(seed), save \(length)")
        var random = SplitMix64(seed: seed)
        var outcomes: [Int: Int] = [:]
        for number in 0..<Self.kills {
            let store = folder.appending(path: "killed-\(number).sqlite")
            let probe = try Probe(store: store, count: Self.objects)
            try probe.wait(for: "saving")
            // Up to a little more than the whole save, so that the end of it is hit, too.
            Thread.sleep(forTimeInterval: length.inSeconds * Double.random(in: 0...1.05, using: &random))
            probe.kill()
            let left = try survivors(in: store)
            outcomes[left, default: 0] += 1
            #expect(left == 0 || left == Self.objects, "seed \(seed), kill \(number): \(left) objects")
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + suffix) }
        }
        print("kill outcomes by objects left: \(outcomes)")
    }

    /// Opens the store again, checks it, and counts its objects.
    private func survivors(in store: URL) throws -> Int {
        let opened = try SQLiteStore.open(
            model: CrashModels.first(), location: .file(path: store.path), options: .init())
        let container = try PersistentContainer(store: opened)
        defer { container.close() }
        #expect(try opened.integrityReport().isSound)
        return try container.newContext().count(FetchRequest<ManagedObject>(entity: "Item"))
    }
}
