import Foundation
import StrataRemote

extension BackendSuite {
    static let pairing: [Check] = [
        Check("an outcome is about its own object") { trial in
            for operation: RemoteOperation in [
                .create(entity: trial.note, [trial.write("a", text: "1")]),
                .update(entity: trial.note, trial.write("a", text: "2")),
            ] {
                let record = try await trial.done(operation, "a write")
                try trial.expect(
                    record?.id ?? "a" == "a" && record?.entity ?? "Note" == "Note",
                    "the answer is about \(record?.identity.description ?? "")")
            }
        },
        Check("a group has one outcome for each object, in order", needs: .creatingMany, keys: .chosen) { trial in
            guard trial.backend.capabilities.maximumBatch >= 3 else { return }
            try await trial.create("b", text: "old")
            let list = try await trial.outcomes(
                ofGroup: .create(entity: trial.note, ["a", "b", "c"].map { trial.write($0, text: "new") }))
            let found = Set(try await trial.allNotes.map(\.id))
            guard let list else {
                return try trial.expect(found == ["b"], "a group that was refused as a whole made \(found.sorted())")
            }
            try trial.expect(list.count == 3, "three writes have \(list.count) outcomes")
            let isDone = list.map(\.isDone)
            try trial.expect(isDone == [true, false, true], "the outcomes of new, present and new are \(isDone)")
            try trial.expect(found == ["a", "b", "c"], "afterwards there are \(found.sorted())")
            if case .failed(let error) = list[1], let identity = error.identity {
                try trial.expect(identity.id == "b", "the failure of b names \(identity)")
            }
            for (id, outcome) in zip(["a", "b", "c"], list) {
                if case .done(let record?) = outcome {
                    try trial.expect(record.id == id, "the outcome of \(id) is about \(record.id)")
                }
            }
            let text = try await trial.text("b")
            try trial.expect(text == "old", "a creation that was refused wrote \(text ?? "nil")")
        },
        Check("a batch has one outcome for each write, in order", needs: .batches) { trial in
            try await trial.create("a", text: "1")
            try await trial.create("b", text: "1")
            let list = try await trial.outcomes(
                ofGroup: .batch([
                    .update(entity: trial.note, trial.write("a", text: "2")),
                    .update(entity: trial.note, trial.write("missing", text: "2")),
                    .delete(entity: trial.note, trial.write("b")),
                ]))
            let text = try await trial.text("a")
            let second = try await trial.find("b")
            guard let list else {
                return try trial.expect(
                    text == "1" && second != nil, "a batch that was refused as a whole was carried out in part")
            }
            try trial.expect(list.count == 3, "three writes have \(list.count) outcomes")
            let isDone = list.map(\.isDone)
            try trial.expect(
                isDone == [true, false, true],
                "the outcomes of two sound writes around one of a missing object are \(isDone)")
            try trial.expect(text == "2", "afterwards the first object has the text \(text ?? "nil")")
            try trial.expect(second == nil, "afterwards the last object is there")
        },
        Check("a missing member is not a missing owner", needs: .relating) { trial in
            guard trial.note.relationship(named: "tags") != nil else { return }
            try await trial.create("a")
            let outcome = try await trial.outcome(
                .relate(entity: trial.note, RemoteRelation(id: "a", relationship: "tags", added: ["nobody"])))
            // A server may keep references to what it does not have.
            guard case .failed(let error) = outcome, error.kind == .notFound || error.kind == .gone else { return }
            try trial.expect(
                error.identity != nil && error.identity?.id != "a",
                "the failure because of a member looks as if the owner were missing: \(error)")
        },
    ]

