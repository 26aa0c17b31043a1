import Foundation
import StrataStore

/// A column and a constant brought to a form in which a database compares them as ``ValueComparison`` does.
package struct ComparisonPair {
    /// The column; nil if the dialect has no such comparison.
    package let comparand: SQLComparand?
    /// Whether less and greater have a meaning.
    package let isOrdered: Bool

    private typealias Form = ComparisonForm

    private init(
        _ term: SQLTerm, _ form: Form, _ kind: SQLKind, _ options: ComparisonOptions, _ dialect: any SQLDialect
    ) {
        comparand = dialect.comparand(term, form, with: kind, options)
        isOrdered = term.kind != .point
    }

    /// - Returns: nil if no value of the column equals the constant, is less, or is greater: their kinds do not
    ///   compare.
    package init?(_ term: SQLTerm, _ value: Value, _ options: ComparisonOptions, _ dialect: any SQLDialect) {
        guard let (form, _) = Self.bound(term.kind, value, options), let kind = SQLKind(value) else { return nil }
        self.init(term, form, kind, options, dialect)
    }

    /// The value that is bound for the constant: it is asked for at each fetch.
    package static func value(_ kind: SQLKind, _ constant: Value, _ options: ComparisonOptions) -> SQLValue? {
        bound(kind, constant, options)?.1
    }

    private static func bound(_ kind: SQLKind, _ value: Value, _ options: ComparisonOptions) -> (Form, SQLValue)? {
        switch (kind, value) {
        case (.integer, _), (.double, _), (.boolean, _), (.number, _), (.decimal, _): return bound(number: kind, value)
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
            return (.asItIs, .blob(SQLCoding.canonicalBytes(point)))
        default: return nil
        }
    }

    private static func bound(number kind: SQLKind, _ value: Value) -> (Form, SQLValue)? {
        if kind == .decimal {
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
            // Every number is compared by its decimal value, which an engine's own numbers may not hold. The form depends
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
    package static func shared(
        _ term: SQLTerm, _ elements: [Value], _ options: ComparisonOptions, _ dialect: any SQLDialect
    ) -> (pair: ComparisonPair?, values: [SQLValue], isShared: [Bool]) {
        var shared: ComparisonPair?
        var sharedForm = Form.asItIs
        var sharedKind = SQLKind.integer
        var values: [SQLValue] = []
        values.reserveCapacity(elements.count)
        var isShared = Array(repeating: false, count: elements.count)
        for (index, element) in elements.enumerated() {
            guard !element.isNull, let (form, value) = bound(term.kind, element, options), let kind = SQLKind(element)
            else {
                continue
            }
            // The SQL is made once for all elements of a form: lists may be long.
            if let shared {
                guard
                    form == sharedForm && kind == sharedKind
                        || shared.comparand?.sql == ComparisonPair(term, form, kind, options, dialect).comparand?.sql
                else { continue }
            } else {
                shared = ComparisonPair(term, form, kind, options, dialect)
                sharedForm = form
                sharedKind = kind
            }
            isShared[index] = true
            // The engine would make a floating-point number of it, and round: it equals no such number.
            if term.kind == .double, case .integer(let whole) = element, Int64(exactly: Double(whole)) != whole {
                continue
            }
            values.append(value)
        }
        return (shared, values, isShared)
    }
}

extension ValueList {
    /// Makes a list of values; of keys where all are whole numbers.
    /// - Parameter isSearched: Whether ``contains(_:)`` will be asked for each row of a table.
    package convenience init(sqlValues: [SQLValue], isSearched: Bool = false) {
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
