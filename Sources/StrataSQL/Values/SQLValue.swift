import Foundation

/// A value on its way to a database.
package enum SQLValue: Sendable {
    case null
    case integer(Int64)
    case double(Double)
    case text(String)
    /// Text as bytes that need not be valid UTF-8: the end of a range.
    case utf8([UInt8])
    case blob(Data)
    /// The list after a `strata_list(?)`.
    case list(ValueList)
    /// The function after a `strata_call(?, …)`.
    case call(SQLCall)
}
