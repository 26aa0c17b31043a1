import Foundation

/// A change of one row of an offline table that waits to be sent.
///
///     for operation in await sync.state.operations {
///         print(operation.sequence, operation.kind.name, operation.table, operation.itemID)
///     }
///
/// A row has at most one, except while one is being sent: ``collapse(_:with:isInProgress:version:)`` tells what becomes of it
/// when another change comes. An update of a new row stays an insert; a delete of one removes the operation. The values are not
/// part of an insert or update: those that the row has when the push comes to it are sent.
public struct AzureTableOperation: Sendable, Hashable {
    /// What is to be done.
    public enum Kind: Int, Sendable, Hashable, CaseIterable {
        // As the client libraries kept them.

        /// A new row.
        case insert = 0
        /// Other values of a row.
        case update = 1
        /// The end of a row.
        case delete = 2

        /// The name: `insert`, `update` or `delete`.
        public var name: String { "\(self)" }
    }

    /// What becomes of the change that waits for a row when another one comes.
    public enum Collapse: Sendable, Hashable {
        /// The one that waits says it all.
        case keep
        /// Nothing is left to send.
        case remove
        /// The one that waits becomes a delete.
        case becomeDelete
        /// The other one waits after it.
        case append
    }

    /// The place in the order of sending; 1 is the first.
    public var sequence: Int64
    /// The table.
    public var table: String
    /// The id of the row.
    public var itemID: String
    /// What is to be done.
    public var kind: Kind
    /// The row as it was, if it is to be deleted: its version goes along.
    public var item: JSONObject?

    /// Describes a change.
    public init(sequence: Int64, table: String, itemID: String, kind: Kind, item: JSONObject? = nil) {
        self.sequence = sequence
        self.table = table
        self.itemID = itemID
        self.kind = kind
        self.item = item
    }

    /// What becomes of a change that waits when another one of the same row comes.
    /// - Parameters:
    ///   - isInProgress: Whether the one that waits is being sent right now, so that it cannot be changed.
    /// - Throws: ``RemoteError`` of code ``AzureError/syncTableInvalidAction`` if the row cannot have both.
    public static func collapse(
        _ pending: Kind, with new: Kind, isInProgress: Bool, version: AzureVersion = .mobileApps
    ) throws(RemoteError) -> Collapse {
        let result: Collapse
        switch (pending, new) {
        case (.insert, .update), (.update, .update): result = .keep
        case (.insert, .delete): result = .remove
        case (.update, .delete): result = .becomeDelete
        case (.insert, .insert), (.update, .insert):
            throw AzureError.syncTableInvalidAction.error("This item already exists.", version: version)
        case (.delete, _):
            throw AzureError.syncTableInvalidAction.error(
                "the item is deleted, and that waits to be sent; push first, or cancel it", version: version)
        }
        return isInProgress ? .append : result
    }
}

/// An operation of a push that the server refused, with both states of the row.
///
///     try await sync.push { failure in
///         guard failure.error.status == 412, let theirs = failure.serverItem else { return .leave }
///         print(failure.operation.table, failure.operation.itemID, "was changed by others")
///         return .cancelAndUpdate(theirs)
///     }
///
/// A resolver of ``AzureSyncContext/push(resolvingBy:)`` receives it and returns an ``AzureResolution``. Without a resolver,
/// the push goes on with the other operations and throws ``AzureError/pushCompleteWithErrors`` at the end, with all of them in
/// ``AzureFailure/pushResult``. The operation keeps waiting.
public struct AzureOperationFailure: Sendable, Hashable {
    /// The operation.
    public var operation: AzureTableOperation
    /// The row here; for a delete the row as it was.
    public var item: JSONObject?
    /// The server's row, if it told.
    public var serverItem: JSONObject?
    /// Why.
    public var error: RemoteError
}

/// The decision about an operation of a push that the server refused.
///
///     try await sync.push { failure in
///         guard let theirs = failure.serverItem, var mine = failure.item else { return .leave }
///         mine["version"] = theirs["version"]
///         return .modify(mine)  // the client wins with the next push
///     }
///
/// Return it from the resolver of ``AzureSyncContext/push(resolvingBy:)``. Take the server's row with ``cancelAndUpdate(_:)``,
/// forget the row with ``cancelAndDiscard``, or change the row here with ``modify(_:)``. An item with another id than the row's
/// is an error. With ``leave``, the operation waits on, and the push reports it.
public enum AzureResolution: Sendable, Hashable {
    /// Nothing: it waits on, and is an error of the push.
    case leave
    /// The operation is taken back, and the row here becomes this one: the server's, for instance.
    case cancelAndUpdate(JSONObject)
    /// The operation is taken back, and the row here is forgotten.
    case cancelAndDiscard
    /// The row here becomes this one, and the operation waits for the next push. With the server's version in it the
    /// client wins.
    case modify(JSONObject)
}
