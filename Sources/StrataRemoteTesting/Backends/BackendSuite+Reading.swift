import Foundation
import Strata
import StrataRemote

extension BackendSuite {
    static let cursors: [Check] = [
        Check("the pages of a pull join to everything", needs: .incrementalPull) { trial in
            for number in 1...7 { try await trial.create("n\(number)", text: "\(number)") }
            let news = try await trial.pull(from: nil)
            try trial.expect(news.records.count == 7, "of 7 objects \(news.records.count) come")
            try trial.expect(news.cursor != nil, "the last page has no cursor for the next time")
        },
        Check("a page has no more objects than were asked for", needs: .incrementalPull) { trial in
            for number in 1...5 { try await trial.create("n\(number)") }
            let page = try await trial.page(.pull(RemotePull(entity: trial.note, limit: 2)))
            try trial.expect(page.records.count <= 2, "of at most 2 objects \(page.records.count) come")
            try trial.expect(page.hasMore, "there is more, but the page does not say so")
        },
        Check("nothing is lost that changes between two pages", needs: .incrementalPull) { trial in
            for number in 1...7 { try await trial.create("n\(number)", text: "old") }
            let news = try await trial.pull(from: nil) { number in
                guard number == 0 else { return }
                for id in ["n1", "n4", "n7"] { try await trial.update(id, text: "new") }
                try await trial.create("n8", text: "new")
            }
            // What changed after the last page comes with the next pull.
            let later = try await trial.pull(from: news.cursor)
            let all = news.records.merging(later.records) { $1 }
            for record in try await trial.allNotes {
                let told = all[record.id].map { BackendTrial.text($0) ?? "nil" } ?? "not told"
                try trial.expect(
                    told == BackendTrial.text(record),
                    "\(record.id) is \(told), the server has \(BackendTrial.text(record) ?? "nil")")
            }
        },
        Check("without changes a pull is empty and keeps its place", needs: .incrementalPull) { trial in
            for number in 1...3 { try await trial.create("n\(number)") }
            let begin = try await trial.pull(from: nil)
            var cursor = begin.cursor
            for _ in 0..<2 {
                let news = try await trial.pull(from: cursor)
                let again = news.records.values.filter { record in
                    !trial.repeatsRecentChanges || record != begin.records[record.id]
                }
                try trial.expect(
                    again.isEmpty && news.deleted.isEmpty,
                    "\(again.map(\.id).sorted() + news.deleted.sorted()) come again"
                        + (trial.repeatsRecentChanges ? ", and not as they were" : ""))
                try trial.expect(news.cursor != nil, "a pull without changes has no cursor for the next time")
                cursor = news.cursor
            }
            try await trial.update("n2", text: "new")
            let news = try await trial.pull(from: cursor)
            try trial.expect(
                news.records["n2"].flatMap(BackendTrial.text) == "new",
                "after pulls without changes, a change is not told")
        },
        Check("a later change comes with the next pull", needs: .incrementalPull) { trial in
            for number in 1...3 { try await trial.create("n\(number)", text: "old") }
            let cursor = try await trial.pull(from: nil).cursor
            try await trial.update("n2", text: "new")
            let news = try await trial.pull(from: cursor)
            try trial.expect(news.records["n2"].flatMap(BackendTrial.text) == "new", "the change is not told")
        },
        Check("a first object comes after an empty beginning", needs: .incrementalPull) { trial in
            let begin = try await trial.pull(from: nil)
            try trial.expect(begin.records.isEmpty, "a new server reports \(begin.records.keys.sorted())")
            try await trial.create("a")
            let news = try await trial.pull(from: begin.cursor)
            try trial.expect(news.records["a"] != nil, "the object is not told")
        },
        Check("a deletion comes with the next pull", needs: [.incrementalPull, .deletions]) { trial in
            for number in 1...3 { try await trial.create("n\(number)") }
            let cursor = try await trial.pull(from: nil).cursor
            try await trial.delete("n2")
            let news = try await trial.pull(from: cursor)
            try trial.expect(news.deleted == ["n2"], "\(news.deleted.sorted()) are told to be deleted")
        },
        Check(
            "an object created again after its deletion exists", needs: [.incrementalPull, .deletions], keys: .chosen
        ) {
            trial in
            try await trial.create("a", text: "1")
            let cursor = try await trial.pull(from: nil).cursor
            try await trial.delete("a")
            guard case .done = try await trial.outcome(.create(entity: trial.note, [trial.write("a", text: "2")]))
            else {
                return
            }
            let news = try await trial.pull(from: cursor, limit: 1)
            try trial.expect(news.records["a"].flatMap(BackendTrial.text) == "2", "the object is not told")
        },
        Check("a write that was refused leaves no gap", needs: [.incrementalPull, .conditionalWrites]) { trial in
            let made = try await trial.create("a", text: "1")
            let cursor = try await trial.pull(from: nil).cursor
            try await trial.update("a", text: "2")
            _ = try await trial.outcome(
                .update(entity: trial.note, trial.write("a", text: "3", base: made?.version ?? "1")))
            try await trial.create("b", text: "4")
            let news = try await trial.pull(from: cursor, limit: 1)
            try trial.expect(
                news.records.keys.sorted() == ["a", "b"],
                "of two changes around a refused one \(news.records.keys.sorted()) come")
        },
        Check("a cursor of another server starts over", needs: .incrementalPull) { trial in
            try await trial.create("a")
            do throws(RemoteError) {
                let answer = try await trial.perform(
                    .pull(RemotePull(entity: trial.note, cursor: "not a cursor of this server")))
                // To start over immediately is as good.
                if case .page(let page) = answer, page.records.map(\.id) == ["a"] { return }
            } catch {
                if error.kind == .cursorExpired { return }
                throw BackendTrial.Unmet(message: "it is refused as \(error.kind.rawValue): \(error)")
            }
            throw BackendTrial.Unmet(message: "it gives a page on which an object is missing")
        },
    ]

