import Foundation
import StrataSQLite
import StrataStore
import Testing

@Suite struct ConflictTests {
    let store: SQLiteStore

    init() throws {
        store = try SQLiteStore.open(model: try TestModel.make(), location: .memory(name: nil))
        try store.insert(
            ("Thing", 1, ["title": "a", "code": "one"]), ("Thing", 2, ["title": "b", "code": "two"]),
            ("Gadget", 3, ["title": "c", "code": "three", "serial": "s3"]),
            ("Person", 1, ["name": "Ada", "email": "a"]), ("Person", 2, ["name": "Ada", "email": "b"]))
    }

    func commit(_ build: (inout ChangeSet) throws -> Void) throws -> [StoreConflict] {
        var changes = ChangeSet()
        try build(&changes)
        if case .conflicts(let conflicts) = try store.commit(changes) { return conflicts }
        return []
    }

    @Test func anUpdateWritesItsSlotsAlone() throws {
        let none = try commit {
            $0.updates = [try store.update("Thing", 1, base: 1, ["title": "z"], changed: ["title"])]
        }
        #expect(none.isEmpty)
        let values = try #require(try store.values("Thing", 1))
        #expect(values["title"] == "z" && values["code"] == "one")
        let batch = try store.rows(entityIndex: 0, keys: [1])
        #expect(batch.rows.map { $0.row.version } == [2])
    }

