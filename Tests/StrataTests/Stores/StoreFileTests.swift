import Foundation
import Strata
import Testing

/// Files that contexts share: their model, writers that wait, and the write-ahead log.
@Suite struct StoreFileTests {
    private func model(
        reordered: Bool = false, changing: Bool = false, renamed: Bool = false
    ) throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Small") {
            if reordered { part(changing, renamed) }
            Entity("Owner") {
                if reordered {
                    Relationship(
                        "parts", to: "Part", .toMany, inverse: "owner", deleteRule: changing ? .cascade : .nullify)
                }
                Attribute("name", .string, default: changing ? .value("x") : nil).length(changing ? 1...5 : 0...50)
                Attribute("size", .integer32, default: .value(changing ? 7 : 0)).range(changing ? 0...9 : 0...99)
                if !reordered {
                    Relationship(
                        "parts", to: "Part", .toMany, inverse: "owner", deleteRule: changing ? .cascade : .nullify)
                }
            }
            if !reordered { part(changing, renamed) }
        }
    }

    private func part(_ changing: Bool, _ renamed: Bool) -> Entity {
        Entity("Part") {
            Attribute(renamed ? "title" : "label", .string).userInfo(changing ? ["a": "b"] : [:])
            Relationship("owner", to: "Owner", .optionalToOne, inverse: "parts")
        }
    }

    @Test("The version hash is the same in every run and for every order, and only what is stored enters it")
    func versionHash() throws {
        let hash = try model().versionHash
        #expect(try model(reordered: true).versionHash == hash)
        #expect(
            try model(changing: true).versionHash == hash, "defaults, rules, delete rules and user info do not count")
        #expect(try model(renamed: true).versionHash != hash)
        #expect(hash == "fc090a7efc45df5ffecf752d64db7c60", "a store that was made yesterday must open today")
    }

    @Test("A store opens with a model of the same hash, and refuses one that loses data with an error that says which")
    func openingStores() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-hash-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("small.sqlite").path
        let first = try PersistentContainer(model: model(), at: .file(path: path))
        let context = first.newContext()
        let owner = try context.insert(entityNamed: "Owner")
        owner["name"] = "n"
        try context.save()
        first.close()
        let second = try PersistentContainer(model: model(reordered: true, changing: true), at: .file(path: path))
        let reader = second.newContext()
        #expect(try reader.fetch(FetchRequest<ManagedObject>(entity: "Owner")).map { $0["name"] as? String } == ["n"])
        second.close()
        guard
            case .store(.migrationNeedsAnswers(_, let steps))? = persistenceError({
                try PersistentContainer(model: model(renamed: true), at: .file(path: path))
            })
        else {
            Issue.record("a store of another model was opened")
            return
        }
        #expect(steps.map(\.id) == ["Part.label"], "\(steps)")
    }

    @Test("Two containers on one file write at the same time; each waits for the other")
    func busyWriters() async throws {
        let file = try ZooFile()
        let second = try file.secondContainer()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (name, container) in [("a", file.container), ("b", second)] {
                group.addTask {
                    let context = container.newContext()
                    for round in 0..<100 {
                        _ = Sample(context, "\(name) \(round)")
                        try context.save()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await file.container.newContext().count(FetchRequest<Sample>()) == 200)
        #expect(try await second.newContext().count(FetchRequest<Sample>()) == 200)
        second.close()
    }

    @Test("Readers without pauses do not keep the write-ahead log from being emptied")
    func logSize() async throws {
        let file = try ZooFile()
        let container = file.container
        let text = String(repeating: "x", count: 2_000)
        let rounds = 400
        let written = rounds * 100 * text.utf8.count
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    let context = container.newContext()
                    while !Task.isCancelled {
                        let request = FetchRequest<Sample>(sortedBy: [FetchSort("label")], limit: 50)
                        let found: [Sample]
                        do throws(PersistenceError) { found = try await context.fetch(request) } catch {
                            guard case .cancelled = error else { throw error }
                            return
                        }
                        #expect(found.allSatisfy { $0.text?.count == 2_000 || $0.text?.count == 1_000 })
                        await Task.yield()
                    }
                }
            }
            let context = container.newContext()
            let samples = (0..<100).map { Sample(context, "\($0)") }
            for round in 0..<rounds {
                for sample in samples { sample.text = round.isMultiple(of: 2) ? text : String(text.prefix(1_000)) }
                try await context.save()
            }
            group.cancelAll()
            try await group.waitForAll()
        }
        let size = try FileManager.default.attributesOfItem(atPath: file.path + "-wal")[.size] as? Int ?? 0
        #expect(size < written / 3, "the log has \(size) bytes after \(written) bytes were written")
    }
}

