import Foundation
import SeededRandom
import Strata
import Testing

/// A process that is killed while it migrates leaves the store of the old version or that of the new one.
@Suite(.serialized) struct MigrationKillTests {
    /// How many objects the store has; `STRATA_MIGRATION_KILL_OBJECTS` sets another number.
    static let objects =
        ProcessInfo.processInfo.environment["STRATA_MIGRATION_KILL_OBJECTS"].flatMap(Int.init) ?? 20_000
    /// How often a process is killed.
    static let kills = KillTests.kills * 3

    @Test("A migration survives SIGKILL as the old store or the new one, whole")
    func killDuringMigration() throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "strata-migration-kill-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let original = folder.appending(path: "original.sqlite")
        let first = try Probe(store: original, count: Self.objects)
        try first.wait(for: "saved")
        #expect(first.end() == 0)

        let whole = folder.appending(path: "whole.sqlite")
        try FileManager.default.copyItem(at: original, to: whole)
        let probe = try Probe(store: whole, count: 0, mode: "migrate")
        try probe.wait(for: "migrating")
        let start = ContinuousClock.now
        try probe.wait(for: "migrated")
        let length = (ContinuousClock.now - start).inSeconds
        #expect(probe.end() == 0)
        #expect(try check(whole) == "new")

        let seed = UInt64.random(in: 1...UInt64.max >> 16)
        print("kill seed \(seed), migration \(length) s")
        var random = SplitMix64(seed: seed)
        var outcomes: [String: Int] = [:]
        for number in 0..<Self.kills {
            let store = folder.appending(path: "killed-\(number).sqlite")
            try FileManager.default.copyItem(at: original, to: store)
            let probe = try Probe(store: store, count: 0, mode: "migrate")
            try probe.wait(for: "migrating")
            Thread.sleep(forTimeInterval: length * Double.random(in: 0...1.05, using: &random))
            probe.kill()
            outcomes[try check(store), default: 0] += 1
            // Whatever is left can be migrated, or is.
            let later = try PersistentContainer(model: try Probe.laterModel(), at: .file(path: store.path))
            later.close()
            #expect(try check(store) == "new", "seed \(seed), kill \(number)")
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + suffix) }
        }
        print("kill outcomes: \(outcomes)")
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

    @Test("Two processes that migrate a file at once do it once")
    func twoProcesses() throws {
        try withFolder { folder in
            let store = folder.appending(path: "a.sqlite")
            try make(store, 5000)
            let probes = try (0..<3).map { _ in try Probe(store: store, count: 0, mode: "migrate") }
            for probe in probes { try probe.wait(for: "migrated") }
            for probe in probes { #expect(probe.end() == 0) }
            #expect(try checkStages(store) == "second")
        }
    }

    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "strata-migration-step-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
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
        try withFolder { folder in
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
        let model = isOld ? try Probe.model() : isLast ? try Probe.lastModel() : try Probe.laterModel()
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
    /// - Returns: `old` or `new`.
    private func check(_ store: URL) throws -> String {
        let isNew = try SQLiteStore.migrationPlan(for: store.path, to: try Probe.laterModel()).isEmpty
        var options = SQLiteStore.Options()
        options.migration.policy = .never
        let model = isNew ? try Probe.laterModel() : try Probe.model()
        let opened = try SQLiteStore.open(model: model, location: .file(path: store.path), options: options)
        let container = try PersistentContainer(store: opened)
        defer { container.close() }
        #expect(try opened.integrityReport().isSound)
        let objects = try container.newContext().fetch(FetchRequest<ManagedObject>(entity: isNew ? "Article" : "Item"))
        #expect(objects.count == Self.objects)
        for object in objects {
            let amount = isNew ? Int64(object["amount"] as? String ?? "") : object["amount"] as? Int64
            let title = object[isNew ? "heading" : "title"] as? String
            guard let amount, title == "The item with the number \(amount)" else {
                Issue.record("\(object.objectID): \(String(describing: title))")
                break
            }
        }
        return isNew ? "new" : "old"
    }
}

extension Probe {
    /// A later version of ``model()``: another name, other types, one attribute more.
    static func laterModel(_ more: [Attribute] = []) throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Crash") {
            Entity("Article") {
                Attribute("itemId", .string).unique()
                Attribute("heading", .string).indexed().renamed(from: "title")
                Attribute("amount", .string)
                Attribute("weight", .double)
                Attribute("searchHeading", .string).optional().derived(.canonical("heading"))
                for attribute in more { attribute }
            }.renamed(from: "Item")
        }
    }

    /// The version after that.
    static func lastModel() throws -> ManagedObjectModel {
        try laterModel([Attribute("note", .string).optional()])
    }
}

extension Duration {
    fileprivate var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
