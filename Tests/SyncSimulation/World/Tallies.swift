import Strata
import StrataRemote
import StrataStore

/// What clients did to the tallies: objects that are there from the beginning. Each operation is done exactly once, whatever
/// else its save contains: clients assign notes, too, which may be in conflict.
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
    /// What clients have noted.
    private(set) var notes: Set<String> = []

    func note(_ text: String) { notes.insert(text) }

    /// - Returns: Its place.
    @discardableResult
    func add(_ operation: Operation) -> Int {
        list.append(operation)
        return list.count - 1
    }

    /// An operation that may have been sent is saved.
    func save(_ place: Int) { list[place].isForgotten = false }

    /// A client gives up what it did to some tallies.
    func forget(by client: Int, _ isForgotten: (RemoteIdentity) -> Bool) {
        for index in list.indices
        where list[index].client == client && isForgotten(RemoteIdentity(entity: "Tally", id: list[index].id)) {
            list[index].isForgotten = true
        }
    }
}

/// What was done in a context, and is not saved.
final class TallyDraft {
    var operations: [UnsavedOperation] = []
}

/// A context in which tallies are changed. A process may have two of them on its store, which save at the same time.
///
/// `@unchecked Sendable`: everything happens on one thread.
final class TallyContext: @unchecked Sendable {
    let context: ManagedObjectContext
    private(set) var draft = TallyDraft()
    /// Whether a save is under way.
    var isSaving = false

    init(_ context: ManagedObjectContext) { self.context = context }

    /// Operations that are not saved are gone, or have been sent with an unknown outcome.
    func abandon() { draft = TallyDraft() }
}

