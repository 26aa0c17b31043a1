import Foundation
import Strata
import StrataRemote
import StrataStore
import Testing

/// Answers that overtake each other, pages that shift, cursors that expire, records that make no sense.
@Suite struct CausalityTests {
    /// A store that has a city of the server, and a context on it.
    private func openWithCity() async throws -> (
        backend: Interceptor, store: RemoteStore, context: ManagedObjectContext, city: ManagedObject
    ) {
        let backend = Interceptor()
        backend.shelf.putCity("1", "first")
        let (store, context) = try Atlas.offline(backend)
        try await store.sync.pull()
        return (backend, store, context, try #require(try await context.fetch(cities()).first))
    }

    @Test("A fetch that is overtaken by a synchronization does not delete what that has sent")
    func fetchOvertaken() async throws {
        let backend = Interceptor(ShelfBackend { $0.features.insert(.conditionalWrites) })
        let (store, context) = try Atlas.offline(backend)
        try Atlas.city("1", "Lima", context)
        try await context.save()
        let gate = Gate()
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            guard case .query = operation else { return nil }
            let answer = try await shelf.perform(operation, options: RequestOptions())
            await gate.pass()
            return answer
        }
        let container = try PersistentContainer(store: store)
        let fetch = Task {
            let other = container.newContext()
            return try await other.fetch(cities(nil, .network)).count
        }
        await gate.reached()
        try await store.sync.push()
        gate.open()
        _ = try await fetch.value
        #expect(try await context.fetch(cities()).map(\.name) == ["Lima"])
    }