/// Contexts that follow each other's saves.
@Suite struct MergeTests {
    @Test("Members, moves, pairs and orders that another context saved show in loaded relationships")
    func relationships() throws {
        let file = try ZooFile()
        let one = file.container.newContext(automaticallyMergesChanges: true)
        let two = file.container.newContext(automaticallyMergesChanges: true)
        let a = Enclosure(one, code: "AA-1")
        let b = Enclosure(one, code: "BB-2")
        let cat = Cat(one, name: "Tom", enclosure: a)
        let rex = Dog(one, name: "Rex")
        let sit = Trick(one, title: "sit")
        let beg = Trick(one, title: "beg")
        rex.tricks = [sit, beg]
        try one.save()
        #expect(a.animals == [cat] && b.animals.isEmpty && a.keepers.isEmpty)
        let otherCat = try two.existingObject(Cat.self, with: cat.objectID)
        let otherB = try two.existingObject(Enclosure.self, with: b.objectID)
        let otherRex = try two.existingObject(Dog.self, with: rex.objectID)
        otherCat.enclosure = otherB
        otherB.addKeepers([Keeper(two, name: "k")])
        otherRex.tricks.reverse()
        // Pending here, while the other saves.
        let new = Cat(one, name: "New", enclosure: b)
        b.addKeepers([Keeper(one, name: "l")])
        try two.save()
        one.processPendingChanges()
        #expect(cat.enclosure === b && a.animals.isEmpty && b.animals == [cat, new])
        #expect(Set(b.keepers.map(\.name)) == ["k", "l"])
        #expect(rex.tricks == [beg, sit])
        try one.save()
        two.processPendingChanges()
        #expect(Set(otherB.animals.map(\.name)) == ["Tom", "New"] && Set(otherB.keepers.map(\.name)) == ["k", "l"])
        #expect(otherRex.version == rex.version && otherCat.version == cat.version)
    }

    @Test("A context that does not merge stays as it is until it is refreshed, and meets conflicts")
    func withoutMerging() throws {
        let file = try ZooFile()
        let one = file.container.newContext()
        let two = file.container.newContext()
        let sample = Sample(one, "a")
        try one.save()
        let same = try two.existingObject(Sample.self, with: sample.objectID)
        same.label = "b"
        try two.save()
        one.processPendingChanges()
        #expect(sample.label == "a")
        one.automaticallyMergesChanges = true
        one.processPendingChanges()
        same.small = 5
        try two.save()
        one.processPendingChanges()
        #expect(sample.label == "b" && sample.small == 5 && sample.version == 3)
    }

    @Test("An object that this context deleted and another one changed, and the other way round")
    func deletesAndChanges() throws {
        let file = try ZooFile()
        let one = file.container.newContext(automaticallyMergesChanges: true)
        let two = file.container.newContext(automaticallyMergesChanges: true)
        let a = Sample(one, "a")
        let b = Sample(one, "b")
        try one.save()
        let otherA = try two.existingObject(Sample.self, with: a.objectID)
        let otherB = try two.existingObject(Sample.self, with: b.objectID)
        one.delete(a)
        otherA.small = 1
        otherB.small = 1
        try two.save()
        one.delete(b)
        one.processPendingChanges()
        #expect(a.isDeleted && b.isDeleted)
        one.mergePolicy = .overwrite
        try one.save()
        two.processPendingChanges()
        #expect(otherA.isMissing && otherB.isMissing && !two.hasChanges)
        #expect(try two.count(FetchRequest<Sample>()) == 0)
    }
}
