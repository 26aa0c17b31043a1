import Foundation
import StrataSQL
import StrataStore
import Testing

@testable import StrataSQLite

/// Commits and fetches of very many kinds, of which no cache may keep all.
@Suite struct ManyShapesTests {
    private func store(attributes: Int) throws -> (SQLiteStore, EntityDescription) {
        var entity = Entity(name: "Wide", location: nil)
        entity.attributes = (0..<attributes).map { Attribute("a\($0)", .integer64, optional: true) }
        let model = try ManagedObjectModel(name: "Wide", entities: [entity])
        let store = try SQLiteStore.open(model: model, location: .memory(name: nil))
        return (store, model.entities[0])
    }

    @Test func aCommitOfManySetsOfChangedPropertiesKeepsTheStatementsOfOthers() throws {
        let (store, entity) = try store(attributes: 12)
        var inserts = ChangeSet()
        for key in Int64(1)...2000 { inserts.inserts.append(.init(row: try store.row("Wide", key, [:]))) }
        _ = try store.commit(inserts)
        var plan = FetchPlan(entityIndex: entity.index)
        plan.predicate = try FetchPredicate(format: "a0 == 1")
        _ = try store.fetchKeys(plan)
        // As many sets of slots as there are updates: the bits of a number say which slots.
        var changes = ChangeSet()
        for key in Int64(1)...2000 {
            let slots = (0..<12).filter { key &>> Int64($0) & 1 == 1 }
            let values = Dictionary(uniqueKeysWithValues: slots.map { ("a\($0)", Value.integer(key)) })
            changes.updates.append(try store.update("Wide", key, base: 1, values, changed: Array(values.keys)))
        }
        guard case .committed = try store.commit(changes) else {
            Issue.record("a conflict")
            return
        }
        #expect(try store.values("Wide", 5)?["a2"] == 5)
        #expect(try store.values("Wide", 5)?["a1"] == .null)
        #expect(try store.values("Wide", 2000)?["a10"] == 2000)
        let plans = store.writePlans[entity.index]
        try store.pool.write { (connection) throws(StoreError) in
            #expect(connection.keepsStatement(plans.insertSQL(rows: 150)))
            #expect(connection.keepsStatement("COMMIT"))
            // The last of 2,000 sets is not what a later commit is likely to have.
            #expect(!connection.keepsStatement(plans.updateSQL(plans.fields)))
        }
        store.close()
    }

    @Test func fetchesOfManyShapesKeepTheOneThatIsUsedBetweenThem() throws {
        let (store, entity) = try store(attributes: 40)
        var often = FetchPlan(entityIndex: entity.index)
        often.predicate = try FetchPredicate(format: "a0 == 1 AND a39 == 2")
        var rare = often
        for first in 0..<30 {
            for second in 0..<30 {
                rare.predicate = try FetchPredicate(format: "a\(first) > 1 OR a\(second) < 2")
                _ = try store.fetchKeys(rare)
                _ = try store.fetchKeys(often)
            }
        }
        let key = FetchShape(often, .identities).key
        try store.pool.write { (connection) throws(StoreError) in
            #expect(connection.fetches.find(key) != nil)
        }
        store.close()
    }

    @Test func aHierarchyWithTooManyColumnsIsRefusedInItsOwnWords() throws {
        let error = #expect(throws: StoreError.self) { try store(attributes: 2100) }
        guard case .unsupported(_, let feature) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(feature.contains("attributes") && feature.contains("2,000 columns") && !feature.contains("condition"))
        let (wide, entity) = try store(attributes: 1990)
        try wide.insert(("Wide", 1, ["a0": 1, "a1989": 2]))
        #expect(try wide.values("Wide", 1)?["a1989"] == 2)
        #expect(entity.slots.count == 1990)
        wide.close()
    }
}
