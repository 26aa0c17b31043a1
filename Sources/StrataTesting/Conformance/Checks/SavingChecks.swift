import Foundation
import Strata

extension ConformanceCheck {
    static let saving: [ConformanceCheck] = [
        ConformanceCheck(.saving, "a save writes inserts, updates and deletes together") { trial in
            let made = try trial.items(["a", "b", "c"])
            try made[0].setValue("A", forKey: "name")
            trial.context.delete(made[1])
            try trial.insert("Item", ["name": "d"])
            try trial.context.save()
            try trial.expectEqual(
                try trial.names("Item").sorted(), ["A", "c", "d"], "the items after one save of all kinds")
        },
        ConformanceCheck(.saving, "an update does not touch other properties") { trial in
            let made = try trial.items(["a"]) { _ in ["large": Int64(7), "ratio": 0.5, "flag": true] }
            try made[0].setValue(Int64(8), forKey: "large")
            try trial.context.save()
            let found = try trial.keep(trial.container.newContext()).existingObject(with: made[0].objectID)
            try trial.expectEqual(found["name"] as? String, "a", "the name after large was changed")
            try trial.expectEqual(found["large"] as? Int64, 8, "large after it was changed")
            try trial.expectEqual(found["ratio"] as? Double, 0.5, "the ratio after large was changed")
            try trial.expectEqual(found["flag"] as? Bool, true, "the flag after large was changed")
        },
        ConformanceCheck(.saving, "an object can be saved again and again") { trial in
            let made = try trial.items(["a"])
            for number in 1...5 {
                try made[0].setValue(Int64(number), forKey: "large")
                do { try trial.context.save() } catch {
                    throw ConformanceFailure(
                        message:
                            "save \(number) of the same object by the same context failed: \(error); keep the version that the change set gives"
                    )
                }
            }
            let found = try trial.keep(trial.container.newContext()).existingObject(with: made[0].objectID)
            try trial.expectEqual(found["large"] as? Int64, 5, "large after five saves")
        },
        ConformanceCheck(.saving, "versions grow with each change") { trial in
            let made = try trial.items(["a"])
            let first = try trial.keep(trial.container.newContext()).existingObject(with: made[0].objectID)
            let before = version(first)
            try made[0].setValue("b", forKey: "name")
            try trial.context.save()
            let second = try trial.keep(trial.container.newContext()).existingObject(with: made[0].objectID)
            let after = version(second)
            try trial.expect(
                after > before,
                "the version was \(before) before a change and \(after) after it: keep the row's version")
        },
        ConformanceCheck(.saving, "a large save") { trial in
            try trial.items((0..<3_000).map { "n\($0)" }) { ["large": Int64($0)] }
            try trial.expectEqual(
                try trial.keep(trial.container.newContext()).count(try trial.request("Item")), 3_000,
                "items after a save of 3,000")
            try trial.expectEqual(
                try trial.names("Item", "large == 2999"), ["n2999"], "the last of 3,000 items")
        },
        ConformanceCheck(.saving, "an object's identity survives the save") { trial in
            let item = try trial.insert("Item", ["name": "a"])
            let before = item.objectID
            try trial.context.save()
            try trial.expectEqual(item.objectID, before, "the ID after the save")
            let found = try trial.fetch("Item", in: trial.keep(trial.container.newContext())).map(\.objectID)
            try trial.expectEqual(found, [before], "the ID that another context sees")
        },
    ]

    private static func version(_ object: ManagedObject) -> Int64 {
        _ = object["name"]  // so that it is not a fault
        return object.version
    }

