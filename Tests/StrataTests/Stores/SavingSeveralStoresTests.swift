import Foundation
import Strata
import StrataStore
import StrataTesting
import Testing

@Suite struct SavingSeveralStoresTests {
    private func isPartly(_ error: any Error, _ committed: [String], _ pending: [String]) -> Bool {
        guard case PersistenceError.partlySaved(committed, pending, _) = error else { return false }
        return true
    }

    @Test("A save writes the stores in their order, in one transaction each, and only those with changes")
    func order() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        let visit = Visit(context, "warm", Town(context, "Lima", Region(context, "PE")))
        let statements = try files.statements { try context.save() }
        let steps = statements.compactMap { sql -> String? in
            if sql.hasPrefix("BEGIN") { return "begin" }
            if sql.hasPrefix("COMMIT") { return "commit" }
            guard sql.hasPrefix("INSERT") else { return nil }
            return ["visit", "spot"].first { sql.contains($0) }
        }
        #expect(steps == ["begin", "spot", "commit", "begin", "visit", "commit"], "\(statements)")
        visit.note = "hot"
        let (places, visits) = (files.places.calls(.commit), files.visits.calls(.commit))
        try context.save()
        #expect(files.places.calls(.commit) == places && files.visits.calls(.commit) == visits + 1)
    }

    @Test("If the second store fails, the first is saved and clean, the rest is pending, and saving again completes it")
    func secondFails() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        let region = Region(context, "PE")
        let lima = Town(context, "Lima", region)
        let visit = Visit(context, "warm", lima)
        visit.labels = [Label(context, "sun")]
        let ann = Traveller(context, "Ann")
        ann.visits = [visit]
        files.visits.fail([.commit], with: .diskFull(path: "visits.sqlite"))
        #expect {
            try context.save()
        } throws: { error in
            isPartly(error, ["Places"], ["Default"])
                && "\(error)".hasPrefix("Places is saved, but not Default: no space left on the disk")
        }
        #expect(!lima.hasChanges && !region.hasChanges && lima.saves == 1 && lima.version == 1)
        #expect(visit.isInserted && ann.isInserted && context.hasChanges)
        #expect(context.insertedObjects.count == 3)
        let other = files.container.newContext()
        #expect(try other.fetch(FetchRequest<Town>()).map(\.region?.code) == ["PE"])
        #expect(try other.count(FetchRequest<Visit>()) == 0)
        // Places are not written again.
        let places = files.places.calls(.commit)
        visit.note = "hot"
        #expect(throws: PersistenceError.self) { try context.save() }
        files.visits.recover()
        try context.save()
        #expect(files.places.calls(.commit) == places && lima.saves == 1)
        #expect(!context.hasChanges)
        let saved = try #require(try files.container.newContext().fetchFirst(FetchRequest<Visit>()))
        #expect(saved.note == "hot" && saved.traveller?.name == "Ann" && saved.labels.map(\.text) == ["sun"])
    }

    @Test("If the first store fails, nothing is saved, and the error is the store's own")
    func firstFails() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        let lima = Town(context, "Lima")
        _ = Visit(context, "warm", lima)
        files.places.fail([.commit], with: .locked(path: "places.sqlite"))
        #expect {
            try context.save()
        } throws: { error in
            if case PersistenceError.store(.locked) = error { true } else { false }
        }
        #expect(lima.isInserted && lima.saves == 0 && context.insertedObjects.count == 2)
        files.places.recover()
        try context.save()
        #expect(try files.container.newContext().count(FetchRequest<Visit>()) == 1)
    }

    @Test("Updates and deletes survive the failure of a store, too")
    func updatesAndDeletes() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        let lima = Town(context, "Lima")
        let cusco = Town(context, "Cusco")
        let (warm, cold) = (Visit(context, "warm", lima), Visit(context, "cold", cusco))
        let label = Label(context, "sun")
        try context.save()
        context.delete(cusco)
        lima.population = 10
        context.delete(cold)
        warm.stars = 5
        warm.labels.insert(label)
        files.visits.fail([.commit], with: .locked(path: "visits.sqlite"))
        #expect { try context.save() } throws: { isPartly($0, ["Places"], ["Default"]) }
        #expect(!cusco.hasChanges && !lima.hasChanges && lima.version == 2)
        #expect(cold.isDeleted && warm.hasChanges && warm.version == 1 && context.deletedObjects == [cold])
        files.visits.recover()
        try context.save()
        let fresh = files.container.newContext()
        #expect(try fresh.fetch(FetchRequest<Spot>()).map(\.population) == [10])
        let rest = try fresh.fetch(FetchRequest<Visit>())
        #expect(rest.map(\.stars) == [5] && rest[0].labels.map(\.text) == ["sun"])
    }

    @Test("A rollback after a part of a save drops only what is not saved")
    func rollback() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        _ = Visit(context, "warm", Town(context, "Lima"))
        files.visits.fail([.commit], with: .locked(path: "visits.sqlite"))
        #expect(throws: PersistenceError.self) { try context.save() }
        context.rollback()
        files.visits.recover()
        #expect(!context.hasChanges)
        try context.save()
        #expect(try files.container.newContext().count(FetchRequest<Spot>()) == 1)
        #expect(try files.container.newContext().count(FetchRequest<Visit>()) == 0)
    }

    @Test("The asynchronous save does the same; what changes meanwhile stays for the next one")
    func asynchronous() async throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        let lima = Town(context, "Lima")
        let visit = Visit(context, "warm", lima)
        try await context.save()
        #expect(!context.hasChanges && lima.saves == 1)
        lima.population = 3
        visit.stars = 3
        files.visits.fail([.commit], with: .diskFull(path: "visits.sqlite"))
        do {
            try await context.save()
            Issue.record("the save must fail")
        } catch {
            #expect(isPartly(error, ["Places"], ["Default"]))
        }
        #expect(!lima.hasChanges && lima.saves == 2 && visit.hasChanges && visit.stars == 3)
        files.visits.recover()
        try await context.save()
        #expect(!context.hasChanges)
        #expect(try await files.container.newContext().fetch(FetchRequest<Visit>()).map(\.stars) == [3])
    }

    @Test("What changes while an asynchronous save writes one store after the other is not part of it")
    @MainActor func changesMeanwhile() async throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        let lima = Town(context, "Lima")
        let visit = Visit(context, "warm", lima)
        try await context.save()
        lima.population = 1
        visit.stars = 1
        // Both stores take their time, so that the changes below come before the second commit.
        for store in [files.places, files.visits] {
            store.fail { operation in
                if operation == .commit { Thread.sleep(forTimeInterval: 0.1) }
                return nil
            }
        }
        let saving = Task { try await context.save() }
        while files.places.calls(.commit) < 2 { await Task.yield() }
        lima.population = 2
        visit.stars = 2
        visit.labels = [Label(context, "sun")]
        try await saving.value
        let (places, visits) = (files.places.calls(.commit), files.visits.calls(.commit))
        #expect(places == 2 && visits == 2)
        #expect(lima.hasChanges && visit.hasChanges && lima.population == 2 && visit.stars == 2)
        var fresh = files.container.newContext()
        #expect(try await fresh.fetch(FetchRequest<Spot>()).map(\.population) == [1])
        #expect(try await fresh.fetch(FetchRequest<Visit>()).map(\.stars) == [1])
        try await context.save()
        fresh = files.container.newContext()
        #expect(try await fresh.fetch(FetchRequest<Spot>()).map(\.population) == [2])
        let saved = try await fresh.fetch(FetchRequest<Visit>())
        #expect(saved.map(\.stars) == [2] && saved[0].labels.count == 1)
        #expect(!context.hasChanges)
    }

    @Test("A conflict in the second store is resolved by the policy, after the first is committed")
    func conflicts() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        let lima = Town(context, "Lima")
        let visit = Visit(context, "warm", lima)
        try context.save()
        func meanwhile(_ stars: Int64) throws {
            let other = files.container.newContext()
            let same = try #require(try other.fetchFirst(FetchRequest<Visit>()))
            same.stars = stars
            try other.save()
        }
        try meanwhile(1)
        lima.population = 1
        visit.stars = 2
        #expect {
            try context.save()
        } throws: { error in
            guard case PersistenceError.partlySaved(["Places"], ["Default"], .conflicts(let conflicts)) = error else {
                return false
            }
            return conflicts.count == 1 && conflicts[0].objectID == visit.objectID
        }
        #expect(!lima.hasChanges && visit.stars == 2 && visit.hasChanges)
        context.mergePolicy = .objectWinsByProperty
        lima.population = 2
        try context.save()
        #expect(try files.container.newContext().fetch(FetchRequest<Visit>()).map(\.stars) == [2])
        // The other way round: the conflict is in the first store.
        let other = files.container.newContext()
        try #require(try other.fetchFirst(FetchRequest<Spot>())).name = "Ciudad de los Reyes"
        try other.save()
        lima.name = "Lima Metropolitana"
        visit.note = "hot"
        try context.save()
        let fresh = files.container.newContext()
        #expect(try fresh.fetch(FetchRequest<Spot>()).map(\.name) == ["Lima Metropolitana"])
        #expect(try fresh.fetch(FetchRequest<Visit>()).map(\.note) == ["hot"])
    }

    @Test("Objects of a store that is not written are checked before anything is")
    func checks() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        let lima = Town(context, "Lima")
        let visit = Visit(context, "warm", lima)
        try context.save()
        let other = files.container.newContext()
        try #require(try other.fetchFirst(FetchRequest<Spot>())).population = 7
        try other.save()
        visit.stars = 1
        try context.detectConflicts(for: lima)
        let before = files.visits.calls(.commit)
        #expect {
            try context.save()
        } throws: { error in
            guard case PersistenceError.conflicts(let conflicts) = error else { return false }
            return conflicts.map(\.objectID) == [lima.objectID]
        }
        #expect(files.visits.calls(.commit) == before)
        try context.refresh(lima)
        try context.detectConflicts(for: lima)
        try context.save()
        #expect(try files.container.newContext().fetch(FetchRequest<Visit>()).map(\.stars) == [1])
    }

    @Test("Validation is of all stores together: nothing is written if an object of the last one is invalid")
    func validation() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        _ = Town(context, "Lima")
        _ = Label(inserting: context)
        let invalid = try #require(context.insertedObjects.first { $0 is Label })
        #expect {
            try context.save()
        } throws: { error in
            guard case PersistenceError.validation(let failures) = error else { return false }
            return failures.failures.map(\.objectID) == [invalid.objectID]
        }
        #expect(try files.container.newContext().count(FetchRequest<Spot>()) == 0)
    }

    @Test("Children save both kinds into their parent, which writes them to the stores")
    func children() throws {
        let files = try TravelFiles()
        let parent = files.container.newContext()
        let child = parent.makeChild()
        let visit = Visit(child, "warm", Town(child, "Lima"))
        try child.save()
        #expect(files.places.calls(.commit) == 0 && parent.insertedObjects.count == 2)
        files.visits.fail([.commit], with: .locked(path: "visits.sqlite"))
        #expect { try parent.save() } throws: { isPartly($0, ["Places"], ["Default"]) }
        files.visits.recover()
        visit.note = "hot"
        try child.save()
        try parent.save()
        #expect(try files.container.newContext().fetch(FetchRequest<Visit>()).map(\.note) == ["hot"])
        #expect(try child.resolve(visit.spot)?.name == "Lima")
    }

    @Test("The write lane gives each write its own save; a failure of one store is told to the write that met it")
    func writeLane() async throws {
        let files = try TravelFiles()
        let container = files.container
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try await container.write { context in
                        _ = Visit(context, "\(number)", Town(context, "\(number)"))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(files.visits.calls(.commit) == 20 && files.places.calls(.commit) == 20)
        files.visits.fail([.commit], with: .diskFull(path: "visits.sqlite"))
        await #expect {
            try await container.write { context in _ = Visit(context, "x", Town(context, "x")) }
        } throws: { isPartly($0, ["Places"], ["Default"]) }
        files.visits.recover()
        let context = container.newContext()
        #expect(try await context.count(FetchRequest<Spot>()) == 21)
        #expect(try await context.count(FetchRequest<Visit>()) == 20)
    }

    @Test("A change set over several stores is refused where it is not a context's save")
    func directCommit() throws {
        let files = try TravelFiles()
        var changes = ChangeSet()
        for name in ["Region", "Traveller"] {
            let entity = try #require(Travel.model.entity(named: name))
            changes.deletes.append(.init(entityIndex: entity.index, key: 1, baseVersion: nil))
        }
        #expect {
            try files.container.store.commit(changes)
        } throws: { error in
            if case StoreError.unsupported = error {
                "\(error)".contains("one transaction over several stores")
            } else {
                false
            }
        }
    }
}
