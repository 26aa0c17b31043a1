import Foundation

/// How values are spelt in query parameters, and times everywhere.
enum StackMobText {
    /// Whole milliseconds since 1970, the fraction cut off downwards.
    ///
    /// A time that came from whole milliseconds gives them back: what is missing to the next one by no more than the
    /// precision of a double is not cut off.
    /// - Returns: nil if they do not fit 64 bits.
    static func milliseconds(_ date: Date) -> Int64? {
        let seconds = date.timeIntervalSince1970
        let exact = seconds * 1000
        let nearest = exact.rounded()
        let tolerance = 2 * max(seconds.ulp, date.timeIntervalSinceReferenceDate.ulp) * 1000
        return Int64(exactly: abs(exact - nearest) <= tolerance ? nearest : exact.rounded(.down))
    }

    static func date(milliseconds: Double) -> Date { Date(timeIntervalSince1970: milliseconds / 1000) }

    /// A coordinate or an angle with six decimals, as C's `%.6f`.
    static func coordinate(_ number: Double) -> String {
        String(format: "%.6f", locale: Locale(identifier: "en_US_POSIX"), number)
    }

    /// A number without an exponent and without a fraction that is zero.
    static func decimal(_ number: Double) -> String {
        if let whole = Int64(exactly: number) { return String(whole) }
        let text = number.description
        guard text.contains("e") else { return text }
        // Decimal takes the digits of the shortest form that gives the number back.
        return Decimal(string: text).map { "\($0)" } ?? text
    }

    /// A value as it appears in a query parameter.
    /// - Throws: ``RemoteError`` for values that have no spelling there.
    static func parameter(_ value: Value, of field: String) throws(RemoteError) -> String {
        switch value {
        case .string(let text): return text
        case .integer(let number): return String(number)
        case .double(let number) where number.isFinite: return decimal(number)
        case .decimal(let number) where !number.isNaN: return "\(number)"
        case .boolean(let flag): return flag ? "true" : "false"
        case .date(let date):
            guard let time = milliseconds(date) else { break }
            return String(time)
        case .uuid(let uuid): return uuid.uuidString
        case .uri(let uri): return uri.absoluteString
        case .object:
            throw StackMobError.unsupported("\(field): StackMob compares with an object by its primary key as text")
        default: break
        }
        throw StackMobError.unsupported("\(field): StackMob cannot compare with \(value)")
    }
}
