import StrataStore

extension StoreCoordinator {
    /// Listens to commits by others on the same data from now on, where the store can.
    func watchForeignCommits() {
        foreignCommits.withLock { observation in
            guard observation == nil else { return }
            // First the place, so that nothing is missed that is committed before the store listens.
            let token = try? (store.history as? any CompleteStoreHistory)?.currentToken()
            foreignToken.withLock { $0 = token }
            observation = store.observeForeignCommits { [weak self] in
                guard let self else { return }
                // A context that reads may have noticed the commit before.
                if case .known = noticeForeignCommits() { return }
                if takeForeignCommits() { postRemoteChange() }
            }
        }
    }

    /// Tells contexts what others have committed since the last look. Rows that contexts share are as new as that look.
    /// - Returns: What the store knows of commits by others.
    @discardableResult
    func noticeForeignCommits() -> ForeignCommitCount {
        let now = store.foreignCommitCount()
        guard case .known = now else { return now }
        // A second thread that looks at the same time waits until the old rows are forgotten and all contexts are notified.
        let isNews = foreignCount.withLock { known in
            guard known != now else { return false }
            known = now
            return takeForeignCommits()
        }
        if isNews { postRemoteChange() }
        return now
    }

    /// Another process wrote: forgets rows, and notifies contexts and listeners.
    /// - Returns: Whether any of it concerns the model.
    private func takeForeignCommits() -> Bool {
        guard let change = foreignChange() else {
            announceEverything(isFromElsewhere: true)
            return true
        }
        if change.inserted.isEmpty, change.updated.isEmpty, change.deleted.isEmpty { return false }
        var keys: [Int: Set<Int64>] = [:]
        for id in change.inserted.union(change.deleted).union(change.updated.keys) {
            keys[id.entity.rootIndex, default: []].insert(id.key)
        }
        self.keys.storeWasWritten()
        rowCache.forgetAll()
        broadcast(keys)
        listeners.post { change }
        return true
    }

    /// Runs the application's code, which may ask the container for anything: nothing may be locked.
    private func postRemoteChange() {
        notificationCenter.withLock(\.self)?.post(name: .PersistentStoreRemoteChange, object: store)
    }

    /// Tells all contexts and listeners that anything may have changed.
    func announceEverything(isFromElsewhere: Bool) {
        keys.storeWasWritten()
        rowCache.forgetAll()
        broadcastEverything()
        listeners.post {
            var change = ContainerChange()
            change.isFromElsewhere = isFromElsewhere
            change.isEverything = true
            return change
        }
    }

    /// What others have committed since the last call; nil if that is not known, or too much to be listed.
    private func foreignChange() -> ContainerChange? {
        guard let history = store.history as? any CompleteStoreHistory else { return nil }
        return foreignToken.withLock { token in
            guard let start = token else {
                // From the next time on, if the store records by now.
                token = try? history.currentToken()
                return nil
            }
            guard
                let page = try? history.transactions(
                    after: start, where: HistoryFilter(excludedOrigin: history.origin), limit: nil)
            else {
                token = try? history.currentToken()
                return nil
            }
            token = page.token
            var change = ContainerChange()
            for transaction in page.transactions {
                guard let next = ContainerChange(transaction) else { return nil }
                change.append(next)
            }
            change.isFromElsewhere = true
            return change.isEverything ? nil : change
        }
    }
}

extension ContainerChange {
    /// What a transaction of history comes to; nil if it changed objects of which the model knows nothing.
    fileprivate init?(_ transaction: HistoryTransaction) {
        if let author = transaction.author { authors = [author] }
        for change in transaction.changes {
            guard let id = change.objectID else { return nil }
            switch change.kind {
            case .inserted: inserted.insert(id)
            case .updated: updated[id] = Set(change.properties)
            case .deleted: deleted.insert(id)
            }
        }
    }
}
