#if Postgres
    import Foundation
    import PostgresFixture
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("Saving in PostgreSQL", .needsPostgres)
    struct SavingTests {
        // MARK: Values

        @Test func whatCannotBeKeptIsNamed() throws {
            let (store, _) = try PostgresStore.fresh()
            for (name, value) in [
                ("name", Value.string("a\u{0}b")), ("rate", .double(.nan)),
                ("founded", .date(Date(timeIntervalSinceReferenceDate: 1e15))),
            ] {
                let error = #expect(throws: StoreError.self) { try store.insert(("City", 1, [name: value])) }
                guard case .invalidData("City", name, 1, _) = error else {
                    Issue.record("\(name): \(String(describing: error))")
                    continue
                }
            }
            #expect(try store.count("City") == 0)
        }

        @Test func roundedDatesAreReported() throws {
            let (store, _) = try PostgresStore.fresh()
            let date = Date(timeIntervalSinceReferenceDate: 1.123_456_789)
            let effects = try #require(try store.insert(("City", 1, ["founded": .date(date)])).effects)
            let slot = try #require(store.model.entity(named: "City")?.slot(named: "founded"))
            let kept = try #require(effects.rows.first?.value(slot))
            #expect(kept == .date(Date(timeIntervalSinceReferenceDate: 1.123_457)))
            #expect(try store.read("City", 1)?["founded"] == kept)
            // An exact one is not.
            let exact = try store.insert(("City", 2, ["founded": kept]))
            #expect(exact.effects?.rows.isEmpty == true)
        }

        @Test func manyRowsAreCopied() throws {
            let (store, _) = try PostgresStore.fresh()
            let statements = Guarded<[String]>([])
            let observation = store.observeStatements { trace in statements.withLock { $0.append(trace.sql) } }
            var changes = ChangeSet()
            for key in 1...20_000 as ClosedRange<Int64> {
                changes.inserts.append(
                    .init(
                        row: try store.row(
                            key % 10 == 0 ? "Port" : "City", key,
                            [
                                "name": .string("City \(key)"), "count": key % 7 == 0 ? nil : .integer(key),
                                "price": .decimal(Decimal(key) / 100),
                            ])))
            }
            #expect(try store.commit(changes).effects != nil)
            #expect(statements.withLock(\.self).filter { $0.hasPrefix("COPY") }.count == 2)
            #expect(try store.count("City") == 20_000)
            #expect(try store.count("Port") == 2_000)
            #expect(try store.read("City", 19_990)?["price"] == .decimal(Decimal(string: "199.9")!))
            // All of them are updated by one statement.
            statements.withLock { $0 = [] }
            var updates = ChangeSet()
            for key in 1...5_000 as ClosedRange<Int64> {
                updates.updates.append(
                    try store.update(
                        key % 10 == 0 ? "Port" : "City", key, base: 1, ["name": "New", "count": .integer(-key)]))
            }
            #expect(try store.commit(updates).effects != nil)
            #expect(statements.withLock(\.self).filter { $0.hasPrefix("UPDATE") }.count == 2)
            #expect(try store.read("City", 5_000)?["count"] == -5_000)
            #expect(try store.version("City", 5_000) == 2)
            #expect(try store.version("City", 5_001) == 1)
            withExtendedLifetime(observation) {}
        }

        // MARK: Conflicts

        @Test func allConflictsAreListed() throws {
            let (store, _) = try PostgresStore.fresh()
            try store.insert(
                ("City", 1, ["name": "a"]), ("City", 2, ["name": "b", "code": "x"]), ("City", 3, [:]), ("City", 4, [:]))
            var others = ChangeSet()
            others.updates = [try store.update("City", 1, base: 1, ["name": "A"])]
            others.deletes = [.init(entityIndex: 0, key: 3, baseVersion: 1)]
            #expect(try store.commit(others).effects != nil)

            var changes = ChangeSet()
            changes.updates = [
                try store.update("City", 1, base: 1, ["name": "mine"]),
                try store.update("City", 3, base: 1, ["name": "mine"]),
                try store.update("City", 4, base: 1, ["code": "x"]),
            ]
            changes.inserts = [
                .init(row: try store.row("City", 10, ["code": "y"])),
                .init(row: try store.row("Port", 11, ["code": "y"])),
            ]
            changes.checks = [.init(entityIndex: 0, key: 2, version: 9)]
            let conflicts = try #require(try store.commit(changes).conflicts)
            let described = Set(
                conflicts.map {
                    "\($0.key) \($0.reason == .version ? "version" : "unique") \($0.otherKey ?? 0) \($0.storeRow != nil)"
                })
            #expect(
                described == [
                    "1 version 0 true", "3 version 0 false", "2 version 0 true", "4 unique 2 true",
                    "11 unique 10 false",
                ])
            // Nothing was written.
            #expect(try store.count("City") == 3)
            #expect(try store.read("City", 1)?["name"] == "A")
        }

        @Test func uniqueValuesAreExchanged() throws {
            let (store, _) = try PostgresStore.fresh()
            try store.insert(("City", 1, ["code": "a"]), ("City", 2, ["code": "b"]), ("City", 3, ["code": "c"]))
            var changes = ChangeSet()
            changes.updates = [
                try store.update("City", 1, base: 1, ["code": "b"]),
                try store.update("City", 2, base: 1, ["code": "a"]),
            ]
            // The value of a deleted object is free.
            changes.deletes = [.init(entityIndex: 0, key: 3, baseVersion: 1)]
            changes.inserts = [.init(row: try store.row("City", 4, ["code": "c"]))]
            #expect(try store.commit(changes).effects != nil)
            #expect(try store.read("City", 1)?["code"] == "b")
            #expect(try store.read("City", 4)?["code"] == "c")
        }

        @Test func constraintsOfSubentitiesConcernOnlyThem() throws {
            let (store, _) = try PostgresStore.fresh()
            try store.insert(("Port", 1, ["berth": "x", "code": "p"]))
            let conflicts = try #require(try store.insert(("Port", 2, ["berth": "x"])).conflicts)
            #expect(conflicts.map(\.otherKey) == [1])
            // That of the parent concerns both.
            #expect(try store.insert(("City", 3, ["code": "p"])).conflicts?.map(\.otherKey) == [1])
        }

        @Test func aKeyThatExistsIsNoConflict() throws {
            let (store, _) = try PostgresStore.fresh()
            try store.insert(("City", 1, [:]))
            let error = #expect(throws: StoreError.self) { try store.insert(("City", 1, [:])) }
            guard case .constraint("City", _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }

        @Test func referencesThatLeadNowhereAreRefused() throws {
            let (store, _) = try PostgresStore.fresh()
            let error = #expect(throws: StoreError.self) { try store.insert(("City", 1, ["land": .object(99)])) }
            guard case .constraint("City", let reason) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.contains("99"))
            // An object may refer to one that comes later in the same commit.
            #expect(try store.insert(("City", 1, ["land": .object(5)]), ("Land", 5, [:])).effects != nil)
            var changes = ChangeSet()
            changes.deletes = [.init(entityIndex: 2, key: 5, baseVersion: 1)]
            #expect(try store.commit(changes).effects?.referrers == [0: [1]])
            #expect(try store.read("City", 1)?["land"] == .null)
        }

        @Test("A cleared reference gives its row the next version, unless the change set writes the row itself")
        func versionsOfClearedReferences() throws {
            let (store, _) = try PostgresStore.fresh()
            try store.insert(
                ("Land", 5, [:]), ("City", 1, ["land": .object(5)]), ("City", 2, ["land": .object(5)]),
                ("City", 3, ["land": .object(5)]))
            var changes = ChangeSet()
            changes.deletes = [
                .init(entityIndex: 2, key: 5, baseVersion: 1), .init(entityIndex: 0, key: 3, baseVersion: 1),
            ]
            changes.updates = [try store.update("City", 2, base: 1, ["name": "Lima"])]
            let effects = try #require(try store.commit(changes).effects)
            #expect(effects.referrerVersions == [0: [1: 2]])
            #expect(try store.version("City", 1) == 2)
            #expect(try store.version("City", 2) == 2)
            #expect(try store.read("City", 1)?["land"] == .null)
            #expect(try store.read("City", 2)?["land"] == .null)

            var stale = ChangeSet()
            stale.updates = [try store.update("City", 1, base: 1, ["name": "Cusco"])]
            #expect(try store.commit(stale).conflicts?.map(\.key) == [1])
            var current = ChangeSet()
            current.updates = [
                try store.update("City", 1, base: 2, ["name": "Cusco"]),
                try store.update("City", 2, base: 2, ["name": "Piura"]),
            ]
            #expect(try store.commit(current).effects != nil)
        }

        @Test func derivedValuesFollow() throws {
            let (store, _) = try PostgresStore.fresh()
            try store.insert(
                ("Land", 1, [:]), ("City", 1, ["land": .object(1), "price": .decimal(Decimal(string: "1.25")!)]),
                ("Port", 2, ["land": .object(1), "price": .decimal(Decimal(string: "2.75")!)]))
            let land = try #require(try store.read("Land", 1))
            #expect(land["cityCount"] == 2)
            #expect(land["total"] == .decimal(4))
        }

        // MARK: External values

        @Test func largeValuesAreKeptApart() throws {
            let (store, url) = try PostgresStore.fresh { $0.externalStorageThreshold = 1000 }
            let large = Data(repeating: 7, count: 5000)
            try store.insert(("City", 1, ["photo": .binary(large)]), ("City", 2, ["photo": .binary(Data([1]))]))
            let slot = try #require(store.model.entity(named: "City")?.slot(named: "photo"))
            func row(_ key: Int64) throws -> RowReference? { try store.rows(entityIndex: 0, keys: [key]).rows.first }
            let first = try #require(try row(1))
            #expect(first.isExternal(slot))
            guard case .binary(let nameBytes) = first.value(slot) else { return }
            let name = String(decoding: nameBytes, as: UTF8.self)
            #expect(try store.externalData(named: name) == large)
            #expect(try row(2)?.isExternal(slot) == false)
            // A condition looks at the bytes themselves.
            var plan = FetchPlan(entityIndex: 0)
            plan.predicate = .comparison(.keyPath(["photo"]), .equal, .constant(.binary(large)), [])
            #expect(try store.fetchKeys(plan) == [1])
            // A replaced value is kept for those that hold the old row, and put back with it.
            var changes = ChangeSet()
            changes.updates = [try store.update("City", 1, base: 1, ["photo": .binary(Data([2]))])]
            #expect(try store.commit(changes).effects != nil)
            #expect(try store.externalData(named: name) == large)
            func dropped() throws -> Int64 {
                try PostgresConnection(PostgresSettings(address: url)).execute(
                    "SELECT count(*) FROM \"_blobs\" WHERE dropped_at IS NOT NULL"
                ).integer(0, 0)
            }
            #expect(try dropped() == 1)
            var back = ChangeSet()
            let slab = RowSlab.copy(of: first.row)
            RowEditing.setVersion(3, in: slab)
            back.updates = [
                .init(row: RowReference(slab: slab, row: slab.row), slots: SlotSet([slot.index]), baseVersion: 2)
            ]
            #expect(try store.commit(back).effects != nil)
            #expect(try dropped() == 0)
            // Once it is gone, a row cannot refer to it again.
            var delete = ChangeSet()
            delete.deletes = [.init(entityIndex: 0, key: 1, baseVersion: 3)]
            #expect(try store.commit(delete).effects != nil)
            try PostgresStore.open(at: url) { $0.externalRetention = 0 }.close()
            #expect(throws: StoreError.self) { try store.externalData(named: name) }
            var again = ChangeSet()
            let made = RowSlab.copy(of: first.row)
            again.inserts = [.init(row: RowReference(slab: made, row: made.row))]
            let error = #expect(throws: StoreError.self) { try store.commit(again) }
            #expect(error == .missingFile(entity: "City", property: "photo", key: 1, file: name))
        }

        // MARK: Keys

        @Test func keysAreReservedOnce() throws {
            let (store, url) = try PostgresStore.fresh()
            let other = try PostgresStore.open(at: url)
            let ranges = Guarded<[Range<Int64>]>([])
            onThreads(8) { number in
                for _ in 0..<20 {
                    guard let range = try? (number % 2 == 0 ? store : other).allocateKeys(7, rootIndex: 0) else {
                        return
                    }
                    ranges.withLock { $0.append(range) }
                }
            }
            let keys = ranges.withLock(\.self).flatMap { Array($0) }
            #expect(keys.count == 8 * 20 * 7)
            #expect(Set(keys).count == keys.count)
            // Rows that came in by other ways keep their keys.
            try store.insert(("City", 1_000_000, [:]))
            #expect(try other.allocateKeys(1, rootIndex: 0) == 1_000_001..<1_000_002)
            try store.insert(("City", StoreKeys.firstUnreserved + 5, [:]))
            #expect(try other.allocateKeys(1, rootIndex: 0).lowerBound == 1_000_002)
            try store.insert(("City", StoreKeys.firstUnreserved - 1, [:]))
            #expect(throws: StoreError.self) { try store.allocateKeys(1, rootIndex: 0) }
        }
    }
#endif
