import Foundation

/// A list of any length in one bound parameter, so that one prepared statement serves all lengths.
package final class ValueList: Sendable {
    package let keys: [Int64]
    package let values: [SQLValue]
    /// What a search looks into; nil for a list that is walked only.
    package let table: ValueTable?

    package convenience init(keys: [Int64]) { self.init(keys: keys, isSearched: false) }

    package init(keys: [Int64], isSearched: Bool) {
        self.keys = keys
        values = []
        table = isSearched ? ValueTable(keys: keys) : nil
    }

    /// A list of texts.
    package convenience init(texts: [String]) { self.init(values: texts.map(SQLValue.text)) }

    package init(values: [SQLValue], isSearched: Bool = false) {
        keys = []
        self.values = values
        table = isSearched ? ValueTable(texts: values) : nil
    }

    package var count: Int { keys.count + values.count }
}
