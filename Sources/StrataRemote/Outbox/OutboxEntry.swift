import Foundation
import StrataSQLite
import StrataStore

/// A change that waits to be told to the server: one for each object, and a second one if the object was changed again
/// while the first is under way. It has one of the stored properties for each column of the outbox.
package struct OutboxEntry: Sendable {
    /// How far it is.
    package enum State: Int64, Sendable, Hashable {
        /// Nothing of it has been sent, or what was sent is known not to have been done.
        case waiting = 0
        /// It was sent, and the answer is not known: the server may have done it.
        case sent = 1
        /// The server refused it. It is sent again when you retry it, or when the object changes.
        case failed = 2
    }

    /// Its place in the order of changes.
    package var seq: Int64
    /// The object.
    package var identity: RowIdentity
    /// The primary key of the object, for those that may be gone.
    package var id: String
    package var kind: ChangeKind
    package var state: State
    /// The slots that were changed here; only for an update.
    package var slots: SlotSet
    /// The operations on those slots that were not assigned. The server has, or is to have, the result of the same
    /// operations on its own value.
    package var operations: [Int: FieldOperations] = [:]
    /// The to-many relationships that were changed here; only for an update.
    package var members: [MemberChange]
    /// The packed row as the server last told it before the change; nil for an insert. Of the slots that were changed
    /// here it stays as it was when they were, until the change is settled.
    package var base: Data?
    /// The name of the write, from the first attempt on.
    package var token: UUID?
    /// The write as it was sent first, until its outcome is known; see ``FrozenWrite``.
    package var sent: Data?
    /// When the object was last changed here, by the server's clock as far as it is known.
    package var changed: Date
    /// How often it has been sent.
    package var attempts: Int
    /// Why the last attempt failed.
    package var error: RemoteError?
    /// The names of secrets that go along. Their values are held only in memory.
    package var secretNames: Set<String>
}

/// A change of a to-many relationship that is kept as pairs, of an object that waits in the outbox.
package struct MemberChange: Sendable, Hashable, Codable {
    /// The name of the relationship.
    package var relationship: String
    /// The keys of members that were added.
    package var added: Set<Int64> = []
    /// The keys of members that were removed, with their primary keys, since they may be gone when it is sent.
    package var removed: [Int64: String] = [:]
    /// Whether the order was changed, so that the whole list has to be told.
    package var isOrder = false

    /// Applies what was changed later. A member that was added and is removed again is still to be removed: somebody
    /// else may have added it meanwhile, and it must not come back.
    mutating func merge(_ later: MemberChange) {
        for key in later.added {
            removed[key] = nil
            added.insert(key)
        }
        for (key, id) in later.removed {
            added.remove(key)
            removed[key] = id
        }
        isOrder = isOrder || later.isOrder
    }

    /// Whether a member was added or removed.
    func concerns(_ key: Int64) -> Bool { added.contains(key) || removed[key] != nil }

    /// Whether nothing is left of it.
    var isEmpty: Bool { added.isEmpty && removed.isEmpty && !isOrder }
}

extension OutboxEntry {
    /// Applies what was done to the object later, when the server has heard about neither.
    /// - Parameter id: The primary key, for a delete.
    /// - Returns: false if nothing is left to tell the server.
    mutating func follow(
        _ later: ChangeKind, id: String = "", slots: SlotSet = SlotSet(), members: [MemberChange] = [],
        operations: [Int: FieldOperations] = [:]
    ) -> Bool {
        guard let joined = kind.followed(by: later) else { return false }
        // What failed is worth another attempt, too. It says something else, so it has another name.
        state = .waiting
        forgetAttempt()
        kind = joined
        switch joined {
        case .insert: break
        case .update:
            self.id = ""
            add(slots, operations)
            add(members)
        case .delete:
            self.id = id
            self.slots = SlotSet()
            self.operations = [:]
            self.members = []
        }
        return true
    }

    /// The outcome of what was sent is known: the next attempt is another write.
    mutating func forgetAttempt() {
        token = nil
        sent = nil
    }

