import Foundation
import StrataSQLite
import StrataStore

extension Mirror {
    /// What the server did with a change: the entry is done with.
    /// - Parameters:
    ///   - record: What the server has now, as far as it told.
    ///   - isOwn: Whether that is what the change has made of the object, without changes by others.
    package func complete(
        _ entry: OutboxEntry, _ record: RemoteRecord?, ticket: ReadTicket? = nil, isOwn: Bool = false
    ) throws(StoreError) {
        try complete([(entry, record)], ticket: ticket, isOwn: isOwn)
    }

    /// What the server did with changes, in one transaction: their entries are done with, one after the other.
    package func complete(
        _ list: [(entry: OutboxEntry, record: RemoteRecord?)], ticket: ReadTicket? = nil, isOwn: Bool = false
    ) throws(StoreError) {
        let (told, done) = try echoing {
            (transaction) throws(StoreError) -> ([StoreChange], [RowIdentity]) in
            var told: [StoreChange] = []
            var done: [RowIdentity] = []
            let held = self.secrets.names
            if list.count > 1, held.isEmpty, let change = try completeTogether(list, ticket, in: transaction) {
                return (change.map { [$0] } ?? [], [])
            }
            for (entry, record) in list {
                // The answer to a repetition may report what others have done since the first attempt.
                told += try self.complete(entry, record, isOwn: isOwn && entry.attempts == 1, in: transaction)
                let identity = RowIdentity(entityIndex: root(entry.identity.entityIndex), key: entry.identity.key)
                if held[identity] != nil,
                    try entries(root: identity.entityIndex, key: identity.key, on: transaction.connection).isEmpty
                {
                    done.append(identity)
                }
            }
            return (told, done)
        }
        for change in told { changes.post(change) }
        // Values set since then are sent with the next change.
        for identity in done { secrets.forget(identity) }
    }

    /// Notes that the members of one relationship of an entry are told, or its values.
    /// - Parameter relationship: The relationship; nil for the values.
    package func completePart(
        _ entry: OutboxEntry, relationship: String?, _ record: RemoteRecord?, ticket: ReadTicket? = nil
    ) throws(StoreError) {
        try applying { (session) throws(StoreError) in
            guard var current = try current(entry, on: session.connection) else { return }
            if let relationship {
                current.members.removeAll { $0.relationship == relationship }
            } else {
                current.keep(SlotSet())
                current.members.removeAll(where: \.isOrder)
            }
            let isDone = current.slots.isEmpty && current.members.isEmpty
            if isDone {
                try remove(current.seq, on: session.connection)
            } else {
                try write(current, on: session.connection)
            }
            session.occasion.isOwnEcho = entry.attempts <= 1
            if relationship != nil { session.notePassing(entry, SlotSet()) }
            if let record { try session.take(record, behind: isDone ? current : nil) }
        }
    }

