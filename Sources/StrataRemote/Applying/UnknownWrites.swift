import StrataStore

/// Online saves whose outcome is not known. Each keeps its token and its body, and is sent again before the next save
/// of its object: the server carries it out once, and the client does not conflict with itself. A save that is known to be
/// carried out by now stays here while its context has the changes to save. Kept in memory, as these are.
///
/// Of the contexts that save an object, each has its own. One at most is not known to be carried out, because each save settles
/// those of others first. What a context has given up falls to the next one that saves the object: it takes the operations back.
final class UnknownWrites: Sendable {
    /// A write, and who has its changes to save.
    private struct Note {
        var unknown: UnknownWrite
        /// Where a context has them; nil for those of the outbox.
        let draft: ChangeSource.Draft?

        /// Whether the context of the write has given its changes up.
        var isAbandoned: Bool { draft?.isDropped == true }
        /// Whether nothing is to be done about the write any longer: contexts go on from what the server has told since, and nobody
        /// else knows a new object.
        var isOver: Bool { isAbandoned && (unknown.isHere || unknown.isTold || unknown.isOfNewObject) }

        /// Whether a context has the changes, or none has and the store is used without one.
        func isOf(_ source: ChangeSource?) -> Bool { draft.map { $0.isOf(source) } ?? (source == nil) }

        /// Whether a save has to leave out what the write has done.
        func belongs(to source: ChangeSource?) -> Bool { draft.map { $0.isOf(source) || $0.isDropped } ?? true }

        /// Whether there is still something of that.
        func concerns(_ source: ChangeSource?) -> Bool { belongs(to: source) && !isOver }
    }

    private struct State {
        /// By topmost entity and key.
        var notes: [RowIdentity: [Note]] = [:]
        /// Those that are under way, and what answers have told meanwhile.
        var sending: [RowIdentity: Note] = [:]
        /// How many objects there may be until those are looked for that no context can save any more.
        var limit = 1000

        /// Forgets new objects that contexts have given up: nobody else knows them.
        mutating func sweep() {
            guard notes.count > limit else { return }
            notes = notes.filter { _, list in !list.allSatisfy(\.isOver) }
            limit = max(1000, 2 * notes.count)
        }
    }

    private let state = Guarded(State())

    /// Writes are about to be sent.
    func begin(_ writes: [MirrorWrite], of source: ChangeSource?) {
        state.withLock { state in
            for write in writes {
                state.sending[write.rootedIdentity] = Note(unknown: UnknownWrite(write: write), draft: source?.draft)
            }
        }
    }

    /// Writes have been answered, or have got no answer.
    func end(_ writes: [MirrorWrite]) {
        state.withLock { state in
            for write in writes { state.sending[write.rootedIdentity] = nil }
        }
    }

    /// The answer to a write was lost. An earlier one of the object, of which nothing is known either, comes first.
    /// - Parameters:
    ///   - source: The context that saves.
    ///   - isOwn: Whether it has the changes of the write. Nobody has those that waited in the outbox.
    func add(_ write: MirrorWrite, _ identity: RowIdentity, of source: ChangeSource?, isOwn: Bool = true) {
        state.withLock { state in
            if state.notes[identity]?.contains(where: { $0.concerns(source) }) == true { return }
            var unknown = UnknownWrite(write: write)
            if isOwn { unknown = unknown.keepingNotes(of: state.sending[identity]?.unknown) }
            state.notes[identity, default: []].append(Note(unknown: unknown, draft: isOwn ? source?.draft : nil))
            state.sweep()
        }
    }

    /// From now on something else is to be sent again of an object, or nothing. What answers have told meanwhile stays noted.
    func put(_ unknown: UnknownWrite?, _ identity: RowIdentity, of source: ChangeSource?) {
        state.withLock { state in
            var list = state.notes[identity] ?? []
            let latest = list.first { $0.isOf(source) }
            list.removeAll { $0.belongs(to: source) }
            if let unknown {
                let noted = unknown.keepingNotes(of: latest?.unknown)
                    .keepingNotes(of: state.sending[identity]?.unknown)
                list.append(Note(unknown: noted, draft: source?.draft))
            }
            state.notes[identity] = list.isEmpty ? nil : list
        }
    }

    /// Whether all answers are known.
    var isEmpty: Bool { state.withLock(\.notes.isEmpty) }

