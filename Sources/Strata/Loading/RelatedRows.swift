import StrataStore

/// What a closed context has read for the objects of a batch: rows and keys, not objects. Objects that hold each other could
/// form cycles, and a closed context has nothing left that would break them.
final class RelatedRows {
    private struct Entry {
        let row: RowReference
        let batch: FaultBatch
    }

    /// By topmost entity and key.
    private var rows: [RowIdentity: Entry] = [:]
    /// Keys without a row, so that they are not looked for again.
    private var missing: Set<RowIdentity> = []
    private var members: [ToManySide: [Int64: [Int64]]] = [:]

    /// A row that was read, and the batch it was read with.
    func row(_ rootIndex: Int, _ key: Int64) -> (row: RowReference, batch: FaultBatch)? {
        rows[RowIdentity(entityIndex: rootIndex, key: key)].map { ($0.row, $0.batch) }
    }

    func isMissing(_ rootIndex: Int, _ key: Int64) -> Bool {
        missing.contains(RowIdentity(entityIndex: rootIndex, key: key))
    }

    /// Keeps rows that were read together.
    /// - Parameter keys: What was asked for.
    func add(_ found: [RowReference], keys: [Int64], rootIndex: Int) {
        let batch = FaultBatch(keys: found.map(\.row.key))
        for row in found {
            rows[RowIdentity(entityIndex: rootIndex, key: row.row.key)] = Entry(row: row, batch: batch)
        }
        for key in keys {
            let identity = RowIdentity(entityIndex: rootIndex, key: key)
            if rows[identity] == nil { missing.insert(identity) }
        }
    }

    /// The members of an owner by key, in the order of the relationship; nil if they have not been read.
    func members(_ side: ToManySide, of owner: Int64) -> [Int64]? { members[side]?[owner] }

    /// Keeps members, by owner.
    func add(_ members: [Int64: [Int64]], _ side: ToManySide) {
        self.members[side, default: [:]].merge(members) { $1 }
    }
}

/// A to-many relationship, by where objects keep its members. All entities that inherit a relationship keep it in one
/// place; entities of one hierarchy that are not of one line may keep different ones there.
struct ToManySide: Hashable {
    let rootIndex: Int
    let toManyIndex: Int

    init(_ entity: EntityDescription, toMany index: Int) {
        rootIndex = entity.rootIndex
        toManyIndex = index
    }
}
