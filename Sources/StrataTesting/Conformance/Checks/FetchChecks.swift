import Foundation
import Strata

extension ConformanceCheck {
    static let fetching: [ConformanceCheck] = [
        ConformanceCheck(.fetching, "a fetch without a condition finds all") { trial in
            try trial.items(["a", "b", "c"])
            try trial.expectEqual(try trial.names("Item").sorted(), ["a", "b", "c"], "all items")
            try trial.expectEqual(try trial.names("Person"), [], "persons, of which there are none")
        },
        finds("equality", "name == 'Lima'", ["Lima"]),
        finds("equality tells cases apart", "name == 'lima'", []),
        finds("equality without case", "name ==[c] 'LIMA'", ["Lima"]),
        finds("equality without accents", "name ==[cd] 'quite\u{301}'", ["Quite"]),
        finds("a nil is unequal to every value", "large != 5", ["Cusco", "Lima", "Nil", "Quite"]),
        finds("a nil is equal to nil", "large == nil", ["Nil"]),
        finds("what is not nil", "large != nil", ["Cusco", "Five", "Lima", "Quite"]),
        finds("less and greater leave nil out", "large < 1000 OR large >= 1000", ["Cusco", "Five", "Lima", "Quite"]),
        finds("NOT of a comparison with nil", "NOT (large > 6)", ["Five", "Nil"]),
        finds("ranges", "large BETWEEN {5, 10}", ["Five", "Lima"]),
        finds("sets", "name IN {'Five', 'Nil', 'None'}", ["Five", "Nil"]),
        finds("the empty set", "name IN {}", []),
        finds("prefixes", "name BEGINSWITH 'Qu'", ["Quite"]),
        finds("suffixes", "name ENDSWITH 'e'", ["Five", "Quite"]),
        finds("parts", "name CONTAINS[c] 'I'", ["Five", "Lima", "Nil", "Quite"]),
        finds("wildcards", "name LIKE '?i*'", ["Five", "Lima", "Nil"]),
        finds("patterns", "name MATCHES '[FL]i.+'", ["Five", "Lima"]),
        finds("AND binds before OR", "large == 5 OR large == 10 AND name == 'Five'", ["Five"]),
        finds("truth values", "flag == YES", ["Lima"]),
        finds("truth values that are false", "flag == NO", ["Five"]),
        finds("doubles", "ratio > 0.4 AND ratio < 0.6", ["Cusco"]),
        finds("arithmetic", "large * 2 == 20", ["Lima"]),
        finds("two properties, nil equal to nil", "large == medium", ["Five", "Nil"]),
        finds("TRUEPREDICATE", "TRUEPREDICATE", ["Cusco", "Five", "Lima", "Nil", "Quite"]),
        finds("FALSEPREDICATE", "FALSEPREDICATE", []),
        ConformanceCheck(.fetching, "dates compare to their precision") { trial in
            let date = Date(timeIntervalSinceReferenceDate: 390_000_000.5)
            try trial.items(["old", "new"]) { ["yearBorn": date.addingTimeInterval(Double($0) * 10)] }
            try trial.expectEqual(
                try trial.names("Item", "yearBorn > %@", [.date(date.addingTimeInterval(5))]), ["new"],
                "yearBorn > a time between the two")
            try trial.expectEqual(
                try trial.names("Item", "yearBorn <= %@", [.date(date.addingTimeInterval(5))]), ["old"],
                "yearBorn <= a time between the two")
        },
        ConformanceCheck(.fetching, "a deleted object is found no more") { trial in
            let made = try trial.items(["a", "b"])
            trial.context.delete(made[0])
            try trial.context.save()
            try trial.expectEqual(try trial.names("Item"), ["b"], "the items after a was deleted and saved")
        },
        ConformanceCheck(.fetching, "a changed object is found only by its new value") { trial in
            let made = try trial.items(["a"])
            try made[0].setValue("z", forKey: "name")
            try trial.context.save()
            try trial.expectEqual(try trial.names("Item", "name == 'z'"), ["z"], "by the new name")
            try trial.expectEqual(try trial.names("Item", "name == 'a'"), [], "by the old name")
        },
        ConformanceCheck(.fetching, "an impossible condition is an error") { trial in
            try trial.items(["a"])
            do {
                _ = try trial.fetch("Item", "name MATCHES '('", in: trial.keep(trial.container.newContext()))
            } catch { return }
            throw ConformanceFailure(
                message: "an invalid pattern was answered; throw StoreError.invalidPredicate instead")
        },
    ]

    /// A check that a condition finds just the items with the given names.
    private static func finds(_ name: String, _ format: String, _ wanted: [String]) -> ConformanceCheck {
        ConformanceCheck(.fetching, name) { trial in
            try fill(trial)
            try trial.expectEqual(
                try trial.names("Item", format).sorted(), wanted, "items with \(format)")
            let plan = try FetchPlan(trial, "Item", format)
            let count = try trial.store.count(plan)
            try trial.expectEqual(count, wanted.count, "how many items there are with \(format)")
        }
    }

