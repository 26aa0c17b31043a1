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

    /// How a column is written that is compared with values of a kind.
    private enum Form {
        case asItIs
        /// As the options of the comparison say.
        case folded
        /// By its decimal value, which SQLite's own numbers cannot hold.
        case decimal
    }

    private init(_ term: SQLTerm, _ form: Form, _ value: SQLValue, _ options: ComparisonOptions) {
        sql =
            switch form {
            case .asItIs: term.kind == .point ? "strata_point(\(term.sql))" : term.comparedSQL
            case .folded: term.folded(options)
            case .decimal: SQLTerm.decimalCollated("strata_decimal(\(term.sql))")
            }
        self.value = value
        isOrdered = term.kind != .point
    }

    /// - Returns: nil if no value of the column equals the constant, is less, or is greater: their kinds do not
    ///   compare.
    init?(_ term: SQLTerm, _ value: Value, _ options: ComparisonOptions) {
        guard let (form, bound) = Self.bound(term, value, options) else { return nil }
        self.init(term, form, bound, options)
    }

    /// The ``value`` of the pair that a term and a constant make, without the SQL: it is asked for at each fetch.
    static func value(_ term: SQLTerm, _ constant: Value, _ options: ComparisonOptions) -> SQLValue? {
        bound(term, constant, options)?.1
    }

    private static func bound(_ term: SQLTerm, _ value: Value, _ options: ComparisonOptions) -> (Form, SQLValue)? {
        switch (term.kind, value) {
        case (.integer, _), (.double, _), (.boolean, _), (.number, _), (.decimal, _): return bound(number: term, value)
        case (.text, .string(let text)): return (.folded, .text(TextComparison.fold(text, options)))
        case (.text, .uri(let uri)), (.uri, .uri(let uri)): return (.asItIs, .text(uri.absoluteString))
        case (.uri, .string(let text)): return (.asItIs, .text(text))
        case (.date, .date(let date)):
            guard !date.timeIntervalSinceReferenceDate.isNaN else { return nil }
            return (.asItIs, .double(date.timeIntervalSinceReferenceDate))
        case (.uuid, .uuid(let uuid)): return (.asItIs, .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) }))
        case (.bytes, .binary(let data)): return (.asItIs, .blob(data))
        case (.object, .object(let key)): return (.asItIs, .integer(key))
        case (.point, .geoPoint(let point)):
            guard !point.latitude.isNaN, !point.longitude.isNaN else { return nil }
            return (.asItIs, .blob(SQLFunctions.canonicalBytes(point)))
        default: return nil
        }
    }

    private static func bound(number term: SQLTerm, _ value: Value) -> (Form, SQLValue)? {
        if term.kind == .decimal {
            guard let number = decimal(value) else { return nil }
            return (.asItIs, .text(number.description))
        }
        switch value {
        case .integer(let number): return (.asItIs, .integer(number))
        case .boolean(let flag): return (.asItIs, .integer(flag ? 1 : 0))
        case .double(let number):
            guard !number.isNaN else { return nil }
            return (.asItIs, .double(number))
        case .decimal(let number):
            // Every number is compared by its decimal value, which SQLite's own numbers cannot hold. The form depends
            // only on the kind of the constant, so that the SQL serves all constants.
            guard !number.isNaN else { return nil }
            return (.decimal, .text(number.description))
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
        var sharedForm = Form.asItIs
        var values: [SQLValue] = []
        values.reserveCapacity(elements.count)
        var isShared = Array(repeating: false, count: elements.count)
        for (index, element) in elements.enumerated() {
            guard !element.isNull, let (form, value) = bound(term, element, options) else { continue }
            // The SQL is made once for all elements of a form: lists may be long.
            if let shared {
                guard form == sharedForm || shared.sql == ComparisonPair(term, form, value, options).sql else { continue }
            } else {
                shared = ComparisonPair(term, form, value, options)
                sharedForm = form
            }
            isShared[index] = true
            // SQLite would make a floating-point number of it, and round: it equals no such number.
            if term.kind == .double, case .integer(let whole) = element, Int64(exactly: Double(whole)) != whole {
                continue
            }
            values.append(value)
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
    /// - Parameter isSearched: Whether ``contains(_:)`` will be asked for each row of a table.
    convenience init(sqlValues: [SQLValue], isSearched: Bool = false) {
        var keys: [Int64] = []
        for value in sqlValues {
            guard case .integer(let key) = value else {
                self.init(values: sqlValues, isSearched: isSearched)
                return
            }
            keys.append(key)
        }
        self.init(keys: keys, isSearched: isSearched)
    }
}