/// An operation in a context.
struct UnsavedOperation {
    let id: String
    let property: String
    let operation: FieldOperation
    /// Its place among all, if a save has sent it.
    var place: Int?
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
    /// Does something to a tally and saves it here, or at the server.
    func operate() throws {
        if let first = process.tallies.first {
            try operate(process.tallies.count > 1 ? world.executor.random.one(of: process.tallies) : first)
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

    /// Sometimes a text to be assigned along with an operation.
    private func anyNote(_ id: String) -> String? {
        guard world.executor.random.chance(0.2) else { return nil }
        let text = newText()
        world.trace("\(number) notes \(text) in \(id)")
        world.tallies.note(text)
        return text
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
        var slots = SlotSet([slot.index])
        if let text = anyNote(identity(row).id), let note = entity.slot(named: "note") {
            guard RowEditing.setValue(.string(text), note, layout: entity.slots, in: &slab) else { return }
            slots.insert(note.index)
        }
        RowEditing.setVersion(row.row.version + 1, in: slab)
        var changes = ChangeSet()
        changes.updates.append(
            .init(row: RowReference(slab: slab, row: slab.row), slots: slots, baseVersion: row.row.version))
        changes.operations[RowIdentity(entityIndex: entity.index, key: row.key)] = [
            slot.index: FieldOperations([operation])
        ]
        guard case .committed = try mirror.commit(changes, enqueues: true) else {
            return world.violate("client \(number): an operation met a conflict")
        }
        note(identity(row).id, property, operation)
    }

    /// Operations that are not saved immediately wait in the context while others change the same, and are saved with the next.
    private func operate(_ tallies: TallyContext) throws {
        let all = try tallies.context.fetch(
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
            if let text = anyNote(tally["tallyId"] as? String ?? "") { tally["note"] = text }
            tallies.draft.operations.append(
                UnsavedOperation(id: tally["tallyId"] as? String ?? "", property: property, operation: operation))
            // A save that is under way takes it along if it has to start again.
            if tallies.isSaving { place(tallies.draft) }
        }
        guard world.executor.random.chance(0.6), !tallies.isSaving else { return }
        guard world.executor.random.chance(0.5) else {
            try tallies.context.save()
            noteSaved(tallies.draft.operations.count, of: tallies.draft)
            return
        }
        let policy: SavePolicy = world.executor.random.chance(0.7) ? .networkThenCache : .networkElseQueue
        // The other contexts save at the same moment.
        for tallies in process.tallies where !tallies.isSaving && !tallies.draft.operations.isEmpty {
            Task(executorPreference: world.executor) { await self.save(tallies, policy) }
        }
    }

    /// The first of the operations that were not saved have been saved.
    private func noteSaved(_ count: Int, of draft: TallyDraft) {
        for unsaved in draft.operations.prefix(count) {
            if let place = unsaved.place {
                world.tallies.save(place)
            } else {
                note(unsaved.id, unsaved.property, unsaved.operation)
            }
        }
        draft.operations.removeFirst(count)
    }

    /// Counts operations that may be carried out before they are known to be saved.
    private func place(_ draft: TallyDraft) {
        for index in draft.operations.indices where draft.operations[index].place == nil {
            let unsaved = draft.operations[index]
            draft.operations[index].place = world.tallies.add(
                Tallies.Operation(
                    id: unsaved.id, property: unsaved.property, client: number, operation: unsaved.operation,
                    isForgotten: true))
        }
    }

    /// Saves at the server. Until the answer comes, what is sent may have been carried out or not.
    private func save(_ tallies: TallyContext, _ policy: SavePolicy) async {
        // The process may have died before the save began.
        guard process.tallies.contains(where: { $0 === tallies }) else { return }
        let (number, draft) = (process.number, tallies.draft)
        let count = draft.operations.count
        place(draft)
        world.trace("\(self.number) saves its tallies \(policy): \(draft.operations)")
        tallies.isSaving = true
        defer { tallies.isSaving = false }
        do throws(PersistenceError) {
            try await tallies.context.save(options: RemoteOptions(savePolicy: policy))
            guard number == process.number, draft === tallies.draft else { return }
            world.trace("\(self.number)     saved its tallies")
            noteSaved(count, of: draft)
        } catch {
            guard number == process.number, draft === tallies.draft else { return }
            world.trace("\(self.number)     tallies are not saved: \(error)")
            switch error {
            case .store(.remote), .store(.cancelled), .cancelled: break
            // Servers that compare versions are sent results, which others may be faster with each time.
            case .conflicts where !world.variant.hasTokens: break
            default: world.violate("client \(self.number): operations are not saved: \(error)")
            }
            if world.executor.random.chance(0.15) { giveUp(tallies) }
        }
    }

    /// Gives up what is not saved. What was sent may have been carried out.
    private func giveUp(_ tallies: TallyContext) {
        world.trace("\(number) gives up its tallies")
        if world.executor.random.chance(0.5) { tallies.context.rollback() } else { tallies.context.reset() }
        tallies.abandon()
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
            if case .value(.string(let text))? = values["note"], !tallies.notes.contains(text) {
                violate("Tally \(id) has the note \(text) of nobody")
            }
        }
    }

    /// Whether nobody can say whether an operation was carried out.
    private func isUncertain(_ operation: Tallies.Operation) -> Bool {
        if operation.isForgotten || server.wasRestored || overwrites(operation.property) { return true }
        if variant.hasTokens { return false }
        // One by one, somebody else comes to the same number.
        if operation.property == "count" { return true }
        return clients.first { $0.number == operation.client }?.results.contains { result in
            guard result.identity == RemoteIdentity(entity: "Tally", id: operation.id) else { return false }
            if case .merged(let overridden) = result.action { return overridden.contains(operation.property) }
            return false
        } ?? true
    }

    /// Whether nothing stops a client from writing over what others do, or a request that the network delivers twice.
    private func overwrites(_ property: String) -> Bool {
        if variant.isConditional { return false }
        // Several operations on an array go as their result.
        return property != "count" || !variant.features.isSuperset(of: [.increments, .idempotencyTokens])
    }

    private func checkCount(_ value: RemoteValue?, _ done: [Tallies.Operation], _ id: String) {
        guard case .value(.integer(let count))? = value else { return violate("Tally \(id) has no count") }
        // What takes back an operation that its client has given up reaches a restored server that has not done it.
        let takenBack = server.wasRestored ? done.count { $0.isForgotten } : 0
        let least = done.count { !isUncertain($0) } - takenBack
        // A restored server has forgotten what it refused: a request that comes late is carried out, and the client has made
        // another one of it by then. To a client whose server does not know requests again, marks that others have removed look
        // as if its change had never been carried out.
        let isSetBack = !variant.hasTokens && tallies.list.contains { $0.id == id && $0.operation.removes }
        let most = server.wasRestored || isSetBack ? 2 * done.count : done.count
        if overwrites("count") { return }
        if count > Int64(most) || count < Int64(least) {
            violate("Tally \(id) was incremented \(least) to \(most) times, and has \(count)")
        }
    }

    private func checkMarks(_ value: RemoteValue?, _ done: [Tallies.Operation], _ id: String) {
        guard case .value(let value)? = value else { return violate("Tally \(id) has no marks") }
        let present = SimulatedClient.texts(value)
        // As for the count: what a restored server has refused before may come late, and again as part of another request.
        if Set(present).count < present.count, !server.wasRestored, !overwrites("marks") {
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
                    if isThere, removed[mark] == true, variant.hasTokens, !overwrites("marks") {
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
