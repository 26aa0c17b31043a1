import Foundation
import StrataStore

/// A column and a constant brought to a form in which SQLite compares them as ``ValueComparison`` does.
struct ComparisonPair {
    /// The column, perhaps inside a function, with the collation by which it compares.
    let sql: String
    /// The constant.
    let value: SQLValue
    /// Whether less and greater have a meaning.
    let isOrdered: Bool

    private init(_ sql: String, _ value: SQLValue, isOrdered: Bool = true) {
        self.sql = sql
        self.value = value
        self.isOrdered = isOrdered
    }

    /// - Returns: nil if no value of the column equals the constant, is less, or is greater: their kinds do not
    ///   compare.
    init?(_ term: SQLTerm, _ value: Value, _ options: ComparisonOptions) {
        switch (term.kind, value) {
        case (.integer, _), (.double, _), (.boolean, _), (.number, _), (.decimal, _): self.init(number: term, value)
        case (.text, .string(let text)):
            self.init(term.folded(options), .text(TextComparison.fold(text, options)))
        case (.text, .uri(let uri)), (.uri, .uri(let uri)): self.init(term.comparedSQL, .text(uri.absoluteString))
        case (.uri, .string(let text)): self.init(term.comparedSQL, .text(text))
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
            self.init(term.comparedSQL, .text(number.description))
            return
        }
        switch value {
        case .integer(let number): self.init(term.sql, .integer(number))
        case .boolean(let flag): self.init(term.sql, .integer(flag ? 1 : 0))
        case .double(let number):
            guard !number.isNaN else { return nil }
            self.init(term.sql, .double(number))
        case .decimal(let number):
            // Every number is compared by its decimal value, which SQLite's own numbers cannot hold. The form depends on
            // the kind of the constant alone, so that the SQL serves all constants.
            guard !number.isNaN else { return nil }
            self.init(SQLTerm.decimalCollated("strata_decimal(\(term.sql))"), .text(number.description))
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

    /// What the elements of a list are compared with, and those that compare so. Others, and nil, are left out: a
    /// number that must be compared in another way than the first, or a value of another kind.
    static func shared(
        _ term: SQLTerm, _ elements: [Value], _ options: ComparisonOptions
    ) -> (pair: ComparisonPair?, values: [SQLValue], isShared: [Bool]) {
        var shared: ComparisonPair?
        var values: [SQLValue] = []
        var isShared = Array(repeating: false, count: elements.count)
        for (index, element) in elements.enumerated() {
            guard !element.isNull, let pair = ComparisonPair(term, element, options),
                shared.map({ $0.sql == pair.sql }) ?? true
            else { continue }
            shared = pair
            isShared[index] = true
            // SQLite would make a floating-point number of it, and round: it equals no such number.
            if term.kind == .double, case .integer(let whole) = element, Int64(exactly: Double(whole)) != whole {
                continue
            }
            values.append(pair.value)
        }
        return (shared, values, isShared)
    }
}

extension SQLTerm {
    /// Text without the differences that the options ignore. Where the model keeps the attribute in canonical form, that
    /// is the text without case and accents, and an index may serve.
    func folded(_ options: ComparisonOptions) -> String {
        if options.isEmpty || options.contains(.normalized) || kind != .text { return comparedSQL }
        if options == [.caseInsensitive, .diacriticInsensitive], let origin, let alias = origin.object.alias {
            let entity = origin.object.entity
            let canonical = entity.slots.first { $0.derivation == .canonical(origin.slot.name) }
            if let canonical, let column = origin.layout.column(entity.index, canonical.index) {
                return "\(alias).\(column.quoted)"
            }
        }
        return Self.byteCollated("strata_fold(\(sql), \(options.rawValue))")
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