    /// Settles a conflict of an entry with what the server has.
    /// - Parameters:
    ///   - record: The server's state.
    ///   - keeping: The slots in which this side wins; they are sent again, as a change of the server's state. Empty for
    ///     only the server's state.
    ///   - overriding: The slots in which the server wins. Local changes to them after the entry was sent did not know
    ///     the server's value either, and are dropped, too.
    ///   - doubtful: The slots whose operations may never have been carried out. If they have been given up since, they are not taken
    ///     back: that might undo what others have done.
    ///   - keepsMembers: Whether changed members are sent again, too.
    ///   - deletes: For a delete whether it is sent again.
    package func settle(
        _ entry: OutboxEntry, with record: RemoteRecord, keeping: SlotSet, overriding: SlotSet = SlotSet(),
        doubtful: SlotSet = SlotSet(), keepsMembers: Bool, deletes: Bool = false
    ) throws(StoreError) {
        try applying { (session) throws(StoreError) in
            guard var current = try current(entry, on: session.connection) else { return }
            if current.kind == .delete {
                if deletes { return try session.rebase(current, on: record) }
                try remove(current.seq, on: session.connection)
                return try session.restore(current, record)
            }
            if current.kind == .insert {
                try removeRefusedDeletions(inPlaceOf: record, of: entry, on: session.connection)
                current.kind = .update
                current.base = nil
            }
            let settled = current
            try leaveOut(behind: settled, on: session.connection) { later in
                var slots = overriding
                for slot in doubtful where later.takesBack(settled, slot) { slots.insert(slot) }
                return slots
            }
            current.keep(keeping)
            if !keepsMembers { current.members = [] }
            current.state = .waiting
            current.forgetAttempt()
            // The rest is a write that was never sent.
            current.attempts = 0
            if current.slots.isEmpty, current.members.isEmpty {
                try remove(current.seq, on: session.connection)
                return try session.take(record, behind: current)
            }
            try write(current, on: session.connection)
            session.occasion.settled = current
            try session.take(record, behind: nil)
            if let now = try self.current(current, on: session.connection) { try settle(now, on: session.connection) }
        }
    }

    /// Leaves slots out of what was changed after an entry was sent.
    private func leaveOut(
        behind entry: OutboxEntry, on connection: Connection, _ slots: (OutboxEntry) -> SlotSet
    ) throws(StoreError) {
        for var later in try entries(root: root(entry.identity.entityIndex), key: entry.identity.key, on: connection)
        where later.seq > entry.seq && later.kind == .update {
            for slot in slots(later) {
                later.slots.remove(slot)
                later.operations[slot] = nil
            }
            if later.slots.isEmpty, later.members.isEmpty {
                try remove(later.seq, on: connection)
            } else {
                try write(later, on: connection)
            }
        }
    }

    /// Settles a conflict of an entry with an object that the server has no more.
    /// - Parameter recreates: Whether the object is made again, otherwise it goes here, too.
    package func settleGone(_ entry: OutboxEntry, recreates: Bool) throws(StoreError) {
        try applying { (session) throws(StoreError) in
            guard var current = try current(entry, on: session.connection) else { return }
            guard recreates, current.kind != .delete else {
                let all = try entries(
                    root: root(entry.identity.entityIndex), key: entry.identity.key, on: session.connection)
                for entry in all { try remove(entry.seq, on: session.connection) }
                // If it was deleted here meanwhile, only that entry knows its name.
                return try session.end(all.deletion(behind: current) ?? current)
            }
            current.kind = .insert
            current.base = nil
            current.keep(SlotSet())
            current.members = []
            current.state = .waiting
            current.forgetAttempt()
            try forgetVersion(current, on: session.connection)
            try settle(current, on: session.connection)
        }
    }

    /// Takes out an entry of which nothing was left to send. The server was not asked, so that what it had reported
    /// about the object while the entry waited, its end for instance, is asked for again.
    package func completeUnsent(_ entry: OutboxEntry) throws(StoreError) {
        try store.transaction { (transaction) throws(StoreError) in
            guard let current = try current(entry, on: transaction.connection), current.isUnchanged(since: entry)
            else { return }
            try remove(current.seq, on: transaction.connection)
            try DeletedLinks(mirror: self, connection: transaction.connection).noteStale(current.identity)
        }
    }

    /// Has the next pull ask the server for an object.
    package func noteStale(_ identity: RemoteIdentity) throws(StoreError) {
        try store.transaction { (transaction) throws(StoreError) in
            try DeletedLinks(mirror: self, connection: transaction.connection).noteStale(identity)
        }
    }