    /// Whether the server may have done it: it is under way, or was refused after an attempt without an answer.
    var mayBeCarriedOut: Bool { state == .sent || sent != nil }

    /// Whether the server carries the change out whatever others have made of the object: its answer tells that, too.
    var passesOthers: Bool {
        guard kind == .update else { return false }
        return members.contains { !$0.added.isEmpty || !$0.removed.isEmpty }
            || !slots.isEmpty && slots.allSatisfy { operations[$0] != nil }
    }

    /// Whether the operations on a slot take back those of an earlier entry, and do nothing else.
    func takesBack(_ earlier: OutboxEntry, _ slot: Int) -> Bool {
        guard var all = earlier.operations[slot], let back = operations[slot] else { return false }
        all.append(back)
        return all.isEmpty
    }

    /// Whether an online save of the object takes the entry along: the server has refused it, or a new object waits for another one
    /// that it refers to.
    var goesAlong: Bool { state == .failed || (kind == .insert && state == .waiting && sent == nil) }

    /// Whether nothing was done to the entry since it was read as `other`.
    func isUnchanged(since other: OutboxEntry) -> Bool {
        kind == other.kind && slots == other.slots && operations == other.operations && members == other.members
            && state == other.state
    }

    /// Merges changed values. An operation on an assigned value becomes part of that; an assigned value replaces earlier
    /// operations.
    mutating func add(_ later: SlotSet, _ done: [Int: FieldOperations]) {
        for slot in later {
            guard let done = done[slot] else {
                operations[slot] = nil
                slots.insert(slot)
                continue
            }
            if slots.contains(slot), operations[slot] == nil { continue }
            operations[slot, default: FieldOperations()].append(done)
            slots.insert(slot)
            if operations[slot]?.isEmpty == true {
                operations[slot] = nil
                slots.remove(slot)
            }
        }
    }

    /// Keeps some of the changed values.
    mutating func keep(_ kept: SlotSet) {
        slots = kept
        operations = operations.filter { kept.contains($0.key) }
    }

    /// Applies changes of to-many relationships.
    mutating func add(_ changes: [MemberChange]) {
        for change in changes {
            if let index = members.firstIndex(where: { $0.relationship == change.relationship }) {
                members[index].merge(change)
            } else {
                members.append(change)
            }
        }
        members.removeAll(where: \.isEmpty)
    }
}

extension ChangeKind {
    /// How it is in the outbox, which is also the order of kinds for back ends without versions.
    var number: Int64 {
        switch self {
        case .insert: 0
        case .update: 1
        case .delete: 2
        }
    }

    init?(number: Int64) {
        switch number {
        case 0: self = .insert
        case 1: self = .update
        case 2: self = .delete
        default: return nil
        }
    }
}

extension OutboxEntry {
    /// The columns in the order in which ``init(_:_:)`` reads them.
    static let columns =
        "seq, entity, key, kind, state, id, slots, members, base, token, changed, attempts, error, secrets, sent, operations"

    /// Reads a row of the outbox; nil if it is of an entity that the model has no more.
    init?(_ statement: Statement, _ mirror: Mirror) {
        guard let entityIndex = mirror.entities.indexes[statement.integer(1)],
            let kind = ChangeKind(number: statement.integer(3)), let state = State(rawValue: statement.integer(4))
        else { return nil }
        seq = statement.integer(0)
        identity = RowIdentity(entityIndex: entityIndex, key: statement.integer(2))
        self.kind = kind
        self.state = state
        id = statement.isNull(5) ? "" : statement.text(5)
        slots = statement.isNull(6) ? SlotSet() : SlotSet(stored: statement.blobBytes(6))
        members = statement.isNull(7) ? [] : Self.decoded([MemberChange].self, statement, 7) ?? []
        base = statement.isNull(8) ? nil : Data(statement.blobBytes(8))
        token = statement.isNull(9) ? nil : UUID(bytes: statement.blobBytes(9))
        changed = Date(timeIntervalSinceReferenceDate: statement.double(10))
        attempts = Int(statement.integer(11))
        error = statement.isNull(12) ? nil : Self.decoded(StoredError.self, statement, 12)?.error
        sent = statement.isNull(14) ? nil : Data(statement.blobBytes(14))
        if !statement.isNull(15) {
            operations = .init(stored: Data(statement.blobBytes(15)), mirror.model.entities[entityIndex])
        }
        secretNames = statement.isNull(13) ? [] : Self.decoded(Set<String>.self, statement, 13) ?? []
    }