    static let conditionalWrites: [Check] = [
        Check("each write gives another version", needs: .conditionalWrites) { trial in
            let first = try await version(trial, try await trial.create("a", text: "1"))
            let second = try await version(trial, try await trial.update("a", text: "2", base: first))
            try trial.expect(first != second, "both states of an object have the version \(first)")
            let read = try await trial.read("a").version
            try trial.expect(
                read == second, "an answer to a write says version \(second), a read says \(read ?? "nil")")
        },
        Check("an update of an old version changes nothing", needs: .conditionalWrites) { trial in
            let first = try await version(trial, try await trial.create("a", text: "1"))
            try await trial.update("a", text: "2", base: first)
            try await trial.refused(
                .update(entity: trial.note, trial.write("a", text: "3", base: first)), [.conflict],
                "an update of an old version")
            let text = try await trial.text("a")
            try trial.expect(text == "2", "afterwards the text is \(text ?? "nil") instead of 2")
        },
        Check("a refusal shows what the server has, or nothing", needs: .conditionalWrites) { trial in
            let first = try await version(trial, try await trial.create("a", text: "1"))
            try await trial.update("a", text: "2", base: first)
            let error = try await trial.refused(
                .update(entity: trial.note, trial.write("a", text: "3", base: first)), [.conflict],
                "an update of an old version")
            guard let shown = error.serverRecord else { return }
            let read = try await trial.read("a")
            try trial.expect(
                shown.id == "a" && shown.version == read.version && BackendTrial.text(shown) == "2",
                "the refusal shows \(shown.id), version \(shown.version ?? "nil"), with the text \(BackendTrial.text(shown) ?? "nil")"
            )
        },
        Check("a delete of an old version deletes nothing", needs: .conditionalWrites) { trial in
            let first = try await version(trial, try await trial.create("a", text: "1"))
            try await trial.update("a", text: "2", base: first)
            try await trial.refused(
                .delete(entity: trial.note, trial.write("a", base: first)), [.conflict], "a delete of an old version")
            let found = try await trial.find("a")
            try trial.expect(found != nil, "the object is gone all the same")
        },
        Check("of several writes to one version one wins", needs: .conditionalWrites) { trial in
            let first = try await version(trial, try await trial.create("a", text: "0"))
            let winners = try await withThrowingTaskGroup(of: String?.self) { group in
                for number in 1...6 {
                    group.addTask {
                        let outcome = try await trial.outcome(
                            .update(entity: trial.note, trial.write("a", text: "\(number)", base: first)))
                        if case .done = outcome { return "\(number)" }
                        return nil
                    }
                }
                return try await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
            }
            try trial.expect(winners.count == 1, "\(winners.count) of 6 updates of one version succeed")
            let text = try await trial.text("a")
            try trial.expect(text == winners[0], "\(winners[0]) was told to have won, but the text is \(text ?? "nil")")
        },
        Check("each write of a batch has its own condition", needs: [.conditionalWrites, .batches]) { trial in
            let first = try await version(trial, try await trial.create("a", text: "1"))
            try await trial.create("b", text: "1")
            try await trial.update("a", text: "2", base: first)
            let list = try await trial.outcomes(
                ofGroup: .batch([
                    .update(entity: trial.note, trial.write("a", text: "3", base: first)),
                    .update(entity: trial.note, trial.write("b", text: "3")),
                ]))
            let isDone = list?.map(\.isDone)
            try trial.expect(
                isDone == nil || isDone == [false, true],
                "the outcomes of an update of an old version and of a sound one are \(isDone ?? [])")
            let text = try await trial.text("a")
            try trial.expect(text == "2", "afterwards the text is \(text ?? "nil") instead of 2")
        },
        Check("a write without a version goes through", needs: .conditionalWrites) { trial in
            try await trial.create("a", text: "1")
            try await trial.update("a", text: "2")
            try await trial.update("a", text: "3")
            let text = try await trial.text("a")
            try trial.expect(text == "3", "afterwards the text is \(text ?? "nil") instead of 3")
        },
    ]

    static let idempotency: [Check] = [
        Check("a creation that comes twice is done once", needs: .idempotencyTokens) { trial in
            let token = UUID()
            try await trial.create("a", text: "1", token: token)
            try await trial.create("a", text: "1", token: token)
            let found = try await trial.allNotes.map(\.id)
            try trial.expect(found == ["a"], "afterwards there are \(found)")
        },
        Check("creations that come at once are done once", needs: .idempotencyTokens) { trial in
            let token = UUID()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<5 { group.addTask { try await trial.create("a", text: "1", token: token) } }
                try await group.waitForAll()
            }
            let found = try await trial.allNotes.map(\.id)
            try trial.expect(found == ["a"], "afterwards there are \(found)")
        },
        Check("an update that comes late does not undo another", needs: .idempotencyTokens) { trial in
            let token = UUID()
            try await trial.create("a", text: "0")
            try await trial.update("a", text: "1", token: token)
            try await trial.update("a", text: "2")
            try await trial.update("a", text: "1", token: token)
            let text = try await trial.text("a")
            try trial.expect(text == "2", "afterwards the text is \(text ?? "nil") instead of 2")
        },
        Check("each write of a batch has its own token", needs: [.idempotencyTokens, .batches]) { trial in
            for id in ["a", "b"] { try await trial.create(id, text: "0") }
            let batch = RemoteOperation.batch(
                ["a", "b"].map { .update(entity: trial.note, trial.write($0, text: "1")) })
            _ = try await trial.outcomes(batch)
            for id in ["a", "b"] { try await trial.update(id, text: "2") }
            _ = try await trial.outcomes(batch)
            for id in ["a", "b"] {
                let text = try await trial.text(id)
                try trial.expect(text == "2", "a batch that comes again sets the text to \(text ?? "nil")")
            }
        },
        Check("a delete that comes twice is done", needs: .idempotencyTokens) { trial in
            let token = UUID()
            try await trial.create("a")
            try await trial.delete("a", token: token)
            try await trial.delete("a", token: token)
        },
        Check("a late creation does not bring back what was deleted", needs: .idempotencyTokens) { trial in
            let token = UUID()
            try await trial.create("a", text: "1", token: token)
            try await trial.delete("a")
            _ = try await trial.outcome(.create(entity: trial.note, [trial.write("a", text: "1", token: token)]))
            let found = try await trial.find("a")
            try trial.expect(found == nil, "the object is there again")
        },
        Check("a token belongs to one write", needs: .idempotencyTokens) { trial in
            let token = UUID()
            try await trial.create("a", text: "0")
            try await trial.update("a", text: "1", token: token)
            let outcome = try await trial.outcome(
                .update(entity: trial.note, trial.write("a", text: "2", token: token)))
            let text = try await trial.text("a")
            if case .done = outcome {
                // Who asked believes that it is done.
                try trial.expect(text == "2", "another write with a used token is told to be done, but was not")
            } else {
                try trial.expect(text == "1", "another write with a used token is refused, but was done")
            }
        },
    ]

    /// The version that an answer tells, or a read.
    private static func version(_ trial: BackendTrial, _ record: RemoteRecord?) async throws -> String {
        if let version = record?.version { return version }
        guard let version = try await trial.read("a").version else {
            throw BackendTrial.Unmet(message: "an object has no version, so that no write can be conditional")
        }
        return version
    }
}