    /// Takes out an entry whose object was deleted here since. The delete comes after it, and is all that the server
    /// has to hear about. An entry that has become the delete itself since it was read stays.
    /// - Parameters:
    ///   - record: What the server has, if the delete can be made to that; nil if it is not known.
    ///   - isUndone: Whether the server has not carried out the change of the entry, so that the delete is made to the state
    ///     before it.
    package func skip(
        _ entry: OutboxEntry, _ record: RemoteRecord? = nil, isUndone: Bool = false
    ) throws(StoreError) {
        try applying { (session) throws(StoreError) in
            guard let current = try current(entry, on: session.connection), current.isUnchanged(since: entry)
            else { return }
            try remove(current.seq, on: session.connection)
            if let record { try session.noteVersion(record) }
            guard isUndone else { return }
            let waiting = try entries(
                root: root(entry.identity.entityIndex), key: entry.identity.key, on: session.connection)
            guard var delete = waiting.last, delete.kind == .delete else { return }
            delete.base = entry.base
            try write(delete, on: session.connection)
        }
    }

    /// The delete that waits for another change of its object.
    package func deletion(behind entry: OutboxEntry) throws(StoreError) -> OutboxEntry? {
        try store.reading { (connection) throws(StoreError) in
            try deletion(behind: entry, on: connection)
        }
    }

    func deletion(behind entry: OutboxEntry, on connection: Connection) throws(StoreError) -> OutboxEntry? {
        try entries(root: root(entry.identity.entityIndex), key: entry.identity.key, on: connection)
            .deletion(behind: entry)
    }

    /// Discards waiting changes. New objects are removed; others get the server's last known state back, and the next
    /// pull requests the current one: what the server reported while the change waited was not applied.
    package func drop(_ list: [OutboxEntry]) throws(StoreError) {
        for entry in list {
            try applying { (session) throws(StoreError) in
                guard let current = try current(entry, on: session.connection) else { return }
                let all = try entries(
                    root: root(entry.identity.entityIndex), key: entry.identity.key, on: session.connection)
                // An object that was made again since then stays, and its creation with it.
                let later = all.drop { $0.seq < current.seq }
                let dropped = current.kind == .delete ? later.prefix { $0.kind != .insert } : later
                for other in dropped { try remove(other.seq, on: session.connection) }
                let names = try ids(
                    entityIndex: root(entry.identity.entityIndex), keys: [entry.identity.key],
                    placeholdersOnly: false, on: session.connection)
                try session.undo(current)
                let name = names[entry.identity.key]?.id ?? current.id
                // A new object that was never sent is known to nobody.
                guard current.kind != .insert || current.attempts > 0, !name.isEmpty else { return }
                if current.kind == .insert {
                    // An online save that took it along and got no answer is not repeated.
                    let root = model.entities[current.identity.entityIndex].rootName
                    online.forget { $0 == RemoteIdentity(entity: root, id: name) }
                }
                try DeletedLinks(mirror: self, connection: session.connection).noteStale(
                    RemoteIdentity(entity: model.entities[current.identity.entityIndex].name, id: name))
            }
        }
    }
}

extension ApplySession {
    /// The entry is done with.
    mutating func complete(_ entry: OutboxEntry, _ record: RemoteRecord?, isOwn: Bool) throws(StoreError) {
        if let current = try mirror.current(entry, on: connection) {
            try mirror.remove(current.seq, on: connection)
            if current.kind == .delete {
                try end(current)
                try mirror.noteRepeated([current], on: connection)
            } else if let record {
                occasion.completed = (current, isOwn)
                try take(record, behind: current)
            }
        } else if let record, entry.kind != .delete {
            _ = try run([record], deleted: [])
        }
    }

    private func name(_ entry: OutboxEntry) -> RemoteIdentity {
        RemoteIdentity(entity: mirror.model.entities[entry.identity.entityIndex].rootName, id: entry.id)
    }