    static let conflicts: [ConformanceCheck] = [
        ConformanceCheck(.conflicts, "a save over another's change is a conflict", needs: [.versionConflicts]) {
            trial in
            let (mine, theirs) = try twoEdits(trial)
            try mine.context?.save()
            try expectConflict(trial, theirs, "both changed the same object")
            try trial.expectEqual(
                try trial.names("Item"), ["mine"], "the name after the second of two saves was refused")
        },
        ConformanceCheck(.conflicts, "a delete over another's change is a conflict", needs: [.versionConflicts]) {
            trial in
            let (mine, theirs) = try twoEdits(trial)
            try mine.context?.save()
            theirs.context?.rollback()
            theirs.context?.delete(theirs)
            try expectConflict(trial, theirs, "one changed and one deleted the object")
        },
        ConformanceCheck(.conflicts, "a change of what another deleted is a conflict", needs: [.versionConflicts]) {
            trial in
            let (mine, theirs) = try twoEdits(trial)
            mine.context?.rollback()
            mine.context?.delete(mine)
            try mine.context?.save()
            try expectConflict(trial, theirs, "one deleted and one changed the object")
        },
        ConformanceCheck(.conflicts, "a conflict tells the row as it is", needs: [.versionConflicts]) { trial in
            let (mine, theirs) = try twoEdits(trial)
            try mine.context?.save()
            do {
                try theirs.context?.save()
            } catch PersistenceError.conflicts(let conflicts) {
                let values = conflicts.first?.properties.first { $0.name == "name" }
                try trial.expectEqual(
                    values?.store, .string("mine"),
                    "the store's value in a conflict: give the row as the store has it in StoreConflict.storeRow")
                return
            }
            throw ConformanceFailure(message: "both changed the same object, and the second save passed")
        },
        ConformanceCheck(.conflicts, "changes of different properties merge", needs: [.versionConflicts]) { trial in
            let (mine, theirs) = try twoEdits(trial, property: "large")
            try mine.context?.save()
            theirs.context?.mergePolicy = .objectWinsByProperty
            try theirs.context?.save()
            let found = try trial.keep(trial.container.newContext()).existingObject(with: mine.objectID)
            try trial.expectEqual(found["name"] as? String, "mine", "the property that the first save changed")
            try trial.expectEqual(found["large"] as? Int64, 2, "the property that the second save changed")
        },
        ConformanceCheck(.conflicts, "a conflict writes nothing", needs: [.versionConflicts, .atomicSaves]) { trial in
            let (mine, theirs) = try twoEdits(trial)
            try mine.context?.save()
            guard let context = theirs.context else { return }
            try trial.insert("Item", ["name": "beside"], in: context)
            try expectConflict(trial, theirs, "one of two objects was changed by another")
            try trial.expectEqual(
                try trial.names("Item"), ["mine"],
                "the items after a save with a conflict: a commit is all or nothing")
        },
        ConformanceCheck(.uniqueness, "a unique value is kept unique", needs: [.uniqueKeys]) { trial in
            try trial.items(["a"]) { _ in ["code": "K"] }
            let other = trial.keep(trial.container.newContext())
            other.mergePolicy = .error
            let item = try trial.insert("Item", ["name": "b", "code": "K"], in: other)
            try expectConflict(trial, item, "two objects have the same unique value")
            try trial.expectEqual(try trial.names("Item"), ["a"], "the items after the second one was refused")
        },
        ConformanceCheck(.uniqueness, "nil is shared by many", needs: [.uniqueKeys]) { trial in
            try trial.items(["a", "b", "c"])
            try trial.expectEqual(
                try trial.names("Item").sorted(), ["a", "b", "c"], "items that all have nil as unique value")
        },
        ConformanceCheck(.uniqueness, "a unique value can move on", needs: [.uniqueKeys]) { trial in
            let made = try trial.items(["a", "b"]) { ["code": "K\($0)"] }
            try made[0].setValue("K1", forKey: "code")
            try made[1].setValue("K0", forKey: "code")
            do { try trial.context.save() } catch {
                throw ConformanceFailure(
                    message: "two objects exchanged their unique values in one save, which failed: \(error)")
            }
            try trial.expectEqual(try trial.names("Item", "code == 'K1'"), ["a"], "who has K1 after the exchange")
        },
    ]

    /// The same saved object in two contexts, each with an unsaved change.
    private static func twoEdits(
        _ trial: ConformanceTrial, property: String = "name"
    ) throws -> (ManagedObject, ManagedObject) {
        let id = try trial.items(["old"])[0].objectID
        let contexts = [trial.keep(trial.container.newContext()), trial.keep(trial.container.newContext())]
        let mine = try contexts[0].existingObject(with: id)
        let theirs = try contexts[1].existingObject(with: id)
        contexts[0].mergePolicy = .error
        contexts[1].mergePolicy = .error
        try mine.setValue("mine", forKey: "name")
        try theirs.setValue(property == "name" ? "theirs" : Int64(2), forKey: property)
        return (mine, theirs)
    }

    private static func expectConflict(_ trial: ConformanceTrial, _ object: ManagedObject, _ what: String) throws {
        do {
            try object.context?.save()
        } catch PersistenceError.conflicts {
            return
        } catch {
            throw ConformanceFailure(
                message: "\(what): the save threw \(error), not a conflict; answer commit with CommitResult.conflicts")
        }
        throw ConformanceFailure(
            message:
                "\(what), and the second save passed: compare the base version of each update and delete with the row's"
        )
    }
}
