import Foundation
import SeededRandom
import StrataSQLite
import StrataStore
import Testing

@Suite struct RelationTests {
    let store: SQLiteStore
    let person: Int
    let group: Int

    init() throws {
        store = try SQLiteStore.open(model: try TestModel.make(), location: .memory(name: nil))
        person = try store.entity("Person").index
        group = try store.entity("Group").index
        var changes = ChangeSet()
        for key in Int64(1)...9 {
            changes.inserts.append(.init(row: try store.row("Person", key, ["name": .string("p\(key)")])))
            changes.inserts.append(.init(row: try store.row("Group", key, ["name": .string("g\(key)")])))
            changes.inserts.append(
                .init(
                    row: try store.row("Thing", key, ["order": .object(key < 7 ? 1 : 2), "owner": .object(10 - key)])))
        }
        _ = try store.commit(changes)
    }

    func commit(_ build: (inout ChangeSet) throws -> Void) throws {
        var changes = ChangeSet()
        try build(&changes)
        guard case .committed = try store.commit(changes) else { throw MissingName(name: "no conflict") }
    }

    func queue(_ owner: Int64...) throws -> [Int64] {
        let index = try store.relationship("Person", "queue").index
        return try store.memberRows(entityIndex: person, relationshipIndex: index, owners: owner).rows.map {
            $0.row.key
        }
    }

    func members(_ owner: Int64) throws -> [Int64] {
        let index = try store.relationship("Group", "members").index
        return try store.memberKeys(entityIndex: group, relationshipIndex: index, owners: [owner]).map(\.member)
    }

    func arrange(_ relationship: String, of entity: String, _ owner: Int64, _ kind: ChangeSet.OrderChange.Kind) throws {
        let entityIndex = try store.entity(entity).index
        let index = try store.relationship(entity, relationship).index
        try commit { $0.orders = [.init(entityIndex: entityIndex, relationshipIndex: index, owner: owner, kind: kind)] }
    }

    @Test func membersComeGroupedByOwner() throws {
        let index = try store.relationship("Person", "things").index
        let owners: [Int64] = [3, 1, 2, 50]
        let pairs = try store.memberKeys(entityIndex: person, relationshipIndex: index, owners: owners)
        #expect(pairs.map(\.owner) == [1, 2, 3] && pairs.map(\.member) == [9, 8, 7])
        // Rows without an order come as the table has them.
        let rows = try store.memberRows(entityIndex: person, relationshipIndex: index, owners: owners).rows
        #expect(rows.map { $0.row.key } == [7, 8, 9])
        #expect(try queue(2, 1) == [1, 2, 3, 4, 5, 6, 7, 8, 9])
    }

    @Test func orderIsKept() throws {
        try arrange("queue", of: "Person", 1, .arrange([6, 1, 2, 3, 4, 5]))
        #expect(try queue(1) == [6, 1, 2, 3, 4, 5])
        // Somebody else has added 4 and 5 since; each stays after the one that it follows.
        try arrange("queue", of: "Person", 1, .arrange([3, 1, 6, 2]))
        #expect(try queue(1) == [3, 4, 5, 1, 6, 2])
        try arrange("queue", of: "Person", 1, .append([1, 4]))
        #expect(try queue(1) == [3, 5, 6, 2, 1, 4])
        // One that is not a member changes nothing; a member that leaves and comes back is last.
        try arrange("queue", of: "Person", 1, .arrange([8, 4, 3, 5, 6, 2, 1]))
        #expect(try queue(1) == [4, 3, 5, 6, 2, 1])
        #expect(try queue(2) == [7, 8, 9])
        try commit { $0.updates = [try store.update("Thing", 4, base: 1, ["order": .object(2)], changed: ["order"])] }
        #expect(try queue(1) == [3, 5, 6, 2, 1])
        #expect(try queue(2).last == 9)
    }

    /// Moves within the gaps until they are used up, against a plain array.
    @Test func randomMovesAgreeWithAnArray() throws {
        let seed = RunSeed.value()
        print("randomMovesAgreeWithAnArray: seed \(seed)")
        var random = SplitMix64(seed: seed)
        var expected: [Int64] = [1, 2, 3, 4, 5, 6]
        try arrange("queue", of: "Person", 1, .append(expected))
        for round in 0..<300 {
            // The second place is hit again and again, so that its gap runs out.
            let member = expected.remove(at: Bool.random(using: &random) ? 5 : Int.random(in: 0..<6, using: &random))
            expected.insert(member, at: Bool.random(using: &random) ? 1 : Int.random(in: 0...5, using: &random))
            try arrange("queue", of: "Person", 1, .arrange(expected))
            #expect(try queue(1) == expected, "seed \(seed), round \(round)")
        }
    }

