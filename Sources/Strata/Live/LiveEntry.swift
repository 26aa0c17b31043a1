import Foundation
import StrataStore

/// One object in a live list: its key, and the values that decide its place. It never changes; an object whose values change
/// gets another entry.
final class LiveEntry: Sendable {
    let identity: RowIdentity
    /// The value of the first sort, and those of the others.
    let first: Value
    let rest: [Value]
    /// What tells its section from others; null without sections.
    let section: Value

    init(identity: RowIdentity, first: Value, rest: [Value], section: Value) {
        self.identity = identity
        self.first = first
        self.rest = rest
        self.section = section
    }

    var key: Int64 { identity.key }
}

/// The order of a live list: that of the request, ties by key, so that no two entries are equal.
struct LiveOrder: Sendable {
    /// The sorts without options: text that they fold is folded in the entries.
    let ascending: [Bool]

    func isInOrder(_ a: LiveEntry, _ b: LiveEntry) -> Bool {
        if !ascending.isEmpty {
            switch compare(a.first, b.first, ascending[0]) {
            case .orderedAscending: return true
            case .orderedDescending: return false
            case .orderedSame: break
            }
            for index in a.rest.indices {
                switch compare(a.rest[index], b.rest[index], ascending[index + 1]) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
        }
        return a.key < b.key
    }

    /// The order of the values of a sort.
    func compare(_ a: Value, _ b: Value, _ ascending: Bool) -> ComparisonResult {
        let result: ComparisonResult
        // What most orders are by, without the look at all kinds of pairs.
        switch (a, b) {
        case (.integer(let x), .integer(let y)):
            result = x < y ? .orderedAscending : x == y ? .orderedSame : .orderedDescending
        default: result = ValueComparison.sortOrder(a, b)
        }
        if ascending || result == .orderedSame { return result }
        return result == .orderedAscending ? .orderedDescending : .orderedAscending
    }

    /// Whether an entry's section comes before another one.
    func isSectionInOrder(_ a: Value, _ b: Value) -> Bool {
        compare(a, b, ascending.first ?? true) == .orderedAscending
    }
}
