import Foundation

/// The rows of offline tables, the changes of them that wait to be sent, and how far pulls came.
///
///     var state = AzureSyncState(version: .mobileApps)
///     let note = try state.insert(["text": "Buy milk"], into: "Note")
///     try state.delete(note, in: "Note")
///     print(state.operations.count)  // 0: nothing is left to send
///
/// ``AzureSyncContext/state`` is the present one of a context, for a look at what waits. It is a value without input or output,
/// so you can test the rules with it. Rows are found by their ids without regard to capitals. It holds everything in memory.
public struct AzureSyncState: Sendable, Hashable {
    /// Rows by table and id in small letters.
    var tables: [String: [String: JSONObject]] = [:]
    /// The changes that wait, in the order of sending.
    public internal(set) var operations: [AzureTableOperation] = []
    /// The changes that are being sent right now, by their places. They are not kept.
    var inProgress: Set<Int64> = []
    /// How far pulls came, by table and name of the pull.
    var tokens: [String: [String: String]] = [:]
    /// The protocol, for the names of the server's own columns.
    public let version: AzureVersion

    /// Nothing yet.
    public init(version: AzureVersion) { self.version = version }

    static func key(_ id: String) -> String { id.lowercased() }

    /// The rows of a table, ordered by id.
    public func items(in table: String) -> [JSONObject] {
        (tables[table] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    }

    /// A row; nil if there is none.
    public func item(_ id: String, in table: String) -> JSONObject? { tables[table]?[Self.key(id)] }

    /// The changes that wait for a table.
    public func operations(of table: String) -> [AzureTableOperation] { operations.filter { $0.table == table } }

    /// How far a pull came; nil if it has not begun.
    public func token(of table: String, queryID: String) -> String? { tokens[table]?[queryID] }

    // MARK: Changes

    /// Makes a row. Without an id it gets a new one.
    /// - Returns: The row with its id.
    /// - Throws: ``RemoteError`` of code ``AzureError/invalidItemID`` for an id that is invalid or not text, or
    ///   ``AzureError/syncTableInvalidAction`` if there is such a row.
    @discardableResult
    public mutating func insert(_ item: JSONObject, into table: String) throws(RemoteError) -> JSONObject {
        var item = item
        switch item["id"] {
        case nil, .null, .string(""): item["id"] = .string(UUID().uuidString)
        default: break
        }
        let id = try textID(of: item)
        guard self.item(id, in: table) == nil else {
            throw AzureError.syncTableInvalidAction.error("This item already exists.", version: version)
        }
        try enqueue(.insert, id, table, nil)
        tables[table, default: [:]][Self.key(id)] = item
        return item
    }

    /// Changes a row: the item takes its place.
    /// - Throws: ``RemoteError`` of code ``AzureError/missingItemID``, ``AzureError/invalidItemID`` or
    ///   ``AzureError/syncTableInvalidAction``.
    public mutating func update(_ item: JSONObject, in table: String) throws(RemoteError) {
        let id = try textID(of: item)
        try enqueue(.update, id, table, nil)
        tables[table, default: [:]][Self.key(id)] = item
    }

    /// Deletes a row.
    /// - Throws: ``RemoteError`` of code ``AzureError/missingItemID``, ``AzureError/invalidItemID`` or
    ///   ``AzureError/syncTableInvalidAction``.
    public mutating func delete(_ item: JSONObject, in table: String) throws(RemoteError) {
        let id = try textID(of: item)
        try enqueue(.delete, id, table, item)
        tables[table]?[Self.key(id)] = nil
    }

    private func textID(of item: JSONObject) throws(RemoteError) -> String {
        guard let id = item["id"] else { throw AzureError.missingItemID.error(version: version) }
        guard let text = id.string, AzureID.isValid(text) else {
            throw AzureError.invalidItemID.error(version: version)
        }
        return text
    }

    private mutating func enqueue(
        _ kind: AzureTableOperation.Kind, _ id: String, _ table: String, _ item: JSONObject?
    ) throws(RemoteError) {
        let pending = operations.lastIndex { $0.table == table && Self.key($0.itemID) == Self.key(id) }
        if let pending {
            let operation = operations[pending]
            let collapse = try AzureTableOperation.collapse(
                operation.kind, with: kind, isInProgress: inProgress.contains(operation.sequence), version: version)
            switch collapse {
            case .keep: return
            case .remove:
                operations.remove(at: pending)
                return
            case .becomeDelete:
                operations[pending].kind = .delete
                operations[pending].item = item
                return
            case .append: break
            }
        }
        let highest = operations.map(\.sequence).max() ?? 0
        operations.append(
            AzureTableOperation(sequence: highest + 1, table: table, itemID: id, kind: kind, item: item))
    }

    // MARK: What the server told

    /// Notes that the server has done an operation.
    /// - Parameter item: The row as the server has it; nil after a delete.
    mutating func complete(_ operation: AzureTableOperation, _ item: JSONObject?) {
        remove(operation)
        inProgress.remove(operation.sequence)
        let key = Self.key(operation.itemID)
        let hasNewer = operations.contains { $0.table == operation.table && Self.key($0.itemID) == key }
        if let item, operation.kind != .delete, !hasNewer { tables[operation.table, default: [:]][key] = item }
    }

    private static func isSameRow(_ a: AzureTableOperation, _ b: AzureTableOperation) -> Bool {
        a.table == b.table && key(a.itemID) == key(b.itemID)
    }

    /// Removes an operation. With a delete, the earlier operations of the row are removed, too: they have no row to send.
    private mutating func remove(_ operation: AzureTableOperation) {
        operations.removeAll { other in
            other.sequence == operation.sequence
                || operation.kind == .delete && other.sequence < operation.sequence && Self.isSameRow(other, operation)
        }
    }

    // MARK: Rows that are deleted during a push

    /// Whether an operation still waits.
    func hasWaiting(_ operation: AzureTableOperation) -> Bool {
        operations.contains { $0.sequence == operation.sequence && Self.isSameRow($0, operation) }
    }

    /// Whether the row of an operation was deleted here after it, and that waits to be sent.
    func isDeleted(after operation: AzureTableOperation) -> Bool {
        operations.contains {
            $0.kind == .delete && $0.sequence > operation.sequence && Self.isSameRow($0, operation)
        }
    }

    /// Whether an insert of the same row waits before an operation, so that the server may not have the row.
    func isInserted(before operation: AzureTableOperation) -> Bool {
        operations.contains {
            $0.kind == .insert && $0.sequence < operation.sequence && Self.isSameRow($0, operation)
        }
    }

    /// Removes an operation that is not to be sent. With an insert, the delete after it is removed, too: the server does not
    /// have the row.
    mutating func drop(_ operation: AzureTableOperation) {
        operations.removeAll { other in
            other.sequence == operation.sequence
                || operation.kind == .insert && other.kind == .delete && Self.isSameRow(other, operation)
        }
        inProgress.remove(operation.sequence)
    }

    // MARK: Pages

    /// What a page of a pull did here.
    public struct Applied: Sendable, Hashable {
        /// The ids of rows that are here as the server told them.
        public var upserted: [String] = []
        /// The ids of rows that are gone.
        public var deleted: [String] = []
        /// The ids of rows that were left as they are, because changes of them wait.
        public var skipped: [String] = []
    }

    /// Takes rows in as the server told them.
    /// - Throws: ``RemoteError`` of code ``AzureError/expectedItemInResponse`` for a row without an id; then nothing is
    ///   applied.
    @discardableResult
    public mutating func apply(_ rows: [JSONValue], to table: String) throws(RemoteError) -> Applied {
        let waiting = Set(operations(of: table).map { Self.key($0.itemID) })
        let column = AzureSystemProperty.deleted.column(in: version)
        var applied = Applied()
        var copy = tables[table] ?? [:]
        for row in rows {
            guard let members = row.members, let id = members["id"]?.string, !id.isEmpty else {
                throw AzureError.expectedItemInResponse.error(
                    "a row of \(table) has no id that is text", version: version)
            }
            let key = Self.key(id)
            if waiting.contains(key) {
                applied.skipped.append(id)
            } else if members[column]?.boolean == true {
                copy[key] = nil
                applied.deleted.append(id)
            } else {
                copy[key] = members
                applied.upserted.append(id)
            }
        }
        tables[table] = copy
        return applied
    }

    // MARK: Taking back

    /// Does what was decided about a refused operation.
    /// - Throws: ``RemoteError`` of code ``AzureError/syncTableOperationNotFound`` if the operation is there no more, or
    ///   ``AzureError/syncTableCancel`` if the item is not the operation's.
    mutating func resolve(
        _ operation: AzureTableOperation, _ resolution: AzureResolution
    ) throws(RemoteError) {
        guard operations.contains(where: { $0.sequence == operation.sequence }) else {
            throw AzureError.syncTableOperationNotFound.error("the operation is there no more", version: version)
        }
        let key = Self.key(operation.itemID)
        switch resolution {
        case .leave: return
        case .cancelAndDiscard: tables[operation.table]?[key] = nil
        case .cancelAndUpdate(let item), .modify(let item):
            guard let id = item["id"]?.string, Self.key(id) == key else {
                throw AzureError.syncTableCancel.error(
                    "the item that takes the row's place must have its id, \(operation.itemID)", version: version)
            }
            let version = AzureSystemProperty.version.column(in: version)
            let kept = JSONObject(
                item.filter { $0.name == version || !AzureSystemProperty.isColumn($0.name, in: self.version) })
            if case .modify = resolution {
                if let index = operations.firstIndex(where: { $0.sequence == operation.sequence }),
                    operation.kind == .delete
                {
                    operations[index].item = kept
                } else {
                    tables[operation.table, default: [:]][key] = kept
                }
                return
            }
            tables[operation.table, default: [:]][key] = kept
        }
        remove(operation)
    }
}
