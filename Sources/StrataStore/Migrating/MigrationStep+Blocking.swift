extension MigrationStep {
    /// Whether the step keeps a migration from being carried out, with an answer or without one.
    package func isBlocked(by answer: MigrationAnswer?) -> Bool {
        switch risk {
        case .safe: return false
        case .impossible: return true
        case .lossy: return answer != .accept
        case .checked:
            guard misfits ?? 1 > 0 else { return false }
            switch (kind, answer) {
            case (.addUniqueness, .keepFirst?), (.addUniqueness, .keepLast?): return false
            case (.addUniqueness, _), (_, nil), (_, .keepFirst?), (_, .keepLast?): return true
            case (.changeRelationship, _): return answer != .accept
            case (.addRelationship, _): return true
            case (.changeOptionality, .clear?), (.addAttribute, .clear?): return answer != .accept
            default: return answer == .accept
            }
        }
    }
}