    static let paging: [Check] = [
        Check("a query without a limit gives all") { trial in
            // Many servers give a hundred at once, whether the dialect says so or not.
            let page = trial.backend.capabilities.maximumPage ?? 100
            let count = page <= 100 ? page + 1 : 7
            let size = trial.features.contains(.creatingMany) ? max(1, trial.backend.capabilities.maximumBatch) : 1
            for start in stride(from: 0, to: count, by: size) {
                let writes = (start..<min(count, start + size)).map { trial.write("n\($0)") }
                for outcome in try await trial.outcomes(.create(entity: trial.note, writes)) {
                    try trial.expect(outcome.isDone, "a creation fails: \(outcome)")
                }
            }
            let found = try await trial.allNotes.map(\.id)
            try trial.expect(found.count == count, "of \(count) objects \(found.count) come")
            try trial.expect(Set(found).count == count, "some objects come twice: \(found)")
        },
        Check("a query of an entity without objects is empty") { trial in
            let found = try await trial.allNotes
            try trial.expect(found.isEmpty, "a new server has \(found.map(\.id))")
        },
        Check("a query gives objects of its entity only") { trial in
            try await trial.create("a")
            try await trial.done(
                .create(entity: trial.folder, [RemoteWrite(id: "f", values: ["name": .value(.string("f"))])]),
                "a creation")
            let found = try await trial.allNotes
            try trial.expect(found.map(\.id) == ["a"] && found[0].entity == "Note", "\(found.map(\.identity)) come")
        },
        Check("a limit is kept", needs: .paging) { trial in
            for number in 0..<5 { try await trial.create("n\(number)") }
            var query = RemoteQuery(entity: trial.note)
            query.limit = 2
            let found = try await trial.all(query)
            try trial.expect(found.count == 2, "of at most 2 objects \(found.count) come")
        },
        Check("pages of a sorted query give each object once", needs: [.paging, .sorting]) { trial in
            for number in 0..<8 { try await trial.create("n\(number)", ["count": .value(.integer(Int64(number / 4)))]) }
            var found: [RemoteRecord] = []
            for offset in stride(from: 0, to: 9, by: 3) {
                var query = RemoteQuery(entity: trial.note)
                query.sorts = [FetchSort("count")]
                query.limit = 3
                query.offset = offset
                guard isOffered(trial, .query(query)) else { return }
                found += try await trial.all(query)
            }
            try trial.expect(
                found.count == 8 && Set(found.map(\.id)).count == 8,
                "of 8 objects, 4 of them equal, come \(found.map(\.id))")
        },
        Check("an order is kept", needs: .sorting) { trial in
            for number in [3, -1, 20, 0] {
                try await trial.create("n\(number)", ["count": .value(.integer(Int64(number)))])
            }
            for ascending in [true, false] {
                var query = RemoteQuery(entity: trial.note)
                query.sorts = [FetchSort("count", ascending: ascending)]
                guard isOffered(trial, .query(query)) else { return }
                let found = try await trial.all(query).map(\.id)
                let expected = ["n-1", "n0", "n3", "n20"]
                try trial.expect(
                    found == (ascending ? expected : expected.reversed()),
                    "by count, \(ascending ? "ascending" : "descending"), come \(found)")
            }
        },
        Check("an offset leaves out what comes first", needs: [.paging, .sorting]) { trial in
            for number in 0..<5 { try await trial.create("n\(number)", ["count": .value(.integer(Int64(number)))]) }
            for (offset, expected) in [(3, ["n3", "n4"]), (5, []), (9, [])] {
                var query = RemoteQuery(entity: trial.note)
                query.sorts = [FetchSort("count")]
                query.limit = 10
                query.offset = offset
                guard isOffered(trial, .query(query)) else { return }
                let found = try await trial.all(query).map(\.id)
                try trial.expect(found == expected, "after \(offset) of 5 objects come \(found)")
            }
        },
        Check("a condition leaves out what does not meet it") { trial in
            for number in 0..<4 { try await trial.create("n\(number)", text: number < 2 ? "yes" : "no") }
            var query = RemoteQuery(entity: trial.note)
            query.predicate = .comparison(.keyPath(["text"]), .equal, .constant(.string("yes")), [])
            guard isOffered(trial, .query(query)) else { return }
            let found = try await trial.all(query).map(\.id).sorted()
            try trial.expect(found == ["n0", "n1"], "of objects with the text yes come \(found)")
        },
        Check("conditions find what they find in a store", keys: .chosen) { trial in try await findAlike(trial) },
        Check("a count is that of the query", needs: .counting) { trial in
            for number in 0..<4 { try await trial.create("n\(number)", text: number < 3 ? "yes" : "no") }
            var query = RemoteQuery(entity: trial.note)
            for (predicate, expected) in [
                (nil, 4), (FetchPredicate.comparison(.keyPath(["text"]), .equal, .constant(.string("yes")), []), 3),
            ] {
                query.predicate = predicate
                guard isOffered(trial, .count(query)) else { continue }
                guard case .count(let count) = try await trial.perform(.count(query)) else {
                    throw BackendTrial.Unmet(message: "the answer to a count is not a number")
                }
                try trial.expect(count == expected, "of \(expected) objects \(count) are counted")
            }
        },
        Check("a total is that of all pages") { trial in
            for number in 0..<4 { try await trial.create("n\(number)") }
            let page = try await trial.page(.query(RemoteQuery(entity: trial.note)))
            try trial.expect(page.total ?? 4 == 4, "of 4 objects a page says that there are \(page.total ?? 0)")
        },
    ]