    static func fill(_ trial: ConformanceTrial) throws {
        try trial.insert("Item", ["name": "Lima", "large": Int64(10), "medium": Int32(1), "flag": true, "ratio": 2.5])
        try trial.insert("Item", ["name": "Cusco", "large": Int64(3400), "ratio": 0.5])
        try trial.insert("Item", ["name": "Quite", "large": Int64(2850)])
        try trial.insert("Item", ["name": "Five", "large": Int64(5), "medium": Int32(5), "flag": false])
        try trial.insert("Item", ["name": "Nil"])
        try trial.context.save()
    }

    static let sorting: [ConformanceCheck] = [
        sorts("by number, nil first", [FetchSort("large")], ["Nil", "Five", "Lima", "Quite", "Cusco"]),
        sorts(
            "descending, nil last", [FetchSort("large", ascending: false)], ["Cusco", "Quite", "Lima", "Five", "Nil"]),
        sorts("by text", [FetchSort("name")], ["Cusco", "Five", "Lima", "Nil", "Quite"]),
        sorts(
            "by two", [FetchSort("flag", ascending: false), FetchSort("name", ascending: false)],
            ["Lima", "Five", "Quite", "Nil", "Cusco"]),
        ConformanceCheck(.sorting, "what agrees in all sorts comes by key") { trial in
            let made = try trial.items((0..<50).map { "n\($0)" }) { ["large": Int64($0 % 2)] }
            let wanted = made.map(\.objectID).sorted { $0.key < $1.key }
            let order = Dictionary(uniqueKeysWithValues: wanted.enumerated().map { ($1, $0) })
            for ascending in [true, false] {
                let found = try trial.fetch(
                    "Item", sort: [FetchSort("large", ascending: ascending)],
                    in: trial.keep(trial.container.newContext()))
                for (a, b) in zip(found, found.dropFirst()) where a["large"] as? Int64 == b["large"] as? Int64 {
                    try trial.expect(
                        order[a.objectID, default: 0] < order[b.objectID, default: 0],
                        "items with the same large come as \(a.objectID) before \(b.objectID): order ties by key, or pages overlap"
                    )
                }
            }
        },
        ConformanceCheck(.sorting, "texts sort without case if asked") { trial in
            try trial.items(["b", "A", "C", "a"])
            try trial.expectEqual(
                try trial.names("Item", sort: [FetchSort("name", options: .caseInsensitive), FetchSort("name")]),
                ["A", "a", "b", "C"], "names sorted without case, then with")
        },
        ConformanceCheck(.sorting, "through a to-one") { trial in
            for (name, owner) in [("x", "Zoe"), ("y", "Ann"), ("z", "Max")] {
                try trial.insert("Item", ["name": name, "owner": try trial.insert("Person", ["name": owner])])
            }
            try trial.insert("Item", ["name": "w"])
            try trial.context.save()
            try trial.expectEqual(
                try trial.names("Item", sort: [FetchSort("owner.name")]), ["w", "y", "z", "x"],
                "items sorted by owner.name, without an owner first")
        },
        pages("a limit", limit: 2, offset: 0, ["Cusco", "Five"]),
        pages("an offset", limit: nil, offset: 3, ["Nil", "Quite"]),
        pages("a limit after an offset", limit: 2, offset: 1, ["Five", "Lima"]),
        pages("an offset beyond the end", limit: 5, offset: 9, []),
        pages("a limit of nothing", limit: 0, offset: 0, []),
    ]

    private static func sorts(_ name: String, _ sorts: [FetchSort], _ wanted: [String]) -> ConformanceCheck {
        ConformanceCheck(.sorting, name) { trial in
            try fill(trial)
            try trial.expectEqual(
                try trial.names("Item", sort: sorts), wanted,
                "items sorted by " + sorts.map(\.description).joined(separator: ", "))
        }
    }

    private static func pages(_ name: String, limit: Int?, offset: Int, _ wanted: [String]) -> ConformanceCheck {
        ConformanceCheck(.sorting, name) { trial in
            try fill(trial)
            try trial.expectEqual(
                try trial.names("Item", sort: [FetchSort("name")], limit: limit, offset: offset), wanted,
                "names in order, \(limit.map { "at most \($0)" } ?? "all") after \(offset)")
            var plan = try FetchPlan(trial, "Item", nil)
            plan.limit = limit
            plan.offset = offset
            try trial.expectEqual(try trial.store.count(plan), wanted.count, "the count of the same page")
        }
    }
}

extension FetchPlan {
    /// A plan by names, as a context would make it.
    init(_ trial: ConformanceTrial, _ entity: String, _ format: String?) throws {
        guard let description = trial.model.entity(named: entity) else {
            throw ConformanceFailure(
                message: "the store's model lacks the entity \(entity): keep the model it is opened with")
        }
        self.init(entityIndex: description.index)
        predicate = try format.map { try FetchPredicate(format: $0) }
    }
}
