import CrashModels
import Foundation
import SeededRandom
import Strata
import Testing

/// A process that is killed while it migrates leaves the store of the old version or that of the new one.
@Suite(.serialized) struct MigrationKillTests {
    /// How many objects the store has; `STRATA_MIGRATION_KILL_OBJECTS` sets another number.
    static let objects =
        ProcessInfo.processInfo.environment["STRATA_MIGRATION_KILL_OBJECTS"].flatMap(Int.init) ?? 5_000
    /// How often a process is killed in a migration of each kind; `STRATA_MIGRATION_KILLS` sets another number.
    static let kills =
        ProcessInfo.processInfo.environment["STRATA_MIGRATION_KILLS"].flatMap(Int.init) ?? KillTests.kills

    /// Columns are added; the table is written again with other types; objects move to the table of a hierarchy; two
    /// stages have code of their own.
    static let kinds = ["add", "migrate", "move", "stages"]

    @Test("A migration survives SIGKILL as the old store or the new one, whole", arguments: kinds)
    func killDuringMigration(_ kind: String) throws {
        try inTemporaryFolder { folder in
            let original = folder.appending(path: "original.sqlite")
            try make(original, Self.objects)
            let whole = folder.appending(path: "whole.sqlite")
            try FileManager.default.copyItem(at: original, to: whole)
            let length = try migrate(whole, kind)
            #expect(try check(whole, kind) == "new")

            let seed = RunSeed.value()
            print("kill \(kind), seed \(seed), migration \(length) s")
            var random = SplitMix64(seed: seed)
            var outcomes: [String: Int] = [:]
            for number in 0..<Self.kills {
                let store = folder.appending(path: "killed-\(number).sqlite")
                try FileManager.default.copyItem(at: original, to: store)
                let probe = try Probe(store: store, count: 0, mode: kind)
                try probe.wait(for: "migrating")
                Thread.sleep(forTimeInterval: length * Double.random(in: 0...1.05, using: &random))
                probe.kill()
                let found = try check(store, kind)
                outcomes[found, default: 0] += 1
                // Whatever is left can be migrated, or is.
                if found != "new" {
                    _ = try migrate(store, kind)
                    #expect(try check(store, kind) == "new", "\(kind), seed \(seed), kill \(number)")
                }
                for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + suffix) }
            }
            print("kill \(kind) outcomes: \(outcomes)")
        }
    }

    /// Lets a process migrate a store.
    /// - Returns: How long it took, in seconds.
    private func migrate(_ store: URL, _ kind: String) throws -> Double {
        let probe = try Probe(store: store, count: 0, mode: kind)
        try probe.wait(for: "migrating")
        let start = ContinuousClock.now
        try probe.wait(for: "migrated")
        let length = (ContinuousClock.now - start).inSeconds
        #expect(probe.end() == 0)
        return length
    }

    @Test("A process that is killed at any step leaves the old store, and what it leaves can be migrated")
    func killAtEachStep() throws {
        try killAtEachStep("migrate") { store in try checkStages(store) }
    }

    @Test("A process that is killed at any step of its stages leaves a version on the way, from which the others go on")
    func killAtEachStepOfStages() throws {
        let versions = try killAtEachStep("stages") { store in try checkStages(store) }
        #expect(versions == ["first", "second", "third"])
    }

    @Test(
        "Processes that migrate a file at once do it once, with stages and without", arguments: ["migrate", "stages"])
    func severalProcesses(_ mode: String) throws {
        try inTemporaryFolder { folder in
            let store = folder.appending(path: "a.sqlite")
            try make(store, 5000)
            let probes = try (0..<3).map { _ in try Probe(store: store, count: 0, mode: mode) }
            for probe in probes { try probe.wait(for: "migrated") }
            for probe in probes { #expect(probe.end() == 0) }
            #expect(try checkStages(store) == (mode == "stages" ? "third" : "second"))
        }
    }

    private func make(_ store: URL, _ count: Int) throws {
        let probe = try Probe(store: store, count: count)
        try probe.wait(for: "saved")
        #expect(probe.end() == 0)
    }

    /// Kills a process at its first step, another one at its second, until one runs to its end.
    /// - Returns: The versions that the files had then, each once, in their order.
    @discardableResult
    private func killAtEachStep(_ mode: String, _ check: (URL) throws -> String) throws -> [String] {
        var versions: [String] = []
        try inTemporaryFolder { folder in
            let original = folder.appending(path: "original.sqlite")
            try make(original, 300)
            for step in 1...100 {
                let store = folder.appending(path: "step-\(step).sqlite")
                try FileManager.default.copyItem(at: original, to: store)
                let status = try Probe(store: store, count: step, mode: mode).end()
                let version = try check(store)
                if versions.last != version { versions.append(version) }
                // It goes on from where it was.
                let rest = try Probe(store: store, count: 0, mode: mode)
                try rest.wait(for: "migrated")
                #expect(rest.end() == 0)
                #expect(try check(store) == (mode == "stages" ? "third" : "second"), "step \(step)")
                if status == 0 {
                    #expect(step > 3)
                    return
                }
                #expect(status == SIGKILL, "step \(step)")
            }
            Issue.record("the migration does not end")
        }
        return versions
    }

    /// Looks at every object of a store that goes through stages.
    /// - Returns: Its version.
    private func checkStages(_ store: URL) throws -> String {
        let isOld = try SQLiteStore.metadata(at: store.path).entities["Item"] != nil
        let isLast = try SQLiteStore.metadata(at: store.path).entities["Article"]?["note"] != nil
        let model = isOld ? try CrashModels.first() : isLast ? try CrashModels.last() : try CrashModels.later()
        var options = SQLiteStore.Options()
        options.migration.policy = .never
        let container = try PersistentContainer(model: model, at: .file(path: store.path), options: options)
        defer { container.close() }
        #expect(try SQLiteStore.integrityReport(at: store.path).isSound)
        let objects = try container.newContext().fetch(FetchRequest<ManagedObject>(entity: isOld ? "Item" : "Article"))
        let weights = Set(objects.compactMap { ($0["weight"] as? Double).map { Int(($0 * 7).rounded()) } })
        #expect(weights.count == objects.count && objects.count >= 300)
        if isLast {
            // The first stage has doubled them, once.
            #expect(weights == Set((0..<objects.count).map { $0 * 2 }))
            #expect(objects.allSatisfy { $0["note"] as? String == $0["heading"] as? String })
        }
        return isOld ? "first" : isLast ? "third" : "second"
    }

    /// Opens the store with the model that it says it has, and looks at every object.
    /// - Returns: `old` or `new`; with stages also `between`.
    private func check(_ store: URL, _ kind: String) throws -> String {
        let target = try CrashModels.target(of: kind)
        let isNew = try SQLiteStore.migrationPlan(for: store.path, to: target).isEmpty
        let isBetween =
            try !isNew && kind == "stages"
            && SQLiteStore.migrationPlan(for: store.path, to: CrashModels.later()).isEmpty
        var options = SQLiteStore.Options()
        options.migration.policy = .never
        let model = isNew ? target : isBetween ? try CrashModels.later() : try CrashModels.first()
        let opened = try SQLiteStore.open(model: model, location: .file(path: store.path), options: options)
        let container = try PersistentContainer(store: opened)
        defer { container.close() }
        #expect(try opened.integrityReport().isSound)
        let isArticle = model.entity(named: "Article") != nil
        let entity = isArticle ? "Article" : "Item"
        let objects = try container.newContext().fetch(FetchRequest<ManagedObject>(entity: entity))
        #expect(objects.count == Self.objects)
        for object in objects {
            let amount = isArticle ? Int64(object["amount"] as? String ?? "") : object["amount"] as? Int64
            let title = object[isArticle ? "heading" : "title"] as? String
            let weight = object["weight"] as? Double
            guard let amount, title == "The item with the number \(amount)",
                // The first stage doubles it, once.
                weight == Double(amount) / 7 * (isArticle && kind == "stages" ? 2 : 1),
                !isNew || kind != "add" || (object["rank"] as? Int64 == 7 && object["note"] == nil),
                !isNew || kind != "stages" || object["note"] as? String == title
            else {
                Issue.record("\(kind): \(object.objectID): \(String(describing: title))")
                break
            }
        }
        return isNew ? "new" : isBetween ? "between" : "old"
    }
}
