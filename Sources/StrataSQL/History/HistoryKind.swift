import Foundation
import StrataStore

/// What the column `kind` of the changes of history says.
package enum HistoryKind {
    /// The end of a transaction.
    package static let end: Int64 = -1
    package static let insert: Int64 = 0
    package static let delete: Int64 = 1
    /// An update of the properties 0 to 59. The next ones stand for the next 60 properties each.
    package static let update: Int64 = 2
    /// How many properties one row reports: a word of bits that stays positive.
    package static let word = 60

    /// The properties that each row of an update reports.
    package static func words(_ bits: Range<Int>) -> [Range<Int>] {
        stride(from: 0, to: bits.count, by: word).map { $0..<min($0 + word, bits.count) }
    }
}

extension HistoryRetention {
    /// The retention as metadata have it.
    package var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// Reads what ``text`` gives.
    package init?(text: String) {
        guard let retention = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
        self = retention
    }
}