    /// Whether something is to be noted of what answers tell.
    var isWatching: Bool { state.withLock { !$0.notes.isEmpty || !$0.sending.isEmpty } }

    /// What is to be left out of a context's save of an object.
    func write(of identity: RowIdentity, of source: ChangeSource?) -> UnknownWrite? {
        state.withLock { $0.notes[identity]?.first { $0.concerns(source) }?.unknown }
    }

    /// As ``write(of:of:)``, for a save that begins. A write that another context has given up is this one's from then on: while the
    /// server is asked about it, no third context leaves it out of its own save, too.
    func claim(_ identity: RowIdentity, of source: ChangeSource?) -> UnknownWrite? {
        state.withLock { state in
            guard let list = state.notes[identity], let index = list.firstIndex(where: { $0.concerns(source) }) else {
                return nil
            }
            var unknown = list[index].unknown
            if list[index].isAbandoned {
                unknown.forgetStep()
                state.notes[identity]?[index] = Note(unknown: unknown, draft: source?.draft)
            }
            return unknown
        }
    }

    /// What answers have made of the row of an object, as far as that is what a save of a context has done.
    func step(of identity: RowIdentity, of source: ChangeSource?) -> RowStep? {
        state.withLock { state in
            state.notes[identity]?.first { $0.isOf(source) }?.unknown.step
        }
    }

    /// What other contexts have sent of an object, and what the mirror does not have for certain. New objects are known to none
    /// but the context that makes them.
    func others(of identity: RowIdentity, besides source: ChangeSource?) -> [UnknownWrite] {
        state.withLock { state in
            (state.notes[identity] ?? []).filter {
                !$0.belongs(to: source) && !$0.unknown.isHere && !$0.unknown.isOfNewObject
            }.map(\.unknown)
        }
    }

    /// The mirror has the server's state of an object.
    /// - Parameters:
    ///   - step: The versions of the row before and after that; nil if nothing has changed.
    ///   - isResult: Whether all that is new may be what a write has done.
    func noteTold(_ identity: RowIdentity, _ step: RowStep?, where isResult: (UnknownWrite) -> Bool) {
        state.withLock { state in
            // It may have been told before the write arrived.
            if let step, let sending = state.sending[identity], isResult(sending.unknown) {
                state.sending[identity]?.unknown.note(step)
            }
            guard var list = state.notes[identity] else { return }
            for index in list.indices {
                list[index].unknown.isTold = true
                if let step, isResult(list[index].unknown) { list[index].unknown.note(step) }
            }
            state.notes[identity] = list
        }
    }

    /// What a context has given up is no longer left out of its saves if the server has told about the object since: the context goes
    /// on from that.
    /// - Parameters:
    ///   - assigned: The properties of an object that the context has to save.
    ///   - operations: What it has done to some of them.
    func noteGivenUp(
        _ identity: RowIdentity, of source: ChangeSource?, keeping assigned: Set<String>,
        _ operations: [String: FieldOperations]
    ) {
        state.withLock { state in
            guard let list = state.notes[identity] else { return }
            let rest = list.compactMap { note in
                var note = note
                guard note.belongs(to: source) else { return note }
                return note.unknown.keeps(assigned, operations) ? note : nil
            }
            state.notes[identity] = rest.isEmpty ? nil : rest
        }
    }

    /// Rows have not become what was noted of them.
    func forgetSteps() {
        state.withLock { state in
            for (identity, list) in state.notes {
                for index in list.indices { state.notes[identity]?[index].unknown.forgetStep() }
            }
            for identity in state.sending.keys { state.sending[identity]?.unknown.forgetStep() }
        }
    }

    /// From now on a write is known to have had another outcome; nil if nothing is to be remembered of it.
    func replace(_ unknown: UnknownWrite, _ identity: RowIdentity, by next: UnknownWrite?) {
        state.withLock { state in
            var list = state.notes[identity] ?? []
            let token = unknown.write.write.token
            guard let index = list.firstIndex(where: { $0.unknown.write.write.token == token }) else { return }
            if let next {
                list[index].unknown = next.keepingNotes(of: list[index].unknown)
            } else {
                list.remove(at: index)
            }
            state.notes[identity] = list.isEmpty ? nil : list
        }
    }

    /// The mirror has what a write has done.
    func take(_ unknown: UnknownWrite, _ identity: RowIdentity) {
        let token = unknown.write.write.token
        let latest = state.withLock { $0.notes[identity]?.first { $0.unknown.write.write.token == token }?.unknown }
        if let latest { replace(latest, identity, by: latest.taken) }
    }