    /// The columns that ``bind(to:behind:_:)`` binds, in their order.
    static let writtenColumns = [
        "kind", "state", "id", "slots", "members", "base", "token", "changed", "attempts", "error", "key", "secrets",
        "sent",
        "operations",
    ]

    /// Binds ``writtenColumns`` after a parameter.
    func bind(to statement: Statement, behind last: Int32, _ model: ManagedObjectModel) {
        statement.bind(kind.number, at: last + 1)
        statement.bind(state.rawValue, at: last + 2)
        if id.isEmpty { statement.bindNull(at: last + 3) } else { statement.bind(id, at: last + 3) }
        statement.bind(slots.stored, at: last + 4)
        bind(members.isEmpty ? nil : Self.encoded(members), at: 5)
        bind(base, at: 6)
        bind(token?.data, at: 7)
        statement.bind(changed.timeIntervalSinceReferenceDate, at: last + 8)
        statement.bind(Int64(attempts), at: last + 9)
        bind(error.map { Self.encoded(StoredError($0)) }, at: 10)
        statement.bind(identity.key, at: last + 11)
        bind(secretNames.isEmpty ? nil : Self.encoded(secretNames), at: 12)
        bind(sent, at: 13)
        bind(operations.stored(model.entities[identity.entityIndex]), at: 14)

        func bind(_ data: Data?, at index: Int32) {
            if let data { statement.bind(data, at: last + index) } else { statement.bindNull(at: last + index) }
        }
    }

    private static func decoded<T: Decodable>(_ type: T.Type, _ statement: Statement, _ column: Int32) -> T? {
        try? JSONDecoder().decode(type, from: Data(statement.blobBytes(column)))
    }

    /// Something as it appears in a column.
    static func encoded(_ value: some Encodable) -> Data {
        // None of the types that come here has a value that JSON cannot hold.
        (try? JSONEncoder().encode(value)) ?? Data()
    }
}

/// What is kept of an error.
struct StoredError: Codable {
    let kind: String
    let domain: String
    let code: Int
    let message: String
    let status: Int?

    init(_ error: RemoteError) {
        kind = error.kind.rawValue
        domain = error.domain
        code = error.code
        message = error.message
        status = error.status
    }

    var error: RemoteError {
        RemoteError(
            RemoteError.Kind(rawValue: kind) ?? .rejected, domain: domain, code: code, message: message, status: status)
    }
}

extension OutboxEntry {
    /// Whether it is the same change in the same attempt. Its object may have another key by now: the double of an object gives its
    /// changes to that.
    func isSame(as other: OutboxEntry) -> Bool {
        seq == other.seq && token == other.token && kind == other.kind
    }
}

extension UUID {
    init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        self.init(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }

    var data: Data { withUnsafeBytes(of: uuid) { Data($0) } }
}

extension SlotSet {
    /// Reads what ``stored`` gave.
    init(stored bytes: UnsafeRawBufferPointer) {
        self.init(
            bytes.enumerated().flatMap { (index, byte) in
                (0..<8).compactMap { byte >> UInt8($0) & 1 != 0 ? index * 8 + $0 : nil }
            })
    }

    /// One bit for each slot, the lowest first.
    var stored: Data {
        var bytes = Data()
        for slot in self {
            while bytes.count <= slot / 8 { bytes.append(0) }
            bytes[slot / 8] |= 1 << UInt8(slot % 8)
        }
        return bytes
    }
}
