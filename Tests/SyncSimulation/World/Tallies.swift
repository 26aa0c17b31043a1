import Strata
import StrataRemote
import StrataStore

/// What clients did to the tallies: objects that are there from the beginning, and that nobody assigns anything to. Each
/// operation is done exactly once.
///
/// `@unchecked Sendable`: everything happens on one thread.
final class Tallies: @unchecked Sendable {
    static let ids = ["one", "two"]
    static let properties = ["count", "marks"]

    /// An operation that was saved.
    struct Operation {
        let id: String
        let property: String
        let client: Int
        let operation: FieldOperation
        /// Whether the client has forgotten it since, so that it may have been sent or not.
        var isForgotten = false
    }

    private(set) var list: [Operation] = []

    func add(_ operation: Operation) { list.append(operation) }

    /// A client gives up what it did to some tallies.
    func forget(by client: Int, _ isForgotten: (RemoteIdentity) -> Bool) {
        for index in list.indices
        where list[index].client == client && isForgotten(RemoteIdentity(entity: "Tally", id: list[index].id)) {
            list[index].isForgotten = true
        }
    }
}

extension ModelServer {
    /// Puts the tallies there.
    func placeTallies() {
        guard let entity = model.entity(named: "Tally") else { return }
        for id in Tallies.ids {
            _ = try? perform(
                .create(
                    entity: entity,
                    [RemoteWrite(id: id, values: ["count": .value(0), "marks": .value(.list([]))])]))
        }
    }

    /// What an update makes of an object: its values, and the operations on those that are there.
    func changed(
        _ values: [String: RemoteValue], _ operations: [String: FieldOperation], _ entity: EntityDescription
    ) -> [String: RemoteValue] {
        var result = values
        for (property, operation) in operations {
            guard let type = entity.attribute(named: property)?.type else { continue }
            var old = Value.null
            if case .value(let value)? = values[property] { old = value }
            guard variant.features.contains(operation.feature), let value = operation.applied(to: old, of: type) else {
                onViolation("\(entity.name).\(property): \(operation) cannot be done to \(old)")
                continue
            }
            result[property] = .value(value)
        }
        return result
    }
}

extension SimulatedClient {
    /// Does something to a tally and saves it here.
    func operate() throws {
        if let context = process.tallies {
            try operate(context)
        } else {
            try operateWithoutContext()
        }
        guard world.defect == .operationBecomesValue else { return }
        try mirror.store.transaction { (transaction) throws(StoreError) in
            try transaction.connection.execute("UPDATE _outbox SET operations = NULL WHERE attempts = 0")
        }
    }

    /// Something to do, of which it can be told later whether it was done, and how often.
    private func anyOperation(marks: [String]) -> (property: String, operation: FieldOperation) {
        if world.executor.random.chance(0.5) { return ("count", .increment(1)) }
        if world.executor.random.chance(0.3), !marks.isEmpty {
            return ("marks", .remove([.string(world.executor.random.one(of: marks))]))
        }
        let mark = Value.string(newText())
        return ("marks", world.executor.random.chance(0.5) ? .append([mark]) : .appendUnique([mark]))
    }

    private func note(_ id: String, _ property: String, _ operation: FieldOperation) {
        world.trace("\(number) does \(operation) to \(id).\(property)")
        world.tallies.add(
            Tallies.Operation(id: id, property: property, client: number, operation: operation))
    }

    private func operateWithoutContext() throws {
        let all = try rows("Tally")
        guard !all.isEmpty else { return }
        let row = world.executor.random.one(of: all)
        let entity = entity("Tally")
        guard let marks = entity.slot(named: "marks"), row.row.version > 0 else { return }
        let (property, operation) = anyOperation(marks: Self.texts(row.row.value(marks)))
        guard let slot = entity.slot(named: property), let type = slot.type,
            let value = operation.applied(to: row.row.value(slot), of: type)
        else { return world.violate("client \(number): \(operation) cannot be done") }
        var slab = RowSlab.copy(of: row.row)
        guard RowEditing.setValue(value, slot, layout: entity.slots, in: &slab) else { return }
        RowEditing.setVersion(row.row.version + 1, in: slab)
        var changes = ChangeSet()
        changes.updates.append(
            .init(
                row: RowReference(slab: slab, row: slab.row), slots: SlotSet([slot.index]),
                baseVersion: row.row.version))
        changes.operations[RowIdentity(entityIndex: entity.index, key: row.key)] = [
            slot.index: FieldOperations([operation])
        ]
        guard case .committed = try mirror.commit(changes, enqueues: true) else {
            return world.violate("client \(number): an operation met a conflict")
        }
        note(identity(row).id, property, operation)
    }

