import Foundation
import Strata
import StrataRemote

extension BackendSuite {
    static let claims: [Check] = [
        Check("the back end can be reached") { trial in
            _ = try await trial.perform(.ping)
        },
        Check("an undeclared feature is refused as unsupported") { trial in
            try await trial.create("a")
            try await trial.create("b")
            var sorted = RemoteQuery(entity: trial.note)
            sorted.sorts = [FetchSort("count")]
            let unclaimed: [(RemoteCapabilities.Features, RemoteOperation)] = [
                (.counting, .count(RemoteQuery(entity: trial.note))), (.sorting, .query(sorted)),
                (.incrementalPull, .pull(RemotePull(entity: trial.note))),
                (
                    .relating,
                    .relate(entity: trial.folder, RemoteRelation(id: "a", relationship: "notes", added: ["b"]))
                ),
                (.batches, .batch([.update(entity: trial.note, trial.write("a", text: "1"))])),
                (.calls, .call(RemoteCall(name: "nothing"))),
            ]
            for (feature, operation) in unclaimed where !trial.features.contains(feature) {
                do throws(RemoteError) {
                    _ = try await trial.perform(operation)
                } catch {
                    try trial.expect(
                        error.kind == .unsupported, "\(operation) is refused as \(error.kind.rawValue): \(error)")
                }
            }
        },
        Check("a selection gives the properties that it names", needs: .selecting) { trial in
            try await trial.create("a", text: "1", ["count": .value(.integer(2))])
            var query = RemoteQuery(entity: trial.note)
            query.properties = ["text"]
            guard isOffered(trial, .query(query)) else { return }
            let found = try await trial.all(query)
            try trial.expect(found.first.flatMap(BackendTrial.text) == "1", "the text is missing")
            try trial.expect(found.first?.id == "a", "the primary key is missing")
            try trial.expect(found.first?.values["count"] == nil, "the answer has a count that was not requested")
        },
        Check("conditions on what another query finds", needs: .subqueries) { trial in
            for id in ["f1", "f2"] {
                let values: [String: RemoteValue] = ["name": .value(.string("name of \(id)"))]
                try await trial.done(.create(entity: trial.folder, [RemoteWrite(id: id, values: values)]), "a creation")
            }
            try await trial.create("n1", text: "name of f2", ["folder": .reference("f1")])
            try await trial.create("n2", text: "other", ["folder": .reference("f2")])
            try await trial.create("n3", ["folder": .reference(nil)])
            let first = try FetchPredicate(format: "name == 'name of f1'")
            let leads = RemoteSubquery.leads("folder", to: "Folder", where: first)
            let any = RemoteSubquery.leads("folder", to: "Folder")
            let same = RemoteSubquery.has("text", sameAs: "name", of: "Folder")
            let sameAsFirst = RemoteSubquery.has("text", sameAs: "name", of: "Folder", where: first)
            for (what, subqueries, expected) in [
                ("that lead to one object", [leads], ["n1"]), ("that do not lead to it", [!leads], ["n2", "n3"]),
                ("that lead to any object", [any], ["n1", "n2"]), ("that lead to none", [!any], ["n3"]),
                ("that share a value", [same], ["n1"]), ("that share none", [!same], ["n2", "n3"]),
                ("that share a value with one object", [sameAsFirst], []),
                ("that meet two conditions", [any, !same], ["n2"]),
            ] {
                var query = RemoteQuery(entity: trial.note)
                query.subqueries = subqueries
                let found = try await trial.all(query).map(\.id).sorted()
                try trial.expect(found == expected, "the notes \(what) are \(found) instead of \(expected)")
            }
        },
        Check("members are added and removed one by one", needs: .relating) { trial in
            guard let tag = trial.model.entity(named: "Tag") else { return }
            for id in ["x", "y", "z"] {
                try await trial.done(.create(entity: tag, [RemoteWrite(id: id)]), "a creation")
            }
            try await trial.create("a")
            for (added, removed, expected) in [
                (["x", "y"], [String](), ["x", "y"]), (["z"], ["x"], ["y", "z"]), ([], ["x"], ["y", "z"]),
                ([], ["y", "z"], []),
            ] {
                try await trial.done(
                    .relate(
                        entity: trial.note,
                        RemoteRelation(id: "a", relationship: "tags", added: added, removed: removed)),
                    "a change of members")
                guard let members = try await trial.tags("a") else { return }
                try trial.expect(members == expected, "after +\(added) -\(removed) the members are \(members)")
            }
        },
        Check("members that others add at once are all there", needs: .relating) { trial in
            guard let tag = trial.model.entity(named: "Tag") else { return }
            let ids = (0..<6).map { "t\($0)" }
            for id in ids { try await trial.done(.create(entity: tag, [RemoteWrite(id: id)]), "a creation") }
            try await trial.create("a")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in ids {
                    group.addTask {
                        try await trial.done(
                            .relate(entity: trial.note, RemoteRelation(id: "a", relationship: "tags", added: [id])),
                            "a change of members")
                    }
                }
                try await group.waitForAll()
            }
            guard let members = try await trial.tags("a") else { return }
            try trial.expect(members == ids, "of \(ids) there are \(members)")
        },
        Check("numbers that others add at once are all counted", needs: .increments) { trial in
            try await trial.create("a", ["count": .value(.integer(10))])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for amount: Int64 in [1, 2, 3, 4, 5, -6] {
                    group.addTask {
                        let write = RemoteWrite(id: "a", operations: ["count": .increment(.integer(amount))])
                        try await trial.done(.update(entity: trial.note, write), "an addition")
                    }
                }
                try await group.waitForAll()
            }
            let count = try await trial.read("a").values["count"]
            try trial.expect(count == .value(.integer(19)), "10 and 9 make \(count.map { "\($0)" } ?? "nothing")")
        },
    ]
}
