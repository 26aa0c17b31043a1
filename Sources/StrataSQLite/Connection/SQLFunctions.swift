import Foundation
import StrataCSQLite
import StrataSQL
import StrataStore

/// The functions and the collation that make SQL compare as ``ValueComparison`` and ``TextComparison`` do.
///
/// - `strata_fold(text, options)`: the text without the differences that the options ignore.
/// - `strata_begins(text, part)`: whether a text begins with another.
/// - `strata_ends(text, part)`: whether a text ends with another.
/// - `strata_decimal(number)`: a number of any type as decimal text; NULL if it is not finite.
/// - `strata_point(blob)`: a geo point in the one form in which equal points have equal bytes.
/// - `strata_latitude(blob)`, `strata_longitude(blob)`: the coordinates of a geo point; NULL unless both are finite. The
///   triggers of spatial indexes call them.
/// - `strata_distance(blob, blob, radius)`: the distance of two geo points in the unit of the radius.
/// - `strata_decimal_sum(text)`: the exact sum of decimals.
/// - `strata_sum(integer)`: the sum of whole numbers, clamped to 64 bits where SQLite's own `sum` would fail.
/// - collation `strata_decimal`: decimal text by its number.
enum SQLFunctions {
    static let decimalCollation = "strata_decimal"
    static let latitude = "strata_latitude"
    static let longitude = "strata_longitude"

    static func register(on handle: OpaquePointer) {
        registerTextFunctions(on: handle)
        registerPointFunctions(on: handle)
        registerDecimals(on: handle)
        registerSums(on: handle)
    }

    private static let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS

    private typealias ScalarFunction =
        @convention(c) (
            OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?
        ) -> Void

    /// Makes a function known that depends on nothing but its arguments.
    private static func define(
        _ name: String, _ argumentCount: Int32, on handle: OpaquePointer, _ function: ScalarFunction
    ) {
        sqlite3_create_function_v2(handle, name, argumentCount, flags, nil, function, nil, nil, nil)
    }

    private static func registerTextFunctions(on handle: OpaquePointer) {
        define("strata_fold", 2, on: handle) { context, _, arguments in
            guard let arguments, let text = SQLFunctions.text(arguments[0]) else {
                return sqlite3_result_null(context)
            }
            let options = ComparisonOptions(rawValue: UInt8(truncatingIfNeeded: sqlite3_value_int64(arguments[1])))
            SQLFunctions.answer(.text(TextComparison.fold(text, options)), to: context)
        }
        define("strata_begins", 2, on: handle) { context, _, arguments in
            SQLFunctions.answerForPart(arguments, context) { text, part in text.starts(with: part) }
        }
        define("strata_ends", 2, on: handle) { context, _, arguments in
            SQLFunctions.answerForPart(arguments, context) { text, part in
                text.suffix(part.count).elementsEqual(part)
            }
        }
    }

    private static func registerPointFunctions(on handle: OpaquePointer) {
        define("strata_point", 1, on: handle) { context, _, arguments in
            guard let arguments, let point = SQLFunctions.point(arguments[0]) else {
                return sqlite3_result_null(context)
            }
            SQLFunctions.answer(.blob(SQLCoding.canonicalBytes(point)), to: context)
        }
        define(latitude, 1, on: handle) { context, _, arguments in
            SQLFunctions.answerCoordinate(\.latitude, arguments, context)
        }
        define(longitude, 1, on: handle) { context, _, arguments in
            SQLFunctions.answerCoordinate(\.longitude, arguments, context)
        }
        define("strata_distance", 3, on: handle) { context, _, arguments in
            guard let arguments, let a = SQLFunctions.point(arguments[0]), a.isValid,
                let b = SQLFunctions.point(arguments[1]), b.isValid
            else { return sqlite3_result_null(context) }
            sqlite3_result_double(context, a.distance(to: b, earthRadius: sqlite3_value_double(arguments[2])))
        }
    }

    private static func registerDecimals(on handle: OpaquePointer) {
        define("strata_decimal", 1, on: handle) { context, _, arguments in
            guard let arguments, let number = SQLFunctions.decimal(arguments[0]) else {
                return sqlite3_result_null(context)
            }
            SQLFunctions.answer(.text(number.description), to: context)
        }
        sqlite3_create_collation_v2(
            handle, decimalCollation, SQLITE_UTF8, nil,
            { _, aCount, a, bCount, b in
                let left = UnsafeRawBufferPointer(start: a, count: Int(aCount))
                let right = UnsafeRawBufferPointer(start: b, count: Int(bCount))
                return SQLFunctions.compareDecimals(left, right)
            }, nil)
    }

    private static func registerSums(on handle: OpaquePointer) {
        sqlite3_create_function_v2(
            handle, "strata_decimal_sum", 1, flags, nil, nil,
            { context, _, arguments in
                guard let sum = SQLFunctions.sumState(context, create: true), let arguments,
                    let number = SQLFunctions.decimal(arguments[0])
                else { return }
                sum.pointee += number
            },
            { context in
                let sum = SQLFunctions.sumState(context, create: false)?.pointee ?? 0
                SQLFunctions.answer(.text(sum.description), to: context)
            }, nil)
        sqlite3_create_function_v2(
            handle, "strata_sum", 1, flags, nil, nil,
            { context, _, arguments in
                let state = sqlite3_aggregate_context(context, Int32(MemoryLayout<Int64>.stride * 2))
                guard let sum = state?.assumingMemoryBound(to: Int64.self), let arguments else { return }
                // Two words: the low 64 bits, and how often they have overflowed.
                let (low, overflow) = sum[0].addingReportingOverflow(sqlite3_value_int64(arguments[0]))
                if overflow { sum[1] += low < 0 ? 1 : -1 }
                sum[0] = low
            },
            { context in
                guard let sum = sqlite3_aggregate_context(context, 0)?.assumingMemoryBound(to: Int64.self) else {
                    return sqlite3_result_int64(context, 0)
                }
                sqlite3_result_int64(context, sum[1] > 0 ? .max : sum[1] < 0 ? .min : sum[0])
            }, nil)
    }