    /// Operations that are not saved immediately wait in the context while others change the same, and are saved with the next.
    private func operate(_ context: ManagedObjectContext) throws {
        let all = try context.fetch(
            FetchRequest<ManagedObject>(entity: "Tally").options(RemoteOptions(fetchPolicy: .cacheOnly)))
        guard !all.isEmpty else { return }
        let sorted = all.filter { !$0.isMissing }.sorted { $0.objectID.key < $1.objectID.key }
        guard !sorted.isEmpty else { return }
        for _ in 0...world.executor.random.below(3) {
            let tally = world.executor.random.one(of: sorted)
            let (property, operation) = anyOperation(marks: tally["marks"] as? [String] ?? [])
            switch operation {
            case .increment: try tally.increment(property)
            case .append(let list): try tally.add(list.compactMap(String.init), to: property)
            case .appendUnique(let list): try tally.addUnique(list.compactMap(String.init), to: property)
            case .remove(let list): try tally.remove(list.compactMap(String.init), from: property)
            }
            unsavedOperations.append((tally["tallyId"] as? String ?? "", property, operation))
        }
        guard world.executor.random.chance(0.6) else { return }
        try context.save()
        for (id, property, operation) in unsavedOperations { note(id, property, operation) }
        unsavedOperations = []
    }

    static func texts(_ value: Value) -> [String] {
        guard case .list(let values) = value else { return [] }
        return values.compactMap(String.init)
    }
}

extension SimulationWorld {
    /// Saved operations were carried out once. What a client has forgotten may have been done; so may what a client has reported of a
    /// server that does not know requests again.
    func checkTallies() {
        guard operates else { return }
        for id in Tallies.ids {
            let values = server.objects[RemoteIdentity(entity: "Tally", id: id)]?.values ?? [:]
            let done = tallies.list.filter { $0.id == id }
            checkCount(values["count"], done.filter { $0.property == "count" }, id)
            checkMarks(values["marks"], done.filter { $0.property == "marks" }, id)
        }
    }

    /// Whether nobody can say whether an operation was carried out.
    private func isUncertain(_ operation: Tallies.Operation) -> Bool {
        if operation.isForgotten || server.wasRestored || !variant.isConditional { return true }
        if variant.hasTokens { return false }
        // One by one, somebody else comes to the same number.
        if operation.property == "count" { return true }
        return clients.first { $0.number == operation.client }?.results.contains { result in
            guard result.identity == RemoteIdentity(entity: "Tally", id: operation.id) else { return false }
            if case .merged(let overridden) = result.action { return overridden.contains(operation.property) }
            return false
        } ?? true
    }

    private func checkCount(_ value: RemoteValue?, _ done: [Tallies.Operation], _ id: String) {
        guard case .value(.integer(let count))? = value else { return violate("Tally \(id) has no count") }
        let least = done.count { !isUncertain($0) }
        // A restored server has forgotten what it refused: a request that comes late is carried out, and the client has made
        // another one of it by then. To a client whose server does not know requests again, marks that others have removed look
        // as if its change had never been carried out.
        let isSetBack = !variant.hasTokens && tallies.list.contains { $0.id == id && $0.operation.removes }
        let most = server.wasRestored || isSetBack ? 2 * done.count : done.count
        if count > Int64(most) || count < Int64(least) {
            violate("Tally \(id) was incremented \(least) to \(most) times, and has \(count)")
        }
    }

    private func checkMarks(_ value: RemoteValue?, _ done: [Tallies.Operation], _ id: String) {
        guard case .value(let value)? = value else { return violate("Tally \(id) has no marks") }
        let present = SimulatedClient.texts(value)
        // As for the count: what a restored server has refused before may come late, and again as part of another request.
        if Set(present).count < present.count, !server.wasRestored {
            violate("Tally \(id) has a mark twice: \(present)")
        }
        var removed: [String: Bool] = [:]
        for operation in done {
            guard case .remove(let marks) = operation.operation else { continue }
            for mark in marks.compactMap(String.init) {
                removed[mark] = removed[mark] ?? false || !isUncertain(operation)
            }
        }
        var added: Set<String> = []
        for operation in done {
            switch operation.operation {
            case .append(let marks), .appendUnique(let marks):
                for mark in marks.compactMap(String.init) {
                    added.insert(mark)
                    let isThere = present.contains(mark)
                    if !isThere, removed[mark] == nil, !isUncertain(operation) {
                        violate("Tally \(id) lacks the mark \(mark)")
                    }
                    if isThere, removed[mark] == true, variant.hasTokens {
                        violate("Tally \(id) has the mark \(mark), which was removed")
                    }
                }
            default: break
            }
        }
        for mark in present where !added.contains(mark) { violate("Tally \(id) has the mark \(mark) of nobody") }
    }
}

extension FieldOperation {
    fileprivate var removes: Bool { if case .remove = self { true } else { false } }
}
