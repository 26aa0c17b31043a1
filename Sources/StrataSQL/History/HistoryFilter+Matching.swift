import StrataStore

extension HistoryFilter {
    /// Whether a transaction may have something that is requested.
    package func wants(_ transaction: HistoryTransaction) -> Bool {
        if let authors, !(transaction.author.map(authors.contains) ?? false) { return false }
        if let author = transaction.author, excludedAuthors.contains(author) { return false }
        if let contextNames, !(transaction.contextName.map(contextNames.contains) ?? false) { return false }
        if let processIDs, !processIDs.contains(transaction.processID) { return false }
        if let dates, !dates.contains(transaction.date) { return false }
        return transaction.origin != excludedOrigin
    }

    /// Whether a change is requested.
    package func wants(_ change: HistoryChange, in model: ManagedObjectModel) -> Bool {
        if let kinds, !kinds.contains(change.kind) { return false }
        if let properties, change.kind == .updated, properties.isDisjoint(with: change.properties) { return false }
        if let objects, !(change.objectID.map(objects.contains) ?? false) { return false }
        guard let entities, !entities.contains(change.entityName) else { return true }
        guard let entity = change.objectID?.entity else { return false }
        return entities.contains { name in model.entity(named: name).map { entity.isKind(of: $0) } ?? false }
    }
}
