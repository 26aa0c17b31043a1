import Foundation
import Strata

extension ConformanceCheck {
    static let counting: [ConformanceCheck] = [
        ConformanceCheck(.counting, "identities come in the order of the fetch") { trial in
            try fill(trial)
            let request = try trial.request("Item", sort: [FetchSort("name", ascending: false)])
            let ids = try trial.keep(trial.container.newContext()).fetchIDs(request)
            let objects = try trial.keep(trial.container.newContext()).fetch(request).map(\.objectID)
            try trial.expectEqual(ids, objects, "fetchIdentities must give the order that fetch gives")
        },
        ConformanceCheck(.counting, "identities respect limit and offset") { trial in
            try fill(trial)
            let request = try trial.request("Item", sort: [FetchSort("name")], limit: 2, offset: 2)
            let ids = try trial.keep(trial.container.newContext()).fetchIDs(request)
            let objects = try trial.keep(trial.container.newContext()).fetch(request).map(\.objectID)
            try trial.expectEqual(ids, objects, "identities of two objects after two")
        },
        ConformanceCheck(.counting, "identities name the object's own entity", needs: [.inheritance]) { trial in
            try trial.insert("Person", ["name": "p"])
            try trial.insert("Manager", ["name": "m"])
            try trial.context.save()
            let plan = try FetchPlan(trial, "Person", nil)
            let names = try trial.store.fetchIdentities(plan, cancellation: nil).map {
                trial.model.entities[$0.entityIndex].name
            }
            try trial.expectEqual(
                names.sorted(), ["Manager", "Person"], "the entities of what a fetch of Person finds")
        },
        ConformanceCheck(.counting, "rows by key: those that exist, no others") { trial in
            let made = try trial.items(["a", "b", "c"])
            let keys = made.map(\.objectID.key)
            let index = made[0].entity.index
            let rows = try trial.store.rows(entityIndex: index, keys: [keys[2], keys[0], keys[2], 1 << 60])
            try trial.expectEqual(
                Set(rows.rows.map(\.key)), [keys[0], keys[2]],
                "rows(entityIndex:keys:) of two keys, one of them twice, and one that does not exist")
            let none = try trial.store.rows(entityIndex: index, keys: [])
            try trial.expectEqual(none.count, 0, "rows of no keys")
        },
        ConformanceCheck(.counting, "many rows by key") { trial in
            let made = try trial.items((0..<2_000).map { "n\($0)" })
            let keys = made.map(\.objectID.key)
            let rows = try trial.store.rows(entityIndex: made[0].entity.index, keys: keys.reversed())
            try trial.expectEqual(Set(rows.rows.map(\.key)), Set(keys), "2,000 rows by key, asked for in one call")
        },
        ConformanceCheck(.counting, "what a reader has may come as a header, no more") { trial in
            let made = try trial.items(["a", "b"])
            let known = made[0].objectID.key
            let plan = try FetchPlan(trial, "Item", nil)
            let batch = try trial.store.fetch(plan, known: { _, key, _ in key == known }, cancellation: nil)
            for row in batch.rows where row.key != known {
                try trial.expect(
                    !row.row.isHeaderOnly, "the reader does not have object \(row.key), but its row came as a header")
            }
            let whole = try trial.store.fetch(plan)
            try trial.expect(
                whole.rows.allSatisfy { !$0.row.isHeaderOnly },
                "a fetch without `known` must give whole rows, not headers")
            try trial.expectEqual(
                Set(batch.rows.map(\.key)), Set(whole.rows.map(\.key)), "keys with and without `known`")
        },
    ]