    /// Applies what the server reported about the object of an entry that is done with. If the object was deleted here
    /// meanwhile, its version is what the delete is made to, unless others have changed the object: the delete is in conflict with
    /// that.
    mutating func take(_ record: RemoteRecord, behind entry: OutboxEntry?) throws(StoreError) {
        let id = mirror.canonical(record.id, model.entities[rootIndex(record)])
        if try mirror.known(id, root: rootIndex(record), on: connection)?.key == nil {
            if occasion.completed.map({ !$0.isOwn || $0.entry.passesOthers }) ?? true,
                let delete = try mirror.deletions(of: [id], root: rootIndex(record), on: connection).last,
                try hasChanged(record, since: delete)
            {
                return
            }
            return try noteVersion(record)
        }
        // It may be an object that was deleted and is created again here.
        let links = DeletedLinks(mirror: mirror, connection: connection)
        if try !links.isEmpty { try links.restore([id], root: rootIndex(record)) }
        _ = try run([record], deleted: [])
    }

    private func rootIndex(_ record: RemoteRecord) -> Int {
        mirror.model.entity(named: record.entity)?.rootIndex ?? 0
    }

    fileprivate func noteVersion(_ record: RemoteRecord) throws(StoreError) {
        let statement = try connection.statement(
            "UPDATE _remote SET version = ?, modified = ? WHERE root = ? AND id = ?")
        if let version = record.version { statement.bind(version, at: 1) } else { statement.bindNull(at: 1) }
        if let modified = record.modified {
            statement.bind(modified.timeIntervalSinceReferenceDate, at: 2)
        } else {
            statement.bindNull(at: 2)
        }
        statement.bind(mirror.entities.numbers[rootIndex(record)], at: 3)
        statement.bind(mirror.canonical(record.id, model.entities[rootIndex(record)]), at: 4)
        try statement.run()
    }

    /// The object of an entry is gone on both sides.
    mutating func end(_ entry: OutboxEntry) throws(StoreError) {
        let root = mirror.root(entry.identity.entityIndex)
        let entity = mirror.model.entities[entry.identity.entityIndex]
        var identity = name(entry)
        if entry.kind != .delete {
            let found = try mirror.ids(
                entityIndex: root, keys: [entry.identity.key], placeholdersOnly: false, on: connection)
            identity.id = found[entry.identity.key]?.id ?? entry.id
            try removeNotingLinks(identity, entity, entry.identity.key)
            return try write()
        }
        try mirror.removeRefusedDeletions(of: [entry.id], root: root, on: connection)
        if try mirror.known(entry.id, root: root, on: connection)?.key != nil {
            // Made again here meanwhile.
            return try mirror.forgetVersion(entry.id, root: root, on: connection)
        }
        mirror.order.noteDeleted(identity)
        try OutboxWriter(mirror: mirror, connection: connection).forget(entry.id, root: root)
    }

    /// A delete is to be sent again, made to what the server has now.
    mutating func rebase(_ entry: OutboxEntry, on record: RemoteRecord) throws(StoreError) {
        var entry = entry
        entry.state = .waiting
        entry.forgetAttempt()
        try noteVersion(record)
        try mirror.write(entry, on: connection)
    }

    /// Brings a deleted object back as the server has it.
    mutating func restore(_ entry: OutboxEntry, _ record: RemoteRecord) throws(StoreError) {
        let root = mirror.root(entry.identity.entityIndex)
        if try mirror.known(entry.id, root: root, on: connection)?.key != nil {
            // Made again here meanwhile: that one takes its place. Nobody has seen what the server has.
            return try mirror.forgetVersion(entry.id, root: root, on: connection)
        }
        // Made again here and deleted again: that deletion is of another object, unless the server has what was made.
        for other in try mirror.deletions(of: [entry.id], root: root, on: connection) where other.state != .sent {
            if try !hasChanged(record, since: other) { return try noteVersion(record) }
            try mirror.remove(other.seq, on: connection)
        }
        try OutboxWriter(mirror: mirror, connection: connection).name(entry.id, root: root, key: entry.identity.key)
        occasion.settled = nil
        let version = entry.base.flatMap(RowSlab.restored(from:))?.row.version ?? 0
        local.deletedVersions[RowIdentity(entityIndex: root, key: entry.identity.key)] = version
        try DeletedLinks(mirror: mirror, connection: connection).restore([entry.id], root: root)
        _ = try run([record], deleted: [])
    }