    func remove(_ identity: RowIdentity, of source: ChangeSource?) { put(nil, identity, of: source) }

    func remove(_ isForgotten: ((RemoteIdentity) -> Bool)?) {
        state.withLock { state in
            state.notes = state.notes.compactMapValues { list in
                let rest = list.filter { !(isForgotten?($0.unknown.write.rootedName) ?? true) }
                return rest.isEmpty ? nil : rest
            }
        }
    }
}

/// The online saves without a known outcome whose changes one context still has.
struct OwnUnknownWrites: Sendable {
    let all: UnknownWrites
    /// The context; nil if the store is used without one.
    let source: ChangeSource?

    func write(of identity: RowIdentity) -> UnknownWrite? { all.write(of: identity, of: source) }

    func claim(_ identity: RowIdentity) -> UnknownWrite? { all.claim(identity, of: source) }

    func add(_ write: MirrorWrite, _ identity: RowIdentity) { all.add(write, identity, of: source) }

    func put(_ unknown: UnknownWrite?, _ identity: RowIdentity) { all.put(unknown, identity, of: source) }

    func remove(_ identity: RowIdentity) { all.remove(identity, of: source) }
}

/// What an earlier save has sent of an object, and what contexts still have to save: it is left out of their next save.
struct UnknownWrite: Sendable {
    private(set) var write: MirrorWrite
    /// The write before ``write``, which the server has carried out; of an object that the mirror has not got yet, all that the
    /// server has then, as an insert.
    var before: MirrorWrite?
    /// Whether the server is known to have carried the write out, so that it is not sent again.
    var isCarriedOut = false
    /// Whether the mirror has the object with what was carried out.
    private(set) var isHere = false
    /// How often the server has refused to be told again.
    var refusals = 0
    /// Whether the server has told about the object since.
    fileprivate(set) var isTold = false
    /// What answers have made of the row since, as far as that is what the write has done: for its context, no change by others.
    private(set) var step: RowStep?

    /// For an object that the mirror has not got yet: as the server had it before ``write``, which changes it then.
    var born: MirrorWrite? { before?.kind == .insert ? before : nil }

    /// For an object that the mirror has not got yet: what makes it.
    var creation: MirrorWrite? { write.kind == .insert ? write : born }

    /// Whether the mirror has not got the object yet.
    var isOfNewObject: Bool { creation != nil }

    /// The same, known to be carried out.
    var carriedOut: UnknownWrite {
        var result = self
        result.isCarriedOut = true
        return result
    }

    /// Forgets what its context has given up of a change, and no longer shows as its own.
    /// - Returns: Whether anything is left.
    fileprivate mutating func keeps(_ assigned: Set<String>, _ operations: [String: FieldOperations]) -> Bool {
        guard write.kind == .update, isHere || isTold else { return true }
        for (name, value) in write.computed where operations[name]?.continues(value.covered) != true {
            write.computed[name] = isHere ? nil : value.uncovered
        }
        let isCounted = write.computed.values.contains { !$0.covered.isEmpty }
        let isShown = told.contains { name, value in
            // What a context has assigned does not name members.
            if case .references = value { return true }
            return assigned.contains(name) && operations[name] == nil
        }
        return isCounted || isShown || !write.relations.isEmpty || step != nil && isHere
    }

    /// The same, but for changes of members.
    var withoutMembers: UnknownWrite {
        var result = self
        result.write.relations = []
        return result
    }

    /// The same, together with an earlier write of the object that the server has carried out, too.
    func joined(with earlier: UnknownWrite) -> UnknownWrite {
        if earlier.isOfNewObject { return earlier.followed(by: write) }
        var result = self
        result.write = write.joined(with: earlier.write)
        return result.keepingNotes(of: earlier)
    }

    /// The same, but for some properties.
    func without(_ names: Set<String>) -> UnknownWrite {
        var result = self
        result.write.relations.removeAll { names.contains($0.relationship) }
        for name in names {
            result.write.write.values[name] = nil
            result.write.write.operations[name] = nil
            result.write.computed[name] = nil
        }
        return result
    }

    /// What the server has of the properties of the write and of the one before, and of all of a new object, once it has carried the
    /// write out.
    var told: [String: RemoteValue] { joinedWrite.write.values }

    /// The write together with what the server has carried out before.
    private var joinedWrite: MirrorWrite { born?.changed(by: write) ?? before.map(write.joined(with:)) ?? write }

