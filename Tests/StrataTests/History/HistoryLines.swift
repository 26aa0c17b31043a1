import Strata

extension HistoryTransaction {
    /// The changes as text: `+Book/1`, `-Book/1`, `Book/1 title pages`.
    var lines: [String] {
        changes.map { change in
            let name = "\(change.entityName)/\(change.key)"
            return switch change.kind {
            case .inserted: "+\(name)"
            case .deleted: "-\(name)"
            case .updated: ([name] + change.properties).joined(separator: " ")
            }
        }.sorted()
    }
}

/// The error of history that a closure throws; nil if none.
func historyError<R>(_ body: () throws -> R) -> HistoryError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? HistoryError
    }
}