    private static func answerCoordinate(
        _ coordinate: KeyPath<GeoPoint, Double>, _ arguments: UnsafeMutablePointer<OpaquePointer?>?,
        _ context: OpaquePointer?
    ) {
        guard let arguments, let point = point(arguments[0]), point.latitude.isFinite, point.longitude.isFinite else {
            return sqlite3_result_null(context)
        }
        sqlite3_result_double(context, point[keyPath: coordinate])
    }

    /// Hands a value to SQLite as the result of a function.
    static func answer(_ value: SQLValue, to context: OpaquePointer?) {
        switch value {
        case .null, .list, .call: sqlite3_result_null(context)
        case .integer(let number): sqlite3_result_int64(context, number)
        case .double(let number): sqlite3_result_double(context, number)
        case .text(var text):
            text.withUTF8 {
                $0.withMemoryRebound(to: CChar.self) {
                    sqlite3_result_text64(
                        context, $0.baseAddress ?? emptyText, UInt64($0.count), transient, UInt8(SQLITE_UTF8))
                }
            }
        case .utf8(let bytes):
            bytes.withUnsafeBytes {
                sqlite3_result_text64(
                    context, $0.baseAddress?.assumingMemoryBound(to: CChar.self) ?? emptyText, UInt64($0.count),
                    transient,
                    UInt8(SQLITE_UTF8))
            }
        case .blob(let data):
            data.withUnsafeBytes {
                if let start = $0.baseAddress, $0.count > 0 {
                    sqlite3_result_blob64(context, start, UInt64($0.count), transient)
                } else {
                    sqlite3_result_zeroblob(context, 0)
                }
            }
        }
    }

    // Never written; a null pointer would mean NULL to SQLite.
    nonisolated(unsafe) private static let emptyText: UnsafePointer<CChar> = UnsafePointer(strdup(""))

    /// Orders decimal text by number; text that is not a number by its bytes, after all numbers.
    static func compareDecimals(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int32 {
        if a.count == b.count, a.elementsEqual(b) { return 0 }
        switch (decimal(a), decimal(b)) {
        case (let x?, let y?): return x < y ? -1 : x > y ? 1 : 0
        case (_?, nil): return -1
        case (nil, _?): return 1
        case (nil, nil): return a.lexicographicallyPrecedes(b) ? -1 : 1
        }
    }

    static func decimal(_ bytes: UnsafeRawBufferPointer) -> Decimal? {
        Decimal(string: String(decoding: bytes, as: UTF8.self), locale: posix)
    }

    private static let posix = Locale(identifier: "en_US_POSIX")

    /// Answers whether a text has another at a certain place; NULL if one of them is not text.
    private static func answerForPart(
        _ arguments: UnsafeMutablePointer<OpaquePointer?>?, _ context: OpaquePointer?,
        _ has: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
    ) {
        guard let arguments, sqlite3_value_type(arguments[0]) == SQLITE_TEXT,
            sqlite3_value_type(arguments[1]) == SQLITE_TEXT
        else { return sqlite3_result_null(context) }
        let text = bytes(arguments[0])
        let part = bytes(arguments[1])
        sqlite3_result_int(context, text.count >= part.count && has(text, part) ? 1 : 0)
    }

    private static func text(_ value: OpaquePointer?) -> String? {
        sqlite3_value_type(value) == SQLITE_TEXT ? String(decoding: bytes(value), as: UTF8.self) : nil
    }

    static func bytes(_ value: OpaquePointer?) -> UnsafeRawBufferPointer {
        let start = sqlite3_value_text(value)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
    }

    private static func decimal(_ value: OpaquePointer?) -> Decimal? {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: return Decimal(sqlite3_value_int64(value))
        case SQLITE_FLOAT:
            let number = sqlite3_value_double(value)
            return number.isFinite ? Decimal(number) : nil
        case SQLITE_TEXT: return decimal(bytes(value))
        default: return nil
        }
    }

    static func point(_ value: OpaquePointer?) -> GeoPoint? {
        guard sqlite3_value_type(value) == SQLITE_BLOB, let start = sqlite3_value_blob(value),
            sqlite3_value_bytes(value) == 16
        else { return nil }
        let latitude = Double(bitPattern: UInt64(littleEndian: start.loadUnaligned(as: UInt64.self)))
        let longitude = Double(
            bitPattern: UInt64(littleEndian: start.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        return latitude.isNaN || longitude.isNaN ? nil : GeoPoint(latitude: latitude, longitude: longitude)
    }

    /// The running sum of an aggregate. SQLite gives zeroed memory, and a zeroed `Decimal` is 0.
    private static func sumState(_ context: OpaquePointer?, create: Bool) -> UnsafeMutablePointer<Decimal>? {
        sqlite3_aggregate_context(context, create ? Int32(MemoryLayout<Decimal>.stride) : 0)?
            .assumingMemoryBound(to: Decimal.self)
    }
}