    /// Takes the change of an entry back.
    mutating func undo(_ entry: OutboxEntry) throws(StoreError) {
        let root = mirror.root(entry.identity.entityIndex)
        guard entry.kind != .insert, let base = entry.base.flatMap(RowSlab.restored(from:)) else {
            return try end(entry)
        }
        // Made again here meanwhile: that one takes its place.
        let id = entry.kind == .delete ? entry.id : PrimaryKey.id(of: base.row, mirror.primaryKeys[root])
        if let id, let key = try mirror.known(id, root: root, on: connection)?.key,
            entry.kind == .delete || key != entry.identity.key
        {
            return
        }
        try putBack(base, slots: entry.kind == .delete ? nil : entry.slots, entry)
        if entry.kind == .delete {
            try OutboxWriter(mirror: mirror, connection: connection).name(
                entry.id, root: root, key: entry.identity.key)
            try DeletedLinks(mirror: mirror, connection: connection).restore([entry.id], root: root)
        }
        try write()
    }
}

extension Mirror {
    /// The server's version of an entry's object is no longer known: the server is asked for it before the next change is sent.
    func forgetVersion(_ entry: OutboxEntry, on connection: Connection) throws(StoreError) {
        let statement = try connection.statement(
            "UPDATE _remote SET version = NULL, modified = NULL WHERE root = ? AND key = ?")
        statement.bind(entities.numbers[root(entry.identity.entityIndex)], at: 1)
        statement.bind(entry.identity.key, at: 2)
        try statement.run()
    }

    /// As ``forgetVersion(_:on:)``, of an object that is named by its primary key: it may be deleted here.
    func forgetVersion(_ id: String, root: Int, on connection: Connection) throws(StoreError) {
        let statement = try connection.statement(
            "UPDATE _remote SET version = NULL, modified = NULL WHERE root = ? AND id = ?")
        statement.bind(entities.numbers[root], at: 1)
        statement.bind(id, at: 2)
        try statement.run()
    }

    /// When the server had changed the object last that an entry is made to; nil for a new one, and where it is unknown.
    package func baseModified(_ entry: OutboxEntry) throws(StoreError) -> Date? {
        if entry.kind == .insert { return nil }
        return try store.reading { (connection) throws(StoreError) in
            let root = root(entry.identity.entityIndex)
            let id =
                if entry.id.isEmpty {
                    try ids(
                        entityIndex: root, keys: [entry.identity.key], placeholdersOnly: false, on: connection)[
                            entry.identity.key]?.id
                } else {
                    entry.id
                }
            return try id.flatMap { (id) throws(StoreError) in try known(id, root: root, on: connection)?.modified }
        }
    }

    /// The objects of an entity that are here with their values and without waiting changes.
    package func settledIdentities(of entity: EntityDescription) throws(StoreError) -> [RemoteIdentity] {
        let keys = try store.fetchKeys(
            {
                var plan = FetchPlan(entityIndex: entity.index)
                plan.includesSubentities = false
                return plan
            }())
        return try store.reading { (connection) throws(StoreError) in
            let waiting = Set(
                try entries("root = ?", on: connection) { $0.bind(entities.numbers[entity.rootIndex], at: 1) }
                    .map(\.identity.key))
            return try ids(
                entityIndex: entity.index, keys: keys.filter { !waiting.contains($0) }, placeholdersOnly: false,
                on: connection
            ).values.sorted { $0.id < $1.id }
        }
    }
}

extension [OutboxEntry] {
    /// The delete among the entries of an object that follows another one of them.
    fileprivate func deletion(behind entry: OutboxEntry) -> OutboxEntry? {
        last { $0.kind == .delete && $0.seq > entry.seq }
    }
}
