extension AzureSyncState {
    /// Forgets the rows of a table.
    ///
    /// An incremental pull does not bring them back before they change at the server. A pull without a name does, and so does
    /// any pull after a forced purge.
    /// - Parameters:
    ///   - ids: Those of the rows; nil for all.
    ///   - force: Whether changes that wait are forgotten, too, and how far pulls came. Then all rows are forgotten, whatever
    ///     `ids` says.
    /// - Throws: ``RemoteError`` of code ``AzureError/purgeAbortedPendingChanges`` if changes wait and are not to be
    ///   forgotten.
    public mutating func purge(_ table: String, ids: [String]? = nil, force: Bool = false) throws(RemoteError) {
        if force {
            operations.removeAll { $0.table == table }
            tokens[table] = nil
        } else {
            try checkPurge(table)
        }
        guard let ids, !force else {
            tables[table] = nil
            return
        }
        for id in ids { tables[table]?[Self.key(id)] = nil }
    }

    /// Forgets the rows of a table that a query finds here: those that meet its predicate, within its order, offset and limit.
    /// Columns that the predicate compares with dates have times as texts. How far pulls came stays as it is.
    /// - Throws: ``RemoteError`` of code ``AzureError/purgeAbortedPendingChanges`` if changes of the table wait,
    ///   ``AzureError/invalidParameter`` for a query that only a server can answer (a filter that is text, parameters of the
    ///   application's own) and for numbers less than 0, and ``AzureError/predicateNotSupported`` for a predicate that has no
    ///   answer here. Then no row is forgotten.
    public mutating func purge(_ table: String, matching query: AzureQuery) throws(RemoteError) {
        try checkPurge(table)
        let rows = try AzureRowFilter(query, version).rows(of: items(in: table))
        for id in rows.compactMap({ $0["id"]?.string }) { tables[table]?[Self.key(id)] = nil }
    }

    private func checkPurge(_ table: String) throws(RemoteError) {
        guard operations(of: table).isEmpty else {
            throw AzureError.purgeAbortedPendingChanges.error(
                "\(table) has changes that wait to be sent; push first, or force the purge", version: version)
        }
    }
}