    /// Whether a value of a property may be what the write has made of it, or the one before.
    func mayHaveMade(_ value: RemoteValue?, of name: String) -> Bool {
        [write, before].contains { $0?.result(of: name).map { $0 == value } ?? false }
    }

    /// What is to be sent again once the server is known to have carried out this write, and nothing is known of the next.
    func followed(by next: MirrorWrite) -> UnknownWrite {
        // One that the server has renamed is named by its creation.
        guard next.write.id == write.write.id else { return self }
        return UnknownWrite(write: next, before: joinedWrite).keepingNotes(of: self)
    }

    /// The same with what answers have told since it was derived from an earlier state of it.
    fileprivate func keepingNotes(of latest: UnknownWrite?) -> UnknownWrite {
        guard let latest else { return self }
        var result = self
        result.isTold = isTold || latest.isTold
        if let step = latest.step, step.to > result.step?.to ?? .min { result.step = step }
        return result
    }

    fileprivate mutating func forgetStep() { step = nil }

    fileprivate mutating func note(_ next: RowStep) {
        step = step?.to == next.from ? RowStep(from: step?.from ?? next.from, to: next.to) : next
    }

    /// What is left of the write once the server has carried it out, and the mirror has the result. Its context still has all of it
    /// to save.
    var taken: UnknownWrite? {
        guard var result = Self.operations(of: write) ?? step.map({ _ in UnknownWrite(write: write.withoutValues) })
        else { return nil }
        result.isCarriedOut = true
        result.isHere = true
        result.step = step
        return result
    }

    /// What is left of a write that the server has carried out once the mirror has the object as it is now: contexts still have
    /// its operations. nil if it has none.
    static func operations(of write: MirrorWrite) -> UnknownWrite? {
        guard write.kind == .update else { return nil }
        var rest = write
        rest.computed = write.computed.filter { !$0.value.covered.isEmpty }
        rest.write.values = write.write.values.filter { rest.computed[$0.key] != nil }
        rest.write.operations = write.write.operations.filter { rest.computed[$0.key] != nil }
        rest.relations = []
        return rest.computed.isEmpty ? nil : UnknownWrite(write: rest, isCarriedOut: true, isHere: true)
    }
}

extension Mirror {
    /// Notes what contexts have given up of their saves without an answer.
    func noteGivenUp(_ changes: ChangeSet) {
        if online.unknown.isEmpty { return }
        for update in changes.updates {
            let row = update.row.row
            let entity = model.entities[row.entityIndex]
            var operations: [String: FieldOperations] = [:]
            for (index, done) in changes.operations(of: update) { operations[entity.slots[index].name] = done }
            let assigned = Set(update.slots.map { entity.propertyName(ofSlot: $0) })
            let identity = RowIdentity(entityIndex: root(row.entityIndex), key: row.key)
            online.unknown.noteGivenUp(identity, of: changes.source, keeping: assigned, operations)
        }
    }
}

/// The versions of a row before and after answers have changed it.
struct RowStep: Sendable {
    let from: Int64
    let to: Int64
}

extension MirrorWrite {
    /// The write as one that says nothing.
    fileprivate var withoutValues: MirrorWrite {
        var result = self
        result.write.values = [:]
        result.write.operations = [:]
        result.computed = [:]
        result.relations = []
        return result
    }

    /// The value of a property once the server has carried the write out; nil if the write says nothing of it.
    fileprivate func result(of name: String) -> RemoteValue? { computed[name]?.after ?? write.values[name] }

    /// The write together with an earlier one. Its operations contain those of the earlier one.
    fileprivate func joined(with earlier: MirrorWrite) -> MirrorWrite {
        var result = self
        result.write.values.merge(earlier.write.values) { own, _ in own }
        result.computed.merge(earlier.computed) { own, _ in own }
        return result
    }

    /// A new object as it is after a change.
    fileprivate func changed(by change: MirrorWrite) -> MirrorWrite {
        var result = self
        result.write.values.merge(change.write.values) { $1 }
        result.write.values.merge(change.computed.mapValues(\.after)) { $1 }
        for relation in change.relations {
            var members = result.write.values.members(of: relation.relationship)
            members.removeAll { relation.removed.contains($0) || relation.added.contains($0) }
            result.write.values[relation.relationship] = .references(members + relation.added)
        }
        return result
    }
}