    @Test func aMoveWritesOneRow() throws {
        let log = TraceLog()
        var options = SQLiteStore.Options()
        options.trace = log.hook
        let traced = try SQLiteStore.open(model: store.model, location: .memory(name: nil), options: options)
        var changes = ChangeSet()
        changes.inserts = [.init(row: try traced.row("Person", 1, [:]))]
        for key in Int64(1)...1000 {
            changes.inserts.append(.init(row: try traced.row("Thing", key, ["order": .object(1)])))
        }
        let index = try store.relationship("Person", "queue").index
        changes.orders = [
            .init(entityIndex: person, relationshipIndex: index, owner: 1, kind: .append(Array(1...1000)))
        ]
        _ = try traced.commit(changes)
        log.clear()
        var move = ChangeSet()
        move.orders = [
            .init(entityIndex: person, relationshipIndex: index, owner: 1, kind: .arrange([1000] + Array(1...999)))
        ]
        _ = try traced.commit(move)
        #expect(log.statements.filter { $0.sql.hasPrefix("UPDATE") }.count == 1)
        let order = try traced.memberRows(entityIndex: person, relationshipIndex: index, owners: [1]).rows.map {
            $0.row.key
        }
        #expect(order == [1000] + Array(1...999))
    }

    @Test func pairsAreSets() throws {
        let groups = try store.relationship("Person", "groups")
        let members = try store.relationship("Group", "members")
        #expect(members.storage == .pairs(isPrimary: true))
        let change = ChangeSet.PairChange(
            entityIndex: group, relationshipIndex: members.index, owner: 1, added: [3, 2, 1], removed: [9])
        try commit { $0.pairs = [change] }
        try commit {
            $0.pairs = [
                change, .init(entityIndex: group, relationshipIndex: members.index, owner: 2, added: [2], removed: []),
            ]
        }
        #expect(try self.members(1) == [1, 2, 3])
        let backward = try store.memberKeys(entityIndex: person, relationshipIndex: groups.index, owners: [2, 3, 4])
        #expect(backward.map(\.owner) == [2, 2, 3])
        #expect(backward.map(\.member) == [1, 2, 1])
        try arrange("members", of: "Group", 1, .arrange([2, 3, 1]))
        #expect(try self.members(1) == [2, 3, 1])
        // A deleted object leaves its pairs.
        try commit { $0.deletes = [.init(entityIndex: person, key: 3, baseVersion: 1)] }
        #expect(try self.members(1) == [2, 1])
        try commit {
            $0.pairs = [
                .init(entityIndex: group, relationshipIndex: members.index, owner: 1, added: [], removed: [2, 5])
            ]
        }
        #expect(try self.members(1) == [1])
    }

    @Test func aRelationshipThatIsItsOwnInverseIsSeenFromBothSides() throws {
        let friends = try store.relationship("Person", "friends").index
        try commit {
            $0.pairs = [.init(entityIndex: person, relationshipIndex: friends, owner: 1, added: [2, 1], removed: [])]
        }
        let seen = try store.memberKeys(entityIndex: person, relationshipIndex: friends, owners: [1, 2])
        #expect(seen.map(\.owner) == [1, 1, 2] && seen.map(\.member) == [1, 2, 1])
        try commit {
            $0.pairs = [.init(entityIndex: person, relationshipIndex: friends, owner: 2, added: [], removed: [1])]
        }
        #expect(
            try store.memberKeys(entityIndex: person, relationshipIndex: friends, owners: [1, 2]).map(\.member) == [1])
    }

    @Test func pairsOfWhatIsGoneAreRefused() throws {
        let members = try store.relationship("Group", "members").index
        var changes = ChangeSet()
        changes.pairs = [.init(entityIndex: group, relationshipIndex: members, owner: 1, added: [500], removed: [])]
        let wrong = changes
        let error = #expect(throws: StoreError.self) { try store.commit(wrong) }
        guard case .constraint(entity: "Person", _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try self.members(1) == [])
    }
}