    @Test("An answer that was asked for earlier does not set back what a later one told", arguments: [true, false])
    func olderAnswer(tellsTime: Bool) async throws {
        let backend = Interceptor()
        backend.alter { _, answer throws(RemoteError) in
            guard case .page(var page) = answer, !tellsTime else { return answer }
            for index in page.records.indices { page.records[index].modified = nil }
            return .page(page)
        }
        backend.shelf.putCity("1", "first")
        let (store, context) = try Atlas.offline(backend)
        try await store.sync.pull()
        let lima = try #require(try await context.fetch(cities()).first)
        let gate = Gate()
        let isFirst = Guarded(true)
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            guard case .query = operation,
                isFirst.withLock({ first in
                    defer { first = false }
                    return first
                })
            else {
                return nil
            }
            let answer = try await shelf.perform(operation, options: RequestOptions())
            await gate.pass()
            return answer
        }
        let container = try PersistentContainer(store: store)
        let fetch = Task { try await container.newContext().fetch(cities(nil, .network)).count }
        await gate.reached()
        lima["name"] = "second"
        try await context.save()
        try await store.sync.push()
        gate.open()
        _ = try await fetch.value
        try context.refreshAllObjects()
        #expect(try await context.fetch(cities()).map(\.name) == ["second"])
        lima["name"] = "third"
        try await context.save()
        try await store.sync.push()
        #expect(try await context.fetch(cities()).map(\.name) == ["third"])
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("third")))
    }

    @Test("An answer that was asked for earlier does not bring back what a pull reports as deleted, known here or not")
    func olderThanDeletion() async throws {
        let (store, context) = try Atlas.offline(Interceptor())
        let (fetch, pull) = (store.mirror.ticket(), store.mirror.ticket())
        let lima = RemoteRecord(entity: "City", id: "1", values: ["name": .value(.string("Lima"))])
        _ = try store.mirror.apply(RemotePage(records: [], deleted: [lima.identity]), ticket: pull)
        _ = try store.mirror.apply(RemotePage(records: [lima]), ticket: fetch)
        #expect(try await context.fetch(cities()).isEmpty)
        _ = try store.mirror.apply(RemotePage(records: [lima]), ticket: store.mirror.ticket())
        #expect(try await context.fetch(cities()).count == 1)
    }

    @Test(
        "Of two answers that were under way together the second to arrive may be the older: its object is read again",
        arguments: [true, false])
    func answersUnderWayTogether(hasVersions: Bool) async throws {
        func lima(_ name: String, version: String) -> RemoteRecord {
            RemoteRecord(
                entity: "City", id: "1", values: ["name": .value(.string(name))], version: hasVersions ? version : nil)
        }
        let (store, context) = try Atlas.offline(Interceptor())
        _ = try store.mirror.apply(RemotePage(records: [lima("first", version: "1")]), ticket: store.mirror.ticket())
        // The first request is sent again, so that its answer is newer than that of the second.
        var tickets = [store.mirror.ticket(), store.mirror.ticket(), store.mirror.ticket()]
        _ = try store.mirror.apply(RemotePage(records: [lima("second", version: "2")]), ticket: tickets.removeFirst())
        _ = try store.mirror.apply(RemotePage(records: [lima("second", version: "2")]), ticket: tickets.removeFirst())
        #expect(try store.mirror.staleIdentities().isEmpty, "two answers that say the same")
        _ = try store.mirror.apply(RemotePage(records: [lima("first", version: "1")]), ticket: tickets.removeFirst())
        #expect(try await context.fetch(cities()).map(\.name) == ["second"])
        #expect(try store.mirror.staleIdentities() == [RemoteIdentity(entity: "City", id: "1")])
    }

    @Test("An object that is made again while a pull is under way is read again after its deletion here")
    func madeAgainMeanwhile() async throws {
        let (backend, store, context, lima) = try await openWithCity()
        let gate = Gate()
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            guard case .query = operation else { return nil }
            await gate.pass()
            return try await shelf.perform(operation, options: RequestOptions())
        }
        let pull = Task { try await store.sync.pull() }
        await gate.reached()
        context.delete(lima)
        try await context.save(options: RemoteOptions.network)
        backend.shelf.putCity("1", "second")
        gate.open()
        _ = try await pull.value
        #expect(try await context.fetch(cities()).map(\.name) == ["second"])
    }

    @Test("An answer that was asked for earlier does not set back what an online save has done")
    func olderThanSave() async throws {
        let (backend, store, context, lima) = try await openWithCity()
        let gate = Gate()
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            guard case .query = operation else { return nil }
            let answer = try await shelf.perform(operation, options: RequestOptions())
            await gate.pass()
            return answer
        }
        let container = try PersistentContainer(store: store)
        let fetch = Task { try await container.newContext().fetch(cities(nil, .network)).count }
        await gate.reached()
        lima["name"] = "second"
        try await context.save(options: RemoteOptions.network)
        gate.open()
        _ = try await fetch.value
        try context.refreshAllObjects()
        #expect(try await context.fetch(cities()).map(\.name) == ["second"])
        lima["name"] = "third"
        try await context.save(options: RemoteOptions.network)
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("third")))
    }

    @Test("What was changed while a write was under way is in no conflict with what the server made of that")
    func changedUnderWay() async throws {
        let backend = Interceptor()
        let (store, context) = try Atlas.offline(backend)
        let lima = try Atlas.city("1", "first", context)
        try await context.save()
        let gate = Gate()
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            guard case .create(let entity, var writes) = operation else { return nil }
            for index in writes.indices { writes[index].values["name"] = .value(.string("FIRST")) }
            let answer = try await shelf.perform(.create(entity: entity, writes), options: RequestOptions())
            await gate.pass()
            return answer
        }
        let push = Task { try await store.sync.push() }
        await gate.reached()
        lima["name"] = "second"
        try await context.save()
        gate.open()
        let report = try await push.value
        #expect(report.results.allSatisfy { $0.action == .created || $0.action == .updated })
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("second")))
        #expect(lima.name == "second")
    }

    @Test("A server whose clock steps back is believed all the same")
    func clockStepsBack() async throws {
        let backend = ShelfBackend.conditional()
        backend.now = Date(timeIntervalSinceReferenceDate: 1_000_000)
        backend.putCity("1", "Lima")
        let (store, context) = try Atlas.openOffline(backend)
        try await store.sync.pull()
        backend.now = Date(timeIntervalSinceReferenceDate: 500_000)
        backend.putCity("1", "Quito")
        try await store.sync.pull()
        let city = try #require(try await context.fetch(cities()).first)
        #expect(city.name == "Quito")
        city["name"] = "Cusco"
        try await context.save()
        #expect(try await store.sync.push().results.map(\.action) == [.updated])
    }

    @Test("A push that is asked for while a synchronization pulls sends what was saved since")
    func pushDuringPull() async throws {
        let backend = Interceptor()
        backend.shelf.putCity("1", "Lima")
        let (store, context) = try Atlas.offline(backend)
        let gate = Gate()
        backend.intercept { operation throws(RemoteError) in
            if case .query = operation { await gate.pass() }
            return nil
        }
        let first = Task { try await store.sync.synchronize() }
        await gate.reached()
        try Atlas.city("2", "Quito", context)
        try await context.save()
        let second = Task { try await store.sync.synchronize() }
        try await Task.sleep(for: .milliseconds(20))
        gate.open()
        _ = try await first.value
        _ = try await second.value
        #expect(try store.sync.pendingCount() == 0)
        #expect(backend.shelf.record("City", "2") != nil)
    }

    @Test("A delete that takes the place of a queued change survives the push that had looked at the change")
    func deleteInPlace() async throws {
        let backend = ShelfBackend.conditional()
        backend.putCity("1", "Lima")
        let (store, context) = try Atlas.openOffline(backend)
        try await store.sync.pull()
        let city = try #require(try await context.fetch(cities()).first)
        city["name"] = "Edited"
        try await context.save()
        // What a push has read when the save comes in between.
        let seen = try store.mirror.pendingEntries()
        context.delete(city)
        try await context.save()
        try store.mirror.skip(try #require(seen.first))
        try store.mirror.completeUnsent(try #require(seen.first))
        #expect(try store.sync.pendingCount() == 1)
        try await store.sync.push()
        #expect(backend.record("City", "1") == nil)
    }

    @Test("A change that joins a queued one survives the push that found nothing to send in it")
    func changeInPlace() async throws {
        let backend = ShelfBackend.conditional()
        backend.putCity("1", "Lima")
        let (store, context) = try Atlas.openOffline(backend)
        try await store.sync.pull()
        let city = try #require(try await context.fetch(cities()).first)
        city["name"] = "Edited"
        try await context.save()
        let seen = try store.mirror.pendingEntries()
        city["population"] = Int64(7)
        try await context.save()
        try store.mirror.completeUnsent(try #require(seen.first))
        #expect(try store.sync.pendingCount() == 1)
    }

    @Test("One record that makes no sense keeps no other from the mirror, and is read once it does")
    func unreadable() async throws {
        let backend = ShelfBackend.conditional()
        backend.putCountry("pe", "Peru")
        backend.put("City", "1", ["name": .value(.boolean(true))])
        backend.putCity("2", "Quito")
        backend.put("Tag", "t", ["label": .value(.string("old"))])
        let (store, context) = try Atlas.openOffline(backend)
        let report = try await store.sync.pull()
        #expect(report.unreadable.map(\.identity) == [RemoteIdentity(entity: "City", id: "1")])
        #expect(report.unreadable.first?.error.message.contains("City.name") == true)
        #expect(try await context.fetch(cities()).map(\.name) == ["Quito"])
        #expect(try await context.count(FetchRequest<ManagedObject>(entity: "Tag")) == 1)
        #expect(store.sync.unreadableRecords().count == 1)
        backend.putCity("1", "Lima")
        #expect(try await store.sync.pull().unreadable.isEmpty)
        #expect(try await context.count(cities()) == 2)
        #expect(store.sync.unreadableRecords().isEmpty)
    }

    @Test("An entity that the server does not have keeps no other from the mirror")
    func unknownEntity() async throws {
        let backend = Interceptor()
        backend.shelf.put("Tag", "t", ["label": .value(.string("old"))])
        backend.intercept { operation throws(RemoteError) in
            if case .query(let query) = operation, query.entity.name == "City" {
                throw RemoteError(.notFound, message: "no such schema", status: 404)
            }
            return nil
        }
        let (store, context) = try Atlas.offline(backend)
        await #expect(throws: SyncError.self) { try await store.sync.pull() }
        #expect(try await context.count(FetchRequest<ManagedObject>(entity: "Tag")) == 1)
    }

    @Test("An expired cursor makes the pull begin anew, and what is gone goes")
    func expiredCursor() async throws {
        let backend = Interceptor { $0.features.formUnion([.incrementalPull, .deletions]) }
        let epoch = Guarded(1)
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            guard case .pull(let pull) = operation else { return nil }
            let now = epoch.withLock { $0 }
            if let cursor = pull.cursor, cursor != "\(now)" {
                throw RemoteError(.cursorExpired, message: "begin anew", status: 410)
            }
            if pull.cursor != nil { return .page(RemotePage(next: "\(now)")) }
            guard
                case .page(var page) = try await shelf.perform(
                    .query(RemoteQuery(entity: pull.entity)), options: RequestOptions())
            else { return nil }
            page.next = "\(now)"
            page.hasMore = false
            return .page(page)
        }
        for number in 1...5 { backend.shelf.putCity("\(number)", "City \(number)") }
        let (store, context) = try Atlas.offline(backend)
        try await store.sync.pull()
        backend.shelf.take("City", "2")
        backend.shelf.putCity("6", "City 6")
        epoch.withLock { $0 = 2 }
        try await store.sync.pull()
        #expect(try await context.fetch(cities()).map(\.name) == ["City 1", "City 3", "City 4", "City 5", "City 6"])
    }

    @Test(
        "What is forgotten while a pull is under way comes back, however far the pull came", arguments: [false, true])
    func forgottenDuringPull(onlyCities: Bool) async throws {
        let backend = Interceptor { $0.features.formUnion([.incrementalPull, .deletions]) }
        for number in 1...4 { backend.shelf.putCity("\(number)", "City \(number)") }
        let forget = Guarded<(@Sendable () throws -> Void)?>(nil)
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            guard case .pull(let pull) = operation else { return nil }
            guard pull.entity.name == "City" else { return .page(RemotePage(next: "0")) }
            let first = (pull.cursor.flatMap(Int.init) ?? 0) + 1
            guard first <= 4 else { return .page(RemotePage(next: pull.cursor)) }
            if first == 3,
                let body = forget.withLock({ body in
                    defer { body = nil }
                    return body
                })
            {
                try? body()
            }
            let record = shelf.record("City", "\(first)")
            return .page(RemotePage(records: record.map { [$0] } ?? [], next: "\(first)", hasMore: first < 4))
        }
        let (store, context) = try Atlas.offline(backend)
        let city = try #require(Atlas.model.entity(named: "City"))
        forget.withLock { $0 = { if onlyCities { try store.sync.purge(city) } else { try store.sync.reset() } } }
        try await store.sync.pull()
        try await store.sync.pull()
        #expect(forget.withLock { $0 == nil })
        #expect(try await context.fetch(cities()).map(\.name) == ["City 1", "City 2", "City 3", "City 4"])
    }

    @Test("A cursor that leads back to itself ends the pull with an error")
    func endlessCursor() async throws {
        let backend = Interceptor { $0.features.insert(.incrementalPull) }
        backend.intercept { operation throws(RemoteError) in
            guard case .pull(let pull) = operation else { return nil }
            return .page(RemotePage(next: pull.cursor == "a" ? "b" : "a", hasMore: true))
        }
        let (store, _) = try Atlas.offline(backend)
        await #expect(throws: SyncError.self) { try await store.sync.pull() }
        #expect(backend.count < 20)
    }

    @Test("A pull by time of change misses nothing while others write")
    func shiftingPages() async throws {
        let backend = Interceptor()
        for number in 0..<9 {
            backend.shelf.put(
                "City", "\(number)",
                ["name": .value(.string("City \(number)")), "revision": .value(.integer(0)), "changed": time(number)])
        }
        let isFirst = Guarded(true)
        backend.alter { [shelf = backend.shelf] operation, answer throws(RemoteError) in
            if case .query = operation,
                isFirst.withLock({ first in
                    defer { first = false }
                    return first
                })
            {
                shelf.put("City", "1", ["changed": Self.time(100)])
            }
            return answer
        }
        let model = try ManagedObjectModel(name: "Timed") {
            Entity("City") {
                Attribute("cityId", .string)
                Attribute("name", .string, optional: true)
                Attribute("revision", .integer64, optional: true)
                Attribute("changed", .date, optional: true)
            }
        }
        let (store, context) = try Atlas.offline(backend, model: model) { options in
            options.sync.modificationAttribute = "changed"
            options.sync.pageSize = 3
            options.sync.entities = ["City"]
        }
        try await store.sync.pull()
        #expect(try await context.count(FetchRequest<ManagedObject>(entity: "City")) == 9)
    }

    private static func time(_ seconds: Int) -> RemoteValue {
        .value(.date(Date(timeIntervalSinceReferenceDate: Double(seconds))))
    }

    private func time(_ seconds: Int) -> RemoteValue { Self.time(seconds) }

    @Test("A back end that gives the first objects only, and says how many, loses none here")
    func cappedAnswers() async throws {
        let backend = Interceptor { $0.maximumPage = 5 }
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            guard case .query(var query) = operation else { return nil }
            query.limit = min(query.limit ?? 5, 5)
            guard case .page(var page) = try await shelf.perform(.query(query), options: RequestOptions()) else {
                return nil
            }
            page.next = nil
            page.hasMore = false
            return .page(page)
        }
        for number in 0..<12 { backend.shelf.putCity("\(number)", "City \(number)") }
        let (_, context) = try Atlas.offline(backend) { $0.fetchPolicy = .networkOnly }
        #expect(try await context.fetch(cities()).count == 12)
    }
}
