import Foundation
import Strata

/// Upserts, and objects that outlive their contexts.
extension WorldDriver {
    /// Inserts or updates authors by their code.
    func upsert(_ context: WorldContext) throws {
        var rows: [[String: Any?]] = []
        for _ in 0..<1 + random.below(4) {
            var row: [String: Any?] = ["code": "c\(random.below(40))", "name": "v\(random.below(4))"]
            if random.oneIn(2) { row["score"] = Int64(random.below(4)) }
            if random.oneIn(3) { row["ratio"] = random.oneIn(2) ? nil : Double(random.below(4)) / 2 }
            rows.append(row)
        }
        let codes = Set(rows.compactMap { $0["code"] as? String })
        let authors = context.view.all("Author")
        for code in codes where authors.count(where: { context.view.value($0, "code") == .string(code) }) > 1 { return }
        guard context.view.rows.count < 60 else { return }
        note(context, "upsert \(rows)")
        let result = try context.context.upsert(rows, into: "Author", by: "code")
        var inserted = result.inserted[...]
        for row in rows {
            guard let code = row["code"] as? String else { continue }
            let known = context.view.all("Author").first { context.view.value($0, "code") == .string(code) }
            let id: Ident
            if let known {
                id = known
            } else {
                guard let object = inserted.popFirst() else { throw Difference("\(code) was not inserted") }
                id = Ident(object.objectID)
                if store.objectIDs[id] != nil { throw Difference("the key of \(id) was given before") }
                store.objectIDs[id] = object.objectID
                context.inserted[id] = WorldRow(
                    entity: "Author", cells: ["code": .value(.string(code)), "score": .value(.integer(0))])
            }
            for (name, value) in row where name != "code" {
                let cell: Cell? =
                    switch value {
                    case let text as String: .value(.string(text))
                    case let number as Int64: .value(.integer(number))
                    case let number as Double: .value(.double(number))
                    default: nil
                    }
                context.write(id, name, cell)
            }
        }
        if !inserted.isEmpty { throw Difference("\(inserted) were inserted, and should not have been") }
        try refreshDescendants(context)
    }

    /// Objects of a context that is gone: rows that were read stay as they were, faults show what the store has now.
    func outlive() throws {
        if outliving.count < 20 { outliving += try leftBehind() }
        guard let object = random.pick(outliving) else { return }
        let id = Ident(object.objectID)
        let wasFault = object.isFault
        if wasFault {
            _ = try object.value(forKey: "name")
            guard let row = store.world.rows[id] else {
                if !object.isMissing { throw Difference("\(id) is gone, and its object does not say so") }
                return
            }
            try compareLeft(object, row)
            for relation in WorldSchema.relations(row.entity) where relation.cardinality != .one {
                let members = try WorldReading.members(object, relation)
                let expected = store.world.members(id, relation)
                guard Set(members) == expected else {
                    throw Difference("\(id).\(relation.name), outliving, is \(members), should be \(expected.sorted())")
                }
            }
        } else if !object.isMissing {
            guard let row = store.history[id]?[object.version] else {
                throw Difference("\(id), outliving, has version \(object.version), which was never saved")
            }
            try compareLeft(object, row)
        }
        if random.oneIn(2) { outliving.removeAll { $0 === object } }
    }

    private func leftBehind() throws -> [ManagedObject] {
        let context = container.newContext()
        return try store.world.rows.keys.sorted().filter { _ in random.oneIn(10) }.compactMap { id in
            guard let objectID = store.objectIDs[id] else { return nil }
            return try random.oneIn(2) ? context.existingObject(with: objectID) : context.object(with: objectID)
        }
    }

    private func compareLeft(_ object: ManagedObject, _ row: WorldRow) throws {
        for name in WorldSchema.attributes(row.entity) {
            let cell = try WorldReading.cell(object, name)
            if cell != row.cells[name] {
                throw Difference(
                    "\(object.objectID).\(name), outliving, is \(WorldReading.text(cell)), should be \(WorldReading.text(row.cells[name]))"
                )
            }
        }
    }
}