    static let aggregates: [ConformanceCheck] = [
        ConformanceCheck(.aggregates, "sums, counts and extremes", needs: [.aggregates]) { trial in
            try fill(trial)
            let row = try values(
                trial,
                [
                    ("sum", "sum:(large)"), ("n", "count:(large)"), ("all", "count:(SELF)"), ("least", "min:(large)"),
                    ("most", "max:(large)"),
                ])
            try trial.expectEqual(
                row, [[.integer(6265), .integer(4), .integer(5), .integer(5), .integer(3400)]],
                "sum, count of values, count of objects, minimum and maximum of large")
        },
        ConformanceCheck(.aggregates, "averages", needs: [.aggregates]) { trial in
            try fill(trial)
            try trial.expectEqual(
                try values(trial, [("mean", "average:(large)")]), [[.double(1566.25)]],
                "the average of large, which leaves nil out")
        },
        ConformanceCheck(.aggregates, "one row of nothing", needs: [.aggregates]) { trial in
            try trial.expectEqual(
                try values(trial, [("n", "count:(SELF)"), ("most", "max:(large)")]), [[.integer(0), .null]],
                "count and maximum of no objects")
        },
        ConformanceCheck(.aggregates, "groups", needs: [.aggregates]) { trial in
            try trial.items(["a", "b", "c", "d"]) { ["large": Int64($0 % 2), "medium": Int32($0)] }
            var plan = ValuePlan(try FetchPlan(trial, "Item", nil), columns: [])
            plan.columns = [
                FetchColumn("key", try FetchExpression(format: "large")),
                FetchColumn("sum", try FetchExpression(format: "sum:(medium)")),
            ]
            plan.groupBy = [try FetchExpression(format: "large")]
            plan.fetch.sorts = [FetchSort("large")]
            try trial.expectEqual(
                try trial.store.values(plan), [[.integer(0), .integer(2)], [.integer(1), .integer(4)]],
                "sums of medium by large")
            plan.having = try FetchPredicate(format: "$sum > 3")
            try trial.expectEqual(
                try trial.store.values(plan), [[.integer(1), .integer(4)]], "the same, having a sum above 3")
        },
        ConformanceCheck(.aggregates, "distinct values", needs: [.aggregates]) { trial in
            try trial.items(["a", "b", "c"]) { ["large": Int64($0 / 2)] }
            var plan = ValuePlan(
                try FetchPlan(trial, "Item", nil),
                columns: [FetchColumn("large", try FetchExpression(format: "large"))])
            plan.isDistinct = true
            try trial.expectEqual(
                try trial.store.values(plan).sorted { "\($0)" < "\($1)" }, [[.integer(0)], [.integer(1)]],
                "the distinct values of large")
        },
    ]

    private static func values(_ trial: ConformanceTrial, _ columns: [(String, String)]) throws -> [[Value]] {
        let plan = ValuePlan(
            try FetchPlan(trial, "Item", nil),
            columns: try columns.map { FetchColumn($0.0, try FetchExpression(format: $0.1)) })
        return try trial.store.values(plan)
    }

    static let keys: [ConformanceCheck] = [
        ConformanceCheck(.keys, "reserved keys are never given twice") { trial in
            guard let entity = trial.model.entity(named: "Item") else { return }
            var seen: Set<Int64> = []
            for count in [1, 1, 7, 100, 1] {
                let range = try trial.store.allocateKeys(count, rootIndex: entity.rootIndex)
                try trial.expectEqual(range.count, count, "how many keys allocateKeys(\(count)) reserved")
                for key in range {
                    try trial.expect(
                        seen.insert(key).inserted, "allocateKeys gave the key \(key) twice: reserve them for good")
                }
            }
        },
        ConformanceCheck(.keys, "reserved keys are positive and free") { trial in
            let made = try trial.items(["a", "b"])
            let range = try trial.store.allocateKeys(10, rootIndex: made[0].entity.rootIndex)
            try trial.expect(range.lowerBound > 0, "allocateKeys gave the key \(range.lowerBound); keys are positive")
            for object in made {
                try trial.expect(
                    !range.contains(object.objectID.key),
                    "allocateKeys gave \(object.objectID.key), which an object has")
            }
        },
        ConformanceCheck(.keys, "keys are not given again after reopening", needs: [.persistence]) { trial in
            let made = try trial.items(["a", "b", "c"])
            let last = made.map(\.objectID.key).max() ?? 0
            let root = made[0].entity.rootIndex
            trial.context.delete(made[2])
            try trial.context.save()
            try trial.reopen()
            let range = try trial.store.allocateKeys(5, rootIndex: root)
            try trial.expect(
                range.lowerBound > last,
                "after reopening, allocateKeys gave \(range.lowerBound), but \(last) was in use before: an ObjectID must never name another object"
            )
        },
    ]
}