    static let groups: [Check] = [
        Check("the largest group of new objects is taken", needs: .creatingMany) { trial in
            let count = min(trial.backend.capabilities.maximumBatch, 300)
            let writes = (0..<count).map { trial.write("n\($0)", text: "\($0)") }
            let list = try await trial.outcomes(.create(entity: trial.note, writes))
            let done = list.count(where: \.isDone)
            try trial.expect(done == count, "of \(count) new objects in one group \(done) are made")
            let found = try await trial.allNotes
            try trial.expect(found.count == count, "afterwards there are \(found.count) instead of \(count)")
        },
        Check("the longest list of primary keys is read", needs: .readingMany) { trial in
            let count = min(trial.backend.capabilities.maximumIDs, 300)
            for id in ["n0", "n1", "n\(count - 1)"] where try await trial.find(id) == nil { try await trial.create(id) }
            let page = try await trial.page(.read(entity: trial.note, ids: (0..<count).map { "n\($0)" }))
            let expected = Set(["n0", "n1", "n\(count - 1)"])
            try trial.expect(
                Set(page.records.map(\.id)) == expected, "of \(expected.sorted()) come \(page.records.map(\.id))")
            try trial.expect(page.records.count == expected.count, "some come twice: \(page.records.map(\.id))")
        },
    ]

    static let visibility: [Check] = [
        Check("what never was is not found") { trial in
            let found = try await trial.find("nobody")
            try trial.expect(found == nil, "something is found")
        },
        Check("of some primary keys those are found that exist", needs: .readingMany) { trial in
            try await trial.create("a")
            try await trial.create("b")
            let found = try await trial.page(.read(entity: trial.note, ids: ["a", "nobody", "b"])).records.map(\.id)
            try trial.expect(Set(found) == ["a", "b"] && found.count == 2, "of a, nobody and b come \(found)")
        },
        Check("an update of what never was makes nothing") { trial in
            try await trial.refused(
                .update(entity: trial.note, trial.write("nobody", text: "1")), trial.refusalsOfUnknownKeys,
                "an update of an object that never was")
            let found = try await trial.find("nobody")
            try trial.expect(found == nil, "the object is there afterwards")
        },
        Check("a deleted object is not found") { trial in
            try await trial.create("a")
            try await trial.delete("a")
            let found = try await trial.find("a")
            try trial.expect(found == nil, "it is found by its primary key")
            let all = try await trial.allNotes
            try trial.expect(all.isEmpty, "a query finds \(all.map(\.id))")
        },
        Check("an update of what was deleted brings nothing back") { trial in
            try await trial.create("a")
            try await trial.delete("a")
            try await trial.refused(
                .update(entity: trial.note, trial.write("a", text: "1")), [.notFound, .gone],
                "an update of a deleted object")
            let found = try await trial.find("a")
            try trial.expect(found == nil, "the object is there again")
        },
        Check("a delete of what is gone says so, or is done") { trial in
            try await trial.create("a")
            try await trial.delete("a")
            if case .failed(let error) = try await trial.outcome(.delete(entity: trial.note, trial.write("a"))) {
                try trial.expect(
                    error.kind == .notFound || error.kind == .gone, "it is refused as \(error.kind.rawValue): \(error)")
            }
        },
        Check("a creation over a present object changes nothing", keys: .chosen) { trial in
            try await trial.create("a", text: "1")
            try await trial.refused(
                .create(entity: trial.note, [trial.write("a", text: "2")]), [.duplicate, .conflict],
                "a creation with a used primary key")
            let text = try await trial.text("a")
            try trial.expect(text == "1", "afterwards the text is \(text ?? "nil") instead of 1")
        },
    ]

    /// Whether a back end takes an operation; what it does not take is done elsewhere.
    static func isOffered(_ trial: BackendTrial, _ operation: RemoteOperation) -> Bool {
        (try? trial.backend.check(operation)) != nil
    }
}
