import StrataSQLite

extension StoreCoordinator {
    /// No context has this number, so that all of them hear of what the store tells.
    static let storeNumber = -1

    /// Takes in what the store has from elsewhere: contexts hear of it as of another context's save.
    func take(_ change: StoreChange) {
        let notice = CommitNotice(
            contextNumber: Self.storeNumber, changes: change.changes, effects: change.effects,
            previousRows: change.previousRows, deletedRows: change.deletedRows)
        for (rootIndex, keys) in notice.staleKeys(model) { rowCache.invalidate(keys, rootIndex: rootIndex) }
        forgetRows(referringTo: change.changes.deletes)
        broadcast(notice)
    }
}