    @Test func staleUpdatesAndDeletesAreAllListedAndNothingIsWritten() throws {
        _ = try commit { $0.updates = [try store.update("Thing", 1, base: 1, ["title": "new"], changed: ["title"])] }
        _ = try commit { $0.deletes = [.init(entityIndex: 0, key: 2, baseVersion: 1)] }
        let conflicts = try commit {
            $0.updates = [
                try store.update("Thing", 1, base: 1, ["title": "mine"], changed: ["title"]),
                try store.update("Thing", 2, base: 1, ["title": "mine"], changed: ["title"]),
                try store.update("Gadget", 3, base: 1, ["title": "mine"], changed: ["title"]),
            ]
            $0.deletes = [
                .init(entityIndex: 0, key: 1, baseVersion: 1), .init(entityIndex: 0, key: 99, baseVersion: 1),
            ]
        }
        #expect(conflicts.map(\.key) == [1, 1, 2])
        #expect(conflicts.map(\.reason) == [.version, .version, .version])
        #expect(conflicts[0].storeRow?.row.version == 2)
        #expect(conflicts[2].storeRow == nil)
        #expect(try store.values("Gadget", 3)?["title"] == "c")
        // A delete that has read no version takes what is there; a delete of a deleted row does nothing.
        #expect(
            try commit {
                $0.deletes = [
                    .init(entityIndex: 0, key: 1, baseVersion: nil), .init(entityIndex: 0, key: 2, baseVersion: 1),
                ]
            }.isEmpty)
        #expect(try store.keys("Thing") == [3])
    }

    @Test func uniqueConflictsNameTheirRow() throws {
        let thing = try store.entity("Thing")
        let person = try store.entity("Person")
        let code = try #require(thing.slot(named: "code")).index
        let conflicts = try commit {
            $0.inserts = [
                .init(row: try store.row("Thing", 10, ["code": "one"])),
                .init(row: try store.row("Thing", 11, ["code": "fresh"])),
                .init(row: try store.row("Widget", 12, ["code": "fresh"])),
                .init(row: try store.row("Person", 10, ["name": "Ada", "email": "b"])),
                .init(row: try store.row("Person", 11, ["name": "Ada"])),
                .init(row: try store.row("Person", 12, ["name": "Ada"])),
            ]
        }
        #expect(conflicts.map(\.key) == [10, 12, 10])
        #expect(conflicts[0].reason == .unique(slots: [code]))
        #expect(conflicts[0].storeRow?.row.key == 1 && conflicts[0].otherKey == 1)
        #expect(conflicts[1].storeRow == nil && conflicts[1].otherKey == 11)
        #expect(
            conflicts[2].reason
                == .unique(slots: [
                    try #require(person.slot(named: "name")).index, try #require(person.slot(named: "email")).index,
                ]))
        #expect(conflicts[2].otherKey == 2)
        #expect(try store.keys("Person") == [1, 2])
    }

    @Test func anImportMadeTwiceTellsOfEachRow() throws {
        var changes = ChangeSet()
        for key in Int64(1)...5000 {
            changes.inserts.append(.init(row: try store.row("Widget", 1000 + key, ["code": .string("w\(key)")])))
        }
        guard case .committed = try store.commit(changes) else {
            Issue.record("a conflict among new rows")
            return
        }
        var again = ChangeSet()
        for key in Int64(1)...5000 {
            again.inserts.append(.init(row: try store.row("Thing", 10_000 + key, ["code": .string("w\(key)")])))
        }
        guard case .conflicts(let conflicts) = try store.commit(again) else {
            Issue.record("no conflicts")
            return
        }
        #expect(conflicts.count == 5000)
        let wrong = conflicts.filter { $0.storeRow?.row.key != $0.otherKey || $0.otherKey != $0.key - 9000 }
        #expect(wrong.count == 0)
    }

    @Test func aConstraintOfASubentityConcernsItAlone() throws {
        #expect(
            try commit {
                $0.inserts = [
                    .init(row: try store.row("Gadget", 20, ["serial": "s4"])),
                    .init(row: try store.row("Gadget", 21, [:])),
                ]
            }.isEmpty)
        let conflicts = try commit { $0.inserts = [.init(row: try store.row("Gadget", 22, ["serial": "s3"]))] }
        #expect(conflicts.map(\.otherKey) == [3])
    }

    @Test func valuesCanBeSwappedAndRotated() throws {
        #expect(
            try commit {
                $0.updates = [
                    try store.update("Thing", 1, base: 1, ["code": "two"], changed: ["code"]),
                    try store.update(
                        "Thing", 2, base: 1, ["code": "three", "title": "r"], changed: ["code", "title"]),
                    try store.update("Gadget", 3, base: 1, ["code": "one"], changed: ["code"]),
                ]
            }.isEmpty)
        #expect(try store.values("Thing", 1)?["code"] == "two")
        #expect(try store.values("Thing", 2)?["code"] == "three")
        #expect(try store.values("Thing", 3)?["code"] == "one")
        #expect(
            try commit {
                $0.updates = [
                    try store.update("Person", 1, base: 1, ["name": "Ada", "email": "b"], changed: ["email"]),
                    try store.update("Person", 2, base: 1, ["name": "Ada", "email": "a"], changed: ["email"]),
                ]
            }.isEmpty)
        #expect(try store.values("Person", 1)?["email"] == "b")
    }

    @Test func aDeletedRowGivesItsValueFree() throws {
        #expect(
            try commit {
                $0.deletes = [.init(entityIndex: 0, key: 1, baseVersion: 1)]
                $0.inserts = [.init(row: try store.row("Thing", 10, ["code": "one"]))]
            }.isEmpty)
        #expect(try store.keys("Thing") == [2, 3, 10])
    }

    @Test func danglingReferencesAreNamed() throws {
        var changes = ChangeSet()
        changes.inserts = [.init(row: try store.row("Thing", 10, ["owner": .object(77)]))]
        let wrong = changes
        let error = #expect(throws: StoreError.self) { try store.commit(wrong) }
        guard case .constraint(entity: "Thing", let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("object 10") && reason.contains("owner"))
        // The store works on; references within a change set may come in any order.
        #expect(
            try commit {
                $0.inserts = [
                    .init(row: try store.row("Thing", 10, ["owner": .object(77)])),
                    .init(row: try store.row("Person", 77, [:])),
                ]
            }.isEmpty)
        #expect(
            try commit { $0.deletes = [.init(entityIndex: try store.entity("Person").index, key: 77, baseVersion: 1)] }
                .isEmpty)
        #expect(try store.values("Thing", 10)?["owner"] == .null)
    }

    @Test func aKeyThatIsTakenIsAnError() throws {
        var changes = ChangeSet()
        changes.inserts = [.init(row: try store.row("Thing", 1, [:]))]
        let wrong = changes
        let error = #expect(throws: StoreError.self) { try store.commit(wrong) }
        guard case .constraint(entity: "Thing", let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("object 1"))
    }
}
