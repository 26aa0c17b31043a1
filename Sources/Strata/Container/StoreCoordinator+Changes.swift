import StrataSQLite

extension StoreCoordinator {
    /// Takes in what the store has from elsewhere: contexts hear of it as of another context's save.
    func take(_ change: StoreChange) {
        announce(
            CommitNotice(
                contextNumber: nil, changes: change.changes, effects: change.effects,
                previousRows: change.previousRows, deletedRows: change.deletedRows))
    }

    /// Forgets the rows that a commit made old, and tells every other context.
    func announce(_ notice: CommitNotice) {
        for (rootIndex, keys) in notice.staleKeys(model) { rowCache.invalidate(keys, rootIndex: rootIndex) }
        forgetRows(referringTo: notice.changes.deletes)
        broadcast(notice)
    }
}
