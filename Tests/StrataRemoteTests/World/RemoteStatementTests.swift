import Foundation
import Strata
import StrataRemote
import StrataStore
import Testing

/// How many statements synchronization costs, those that write the rows included: a fifth of one for each object.
@Suite struct RemoteStatementTests {
    /// A store that works on its mirror, with the statements that it has run since they were asked for last.
    private struct Counted {
        let store: RemoteStore
        let context: ManagedObjectContext
        private let log = Guarded<[String]>([])

        init(_ backend: ShelfBackend) throws {
            let log = self.log
            (store, context) = try Atlas.offline(backend) { options in
                options.sync.pageSize = 500
                options.mirror.trace = { trace in log.withLock { $0.append(trace.sql) } }
            }
        }

        func take() -> [String] {
            log.withLock { log in
                defer { log = [] }
                return log
            }
        }
    }

    /// One that takes as many writes in a request as `strata-server` does.
    private func backend() -> ShelfBackend {
        ShelfBackend {
            $0.features.formUnion([.conditionalWrites, .batches])
            $0.maximumBatch = 150
        }
    }

    /// Each statement once, with how often it was run.
    private func summary(_ statements: [String]) -> String {
        Dictionary(grouping: statements.map { $0.prefix(90) }, by: \.self).sorted { $0.value.count > $1.value.count }
            .map { "\($0.value.count) × \($0.key)" }.joined(separator: "\n")
    }

    private func fill(_ backend: ShelfBackend, _ name: String) {
        for number in 0..<20 {
            backend.put("Tag", "t\(number)", ["label": .value(.string(name))])
            backend.putCountry("c\(number)", "\(name) \(number)")
        }
        for number in 0..<400 {
            backend.putCity(
                "\(number)", "\(name) \(number)", country: "c\(number % 20)",
                tags: ["t\(number % 20)", "t\((number + 3) % 20)"])
        }
    }

    @Test("A pull takes new, changed and deleted objects in as sets")
    func pull() async throws {
        let backend = backend()
        fill(backend, "old")
        let counted = try Counted(backend)
        _ = counted.take()
        try await counted.store.sync.pull()
        let new = counted.take()
        #expect(try await counted.context.count(cities()) == 400)
        #expect(new.count <= 440 / 5, "\(new.count):\n\(summary(new))")

        fill(backend, "new")
        _ = counted.take()
        try await counted.store.sync.pull()
        let changed = counted.take()
        #expect(try await counted.context.count(cities("name BEGINSWITH 'new'")) == 400)
        #expect(changed.count <= 440 / 5, "\(changed.count):\n\(summary(changed))")

        for number in 0..<190 { backend.take("City", "\(number)") }
        _ = counted.take()
        try await counted.store.sync.pull()
        let deleted = counted.take()
        #expect(try await counted.context.count(cities()) == 210)
        #expect(deleted.count <= 440 / 5, "\(deleted.count):\n\(summary(deleted))")
    }

    @Test("A pull below changes that wait takes objects in as sets, too")
    func pullBelowChanges() async throws {
        let backend = backend()
        fill(backend, "old")
        let counted = try Counted(backend)
        try await counted.store.sync.pull()
        for city in try await counted.context.fetch(cities()) { city["population"] = Int64(7) }
        try await counted.context.save()
        fill(backend, "new")
        _ = counted.take()
        try await counted.store.sync.pull()
        let statements = counted.take()
        #expect(statements.count <= 440 / 5, "\(statements.count):\n\(summary(statements))")
        try counted.context.refreshAllObjects()
        let found = try await counted.context.fetch(cities("name BEGINSWITH 'new' AND population == 7"))
        #expect(found.count == 400)
    }

    @Test("To save, send and confirm new, changed and deleted objects is done by sets")
    func push() async throws {
        let backend = backend()
        fill(backend, "theirs")
        let counted = try Counted(backend)
        try await counted.store.sync.pull()
        let context = counted.context
        let tags = try await context.fetch(FetchRequest<ManagedObject>(entity: "Tag"))
        let countries = try await context.fetch(FetchRequest<ManagedObject>(entity: "Country"))
        for number in 0..<600 {
            let city = try context.insert(entityNamed: "City")
            city["name"] = "ours \(number)"
            city["country"] = countries[number % 20]
            city["tags"] = [tags[number % 20], tags[(number + 3) % 20]] as Set<ManagedObject>
        }
        _ = counted.take()
        try await context.save()
        try await counted.store.sync.push()
        let new = counted.take()
        #expect(backend.count("City") == 1000)
        #expect(new.count <= 600 / 5, "\(new.count):\n\(summary(new))")

        let ours = try await context.fetch(cities("name BEGINSWITH 'ours'"))
        #expect(ours.allSatisfy { $0["revision"] != nil })
        for city in ours { city["population"] = Int64(12) }
        _ = counted.take()
        try await context.save()
        try await counted.store.sync.push()
        let changed = counted.take()
        #expect(try counted.store.sync.pendingCount() == 0)
        #expect(changed.count <= 600 / 5, "\(changed.count):\n\(summary(changed))")

        for city in ours { context.delete(city) }
        _ = counted.take()
        try await context.save()
        try await counted.store.sync.push()
        let deleted = counted.take()
        #expect(backend.count("City") == 400)
        #expect(deleted.count <= 600 / 5, "\(deleted.count):\n\(summary(deleted))")
    }
}
