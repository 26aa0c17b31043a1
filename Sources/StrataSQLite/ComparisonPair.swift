import Foundation
import StrataStore

/// A column and a constant brought to a form in which SQLite compares them as ``ValueComparison`` does.
struct ComparisonPair {
    /// The column, perhaps inside a function.
    let sql: String
    /// The constant.
    let value: SQLValue
    /// A `COLLATE` clause with a leading space, or nothing.
    let collation: String
    /// Whether less and greater have a meaning.
    let isOrdered: Bool

    private init(_ sql: String, _ value: SQLValue, collation: String = "", isOrdered: Bool = true) {
        self.sql = sql
        self.value = value
        self.collation = collation
        self.isOrdered = isOrdered
    }

    /// - Returns: nil if no value of the column equals the constant, is less, or is greater: their kinds do not
    ///   compare.
    init?(_ term: SQLTerm, _ value: Value, _ options: ComparisonOptions) {
        switch (term.kind, value) {
        case (.integer, _), (.double, _), (.boolean, _), (.decimal, _): self.init(number: term, value)
        case (.text, .string(let text)):
            let sql = options.isEmpty ? term.sql : "strata_fold(\(term.sql), \(options.rawValue))"
            self.init(sql, .text(TextComparison.fold(text, options)))
        case (.text, .uri(let uri)), (.uri, .uri(let uri)): self.init(term.sql, .text(uri.absoluteString))
        case (.uri, .string(let text)): self.init(term.sql, .text(text))
        case (.date, .date(let date)):
            guard !date.timeIntervalSinceReferenceDate.isNaN else { return nil }
            self.init(term.sql, .double(date.timeIntervalSinceReferenceDate))
        case (.uuid, .uuid(let uuid)): self.init(term.sql, .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) }))
        case (.bytes, .binary(let data)): self.init(term.sql, .blob(data))
        case (.object, .object(let key)): self.init(term.sql, .integer(key))
        case (.point, .geoPoint(let point)):
            guard !point.latitude.isNaN, !point.longitude.isNaN else { return nil }
            self.init("strata_point(\(term.sql))", .blob(SQLFunctions.canonicalBytes(point)), isOrdered: false)
        default: return nil
        }
    }

    private init?(number term: SQLTerm, _ value: Value) {
        if term.kind == .decimal {
            guard let number = Self.decimal(value) else { return nil }
            self.init(term.sql, .text(number.description), collation: " COLLATE \(SQLFunctions.decimalCollation)")
            return
        }
        switch value {
        case .integer(let number): self.init(term.sql, .integer(number))
        case .boolean(let flag): self.init(term.sql, .integer(flag ? 1 : 0))
        case .double(let number):
            guard !number.isNaN else { return nil }
            self.init(term.sql, .double(number))
        case .decimal(let number):
            if term.kind != .double, let whole = Self.exactInteger(number) {
                self.init(term.sql, .integer(whole))
            } else {
                // Every double is compared by its decimal value, which SQLite's own numbers cannot hold.
                guard !number.isNaN else { return nil }
                self.init(
                    "strata_decimal(\(term.sql))", .text(number.description),
                    collation: " COLLATE \(SQLFunctions.decimalCollation)")
            }
        default: return nil
        }
    }

    private static func decimal(_ value: Value) -> Decimal? {
        switch value {
        case .decimal(let number): number.isNaN ? nil : number
        case .integer(let number): Decimal(number)
        case .boolean(let flag): flag ? 1 : 0
        case .double(let number): number.isFinite ? Decimal(number) : nil
        default: nil
        }
    }

    /// The whole number that a decimal is, if it is one of 64 bits.
    static func exactInteger(_ number: Decimal) -> Int64? {
        guard let whole = Int64(number.description) else { return nil }
        return Decimal(whole) == number ? whole : nil
    }
}

extension ValueList {
    /// Makes a list of values; of keys where all are whole numbers.
    convenience init(sqlValues: [SQLValue]) {
        var keys: [Int64] = []
        for value in sqlValues {
            guard case .integer(let key) = value else {
                self.init(values: sqlValues)
                return
            }
            keys.append(key)
        }
        self.init(keys: keys)
    }
}
