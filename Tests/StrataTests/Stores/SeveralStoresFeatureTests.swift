import Foundation
import Strata
import StrataTesting
import Testing

/// What contexts and containers offer beyond fetching and saving, over several stores.
@Suite struct SeveralStoresFeatureTests {
    @Test("Bulk operations run in the store of their entity, and live objects and lists of all contexts follow")
    func bulk() throws {
        let files = try TravelFiles()
        let context = files.container.newContext(automaticallyMergesChanges: true)
        let towns = (0..<10).map { Town(context, "\($0)") }
        let region = Region(context, "PE")
        towns[3].region = region
        let visits = (0..<10).map { Visit(context, "\($0)", towns[$0]) }
        try context.save()
        let list = try context.live(FetchRequest<Spot>(where: FetchPredicate(format: "population > 0")))
        let other = files.container.newContext()
        #expect(
            try other.update(FetchRequest<Town>(where: FetchPredicate(format: "name > '4'"))) { $0.population += 5 }
                == 5)
        #expect(try other.update(FetchRequest<Visit>()) { $0.stars = 2 } == 10)
        #expect(try other.deleteAll(FetchRequest<Region>()) == 2)
        context.processPendingChanges()
        #expect(towns.map(\.population) == [0, 0, 0, 0, 0, 5, 5, 5, 5, 5])
        #expect(visits.allSatisfy { $0.stars == 2 })
        #expect(region.isMissing && towns[3].isMissing)
        #expect(list.count == 5)
        let ids = try other.insertAll(Village.self, from: ["x", "y"]) { village, name in village.name = .value(name) }
        #expect(ids.map(\.storeIdentifier) == [files.places.identifier, files.places.identifier])
        #expect(try context.existingObject(Village.self, with: ids[1]).name == "y")
    }

    @Test("Change streams and live results tell of commits to each store, with the IDs of that store")
    func changes() async throws {
        let files = try TravelFiles()
        var stream = files.container.changes.makeAsyncIterator()
        let watcher = files.container.newContext(automaticallyMergesChanges: true)
        let list = try watcher.live(FetchRequest<Visit>(sortedBy: [FetchSort("note")]))
        let context = files.container.newContext()
        let visit = Visit(context, "warm", Town(context, "Lima"))
        let town = try #require(try context.resolve(visit.spot))
        try await context.save()
        var inserted: Set<ObjectID> = []
        while inserted.count < 2 { inserted.formUnion(try #require(await stream.next()).inserted) }
        #expect(inserted == [visit.objectID, town.objectID])
        watcher.processPendingChanges()
        #expect(list.map(\.note) == ["warm"] && list.snapshot.ids == [visit.objectID])
    }

    @Test("Commits of others to either file are noticed")
    func strangers() async throws {
        let files = try TravelFiles()
        files.container.close()
        let container = try PersistentContainer(Travel.self, stores: files.descriptions())
        let stranger = try files.stranger()
        defer {
            container.close()
            stranger.close()
        }
        let context = container.newContext()
        let visit = Visit(context, "warm", Town(context, "Lima"))
        let town = try #require(try context.resolve(visit.spot))
        try await context.save()
        let watcher = container.newContext(automaticallyMergesChanges: true)
        let mine = try (
            watcher.existingObject(Town.self, with: town.objectID),
            watcher.existingObject(Visit.self, with: visit.objectID)
        )
        #expect(mine.0.name == "Lima" && mine.1.note == "warm")
        var stream = container.changes.makeAsyncIterator()
        let theirs = stranger.newContext()
        try await #require(try theirs.fetchFirst(FetchRequest<Town>())).name = "Ciudad"
        try await theirs.save()
        #expect(try #require(await stream.next()).isFromElsewhere)
        watcher.processPendingChanges()
        #expect(mine.0.name == "Ciudad")
        try await #require(try theirs.fetchFirst(FetchRequest<Visit>())).note = "cold"
        try await theirs.save()
        #expect(try #require(await stream.next()).isFromElsewhere)
        watcher.processPendingChanges()
        #expect(mine.1.note == "cold")
    }

    @Test("History is each store's own: the container's is refused by name, that of a store can be read")
    func history() throws {
        var options = SQLiteStore.Options()
        options.history = .on(keeping: .days(1))
        let files = try TravelFiles(options)
        let context = files.container.newContext()
        context.author = "Ann"
        let visit = Visit(context, "warm", Town(context, "Lima"))
        let town = try #require(try context.resolve(visit.spot))
        try context.save()
        #expect {
            try files.container.history(after: nil)
        } throws: { error in
            "\(error)".contains("one history of several stores; ask store(forConfiguration:)?.history of one")
        }
        #expect(files.container.history == nil)
        for (name, object) in [("Places", town as ManagedObject), (nil, visit)] {
            let history = try #require(files.container.store(forConfiguration: name)?.history)
            let page = try history.transactions(after: nil, where: .all, limit: nil)
            let changes = page.transactions.flatMap(\.changes)
            #expect(page.transactions.map(\.author).last == "Ann")
            #expect(changes.compactMap(\.objectID) == [object.objectID])
            // The ID of one model leads to the object of the other.
            #expect(try context.existingObject(with: #require(changes[0].objectID)) === object)
            #expect(try history.object(object.objectID, at: page.token)?.objectID == object.objectID)
        }
    }

    @Test("A backup is of one store; without its name it is refused")
    func backup() async throws {
        let files = try TravelFiles()
        files.container.close()
        let container = try PersistentContainer(Travel.self, stores: files.descriptions())
        defer { container.close() }
        let context = container.newContext()
        _ = Visit(context, "warm", Town(context, "Lima"))
        try await context.save()
        let target = files.folder.appendingPathComponent("copy.sqlite").path
        await #expect {
            try await container.backUp(to: target)
        } throws: { error in
            "\(error)".contains("one backup of several stores; name the configuration")
        }
        await #expect {
            try await container.backUp(to: target, configuration: "Place")
        } throws: { error in
            "\(error)".contains("no store keeps the configuration Place; did you mean 'Places'?")
        }
        #expect(!FileManager.default.fileExists(atPath: target))
        try await container.backUp(to: target, configuration: "Places")
        #expect(try SQLiteShell(target).lines("SELECT name FROM spot") == ["Lima"])
        try await container.backUp(to: target + "2", configuration: "Default")
        #expect(try SQLiteShell(target + "2").lines("SELECT note FROM visit") == ["warm"])
    }

    @Test("A store explains the fetches of its own model")
    func explain() throws {
        let files = try TravelFiles()
        files.container.close()
        let container = try PersistentContainer(Travel.self, stores: files.descriptions())
        defer { container.close() }
        let store = try #require(container.store(forConfiguration: "Places") as? SQLiteStore)
        let region = try #require(store.model.entity(named: "Region"))
        var plan = FetchPlan(entityIndex: region.index)
        plan.predicate = try FetchPredicate(format: "code == 'PE'")
        #expect(try store.explain(plan).sql.contains("region"))
        #expect(container.store(forConfiguration: "Elsewhere") == nil)
    }

    @Test("Upserts find objects in their own store, and unique keys are resolved there")
    func upserts() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        try context.upsert([["code": "PE"], ["code": "BR"]], into: Region.self, by: "code")
        try context.upsert([["text": "sun"]], into: Label.self, by: "text")
        try context.save()
        let again = files.container.newContext()
        again.mergePolicy = .objectWinsByProperty
        let result = try again.upsert(
            [["code": "PE"], ["code": "EC"]], into: Region.self, by: "code")
        #expect(result.inserted.count == 1 && result.unchanged.count == 1)
        let label = Label(again, "sun")
        Visit(again, "warm").labels = [label]
        let many = (0..<150).map { Region(again, $0 < 100 ? "new\($0)" : "PE") }
        _ = many
        try again.save()
        let fresh = files.container.newContext()
        #expect(try fresh.count(FetchRequest<Label>()) == 1)
        #expect(try fresh.count(FetchRequest<Region>()) == 103)
    }

    @Test("Undo and redo work over both stores, across saves")
    func undo() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        let history = UndoHistory()
        context.undoManager = history
        let town = Town(context, "Lima")
        let visit = Visit(context, "warm", town)
        context.processPendingChanges()
        try context.save()
        context.delete(town)
        visit.note = "cold"
        context.processPendingChanges()
        try context.save()
        try history.undo()
        try context.save()
        let fresh = files.container.newContext()
        #expect(try fresh.fetch(FetchRequest<Spot>()).map(\.name) == ["Lima"])
        let same = try #require(try fresh.fetchFirst(FetchRequest<Visit>()))
        #expect(same.note == "warm")
        #expect(try fresh.resolve(same.spot)?.name == "Lima")
        try history.redo()
        try context.save()
        #expect(try files.container.newContext().count(FetchRequest<Spot>()) == 0)
    }

    @Test("Values in files, frozen objects, values of columns and faults come from the store of the object")
    func reading() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        let region = Region(context, "PE")
        region.about = Data(repeating: 7, count: 1000)
        let towns = (0..<5).map { Town(context, "\($0)", region) }
        try context.save()
        let fresh = files.container.newContext()
        let same = try #require(try fresh.fetchFirst(FetchRequest<Region>()))
        #expect(same.about == region.about && files.places.calls(.externalData) == 1)
        #expect(same.frozen()["about"] == .binary(Data(repeating: 7, count: 1000)))
        #expect(throws: StoreError.self) { try files.container.store.externalData(named: "nothing") }
        #expect(same.spots.count == 5)
        let fault = try fresh.object(with: towns[0].objectID)
        #expect(try fault.value(forKey: "name") as? String == "0")
        let rows = try fresh.fetchValues(
            FetchRequest<Town>(sortedBy: [FetchSort("name")]).select(FetchColumn("region", .keyPath(["region"]))))
        #expect(rows.count == 5)
        #expect(rows.allSatisfy { $0["region"] == .object(region.objectID) })
    }

    @Test("A fetch, strict loading and statement counts see the statements of all stores")
    func statements() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        _ = Visit(context, "warm", Town(context, "Lima"))
        try context.save()
        let fresh = files.container.newContext()
        try expectStatements(2, in: files.container) {
            _ = try fresh.fetch(FetchRequest<Visit>())
            _ = try fresh.fetch(FetchRequest<Spot>())
        }
    }

    @Test("A closed container closes all of its stores")
    func closing() throws {
        let files = try TravelFiles()
        files.container.close()
        for configuration in ["Places", nil] {
            let store = try #require(files.container.store(forConfiguration: configuration))
            #expect(throws: StoreError.self) { try store.count(FetchPlan(entityIndex: 0)) }
        }
    }
}
