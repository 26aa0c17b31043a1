import Foundation
import Strata
import StrataRemote

extension BackendSuite {
    /// Tries conditions, as far as the back end takes them, on objects of which some lack values: the primary key by its property, text
    /// by its parts, numbers that differ as texts, and `NOT`.
    static func findAlike(_ trial: BackendTrial) async throws {
        let hasPrices = trial.note.attribute(named: "price") != nil
        let rows: [(id: String, text: String?, count: Int64?, ratio: Double?)] = [
            ("n1", "apple", 9, 0.5), ("n2", "banana", 10, 10.5), ("n3", "Apple", 100, 9), ("n4", nil, nil, nil),
        ]
        for row in rows {
            var values: [String: RemoteValue] = [:]
            if let count = row.count { values["count"] = .value(.integer(count)) }
            if let ratio = row.ratio { values["ratio"] = .value(.double(ratio)) }
            if hasPrices, let ratio = row.ratio { values["price"] = .value(.decimal(Decimal(ratio))) }
            values["flag"] = .value(row.count == nil ? .null : .boolean(row.count == 10))
            try await trial.create(row.id, text: row.text, values)
        }
        var conditions: [(String, Set<String>)] = [
            ("noteId == 'n1'", ["n1"]), ("noteId != 'n1'", ["n2", "n3", "n4"]),
            ("noteId IN {'n1', 'n3'}", ["n1", "n3"]),
            ("text == 'apple'", ["n1"]), ("text != 'apple'", ["n2", "n3", "n4"]), ("text == nil", ["n4"]),
            ("text != nil", ["n1", "n2", "n3"]), ("text IN {'apple', 'banana'}", ["n1", "n2"]),
            ("text CONTAINS 'an'", ["n2"]), ("text BEGINSWITH 'app'", ["n1"]), ("text ENDSWITH 'ple'", ["n1", "n3"]),
            ("text LIKE 'a*'", ["n1"]), ("text ==[c] 'APPLE'", ["n1", "n3"]),
            ("count > 9", ["n2", "n3"]), ("count >= 10", ["n2", "n3"]), ("count < 10", ["n1"]),
            ("count <= 9", ["n1"]), ("10 > count", ["n1"]), ("count BETWEEN {9, 10}", ["n1", "n2"]),
            ("count IN {9, 100}", ["n1", "n3"]), ("ratio > 9.5", ["n2"]), ("ratio < 9.5", ["n1", "n3"]),
            ("flag == YES", ["n2"]), ("flag == NO", ["n1", "n3"]), ("flag != YES", ["n1", "n3", "n4"]),
            ("NOT text == 'apple'", ["n2", "n3", "n4"]), ("NOT text == nil", ["n1", "n2", "n3"]),
            ("NOT count > 9", ["n1", "n4"]), ("NOT count == 9", ["n2", "n3", "n4"]),
            ("NOT text CONTAINS 'an'", ["n1", "n3", "n4"]), ("NOT count IN {9, 100}", ["n2", "n4"]),
            ("text == 'apple' OR count == 100", ["n1", "n3"]), ("count > 9 AND text != 'Apple'", ["n2"]),
            ("NOT (text == 'apple' OR count == 100)", ["n2", "n4"]),
        ]
        if hasPrices { conditions += [("price > 9.5", ["n2"]), ("price < 9.5", ["n1", "n3"])] }
        var wrong: [String] = []
        for (format, expected) in conditions {
            var query = RemoteQuery(entity: trial.note)
            query.predicate = try FetchPredicate(format: format)
            guard isOffered(trial, .query(query)) else { continue }
            let found = Set(try await trial.all(query).map(\.id))
            if found != expected { wrong.append("\(format) finds \(found.sorted()) instead of \(expected.sorted())") }
        }
        try trial.expect(wrong.isEmpty, wrong.joined(separator: "; "))
    }
}
