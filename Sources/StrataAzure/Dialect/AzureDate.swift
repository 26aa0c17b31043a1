import Foundation

/// Points in time as these services spell them: `2012-05-21T00:00:29.300Z`, always in UTC and always with three digits of a
/// fraction.
///
///     note["due"] = AzureDate.text(Date()).map { .string($0) }
///     if let due = note["due"]?.string.flatMap({ AzureDate.date($0) }) { print(due) }
///
/// Items are JSON, which has no dates, so times are texts in them. `values(of:)` converts all times of an item at once, and
/// `item(of:)` makes an item from values. Fractions below a millisecond are cut off when a time is written; years are 1 to
/// 9999. Stores convert dates themselves.
public enum AzureDate {
    /// A time as it is sent. Fractions below a millisecond are cut off.
    /// - Returns: nil for times outside the years 1 to 9999.
    public static func text(_ date: Date) -> String? { milliseconds(date).flatMap(text(milliseconds:)) }

    /// A time from milliseconds since 1970.
    static func text(milliseconds: Int64) -> String? {
        // Both ends of the years that have four digits.
        guard (-62_135_596_800_000...253_402_300_799_999).contains(milliseconds) else { return nil }
        let seconds = floored(milliseconds, by: 1000)
        let day = floored(seconds.quotient, by: 86_400)
        let (year, month, dayOfMonth) = civil(day.quotient)
        let time = day.remainder
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(dayOfMonth, 2))T\(digits(time / 3600, 2)):"
            + "\(digits(time / 60 % 60, 2)):\(digits(time % 60, 2)).\(digits(seconds.remainder, 3))Z"
    }

    /// A time from text: with or without a fraction, with one digit where there should be two, in UTC or with an offset.
    /// - Returns: nil if the text is not a time.
    public static func date(_ text: String) -> Date? {
        parse(text).map { Date(timeIntervalSince1970: Double($0.seconds) + Double($0.nanoseconds) / 1e9) }
    }

    /// Whether a text is a time as the client libraries found them in answers: in UTC, told by `Z`.
    public static func isDate(_ text: String) -> Bool {
        text.utf8.last == UInt8(ascii: "Z") && text.utf8.count <= 40 && parse(text) != nil
    }

    /// The milliseconds of a time since 1970, what is finer cut off.
    static func milliseconds(_ text: String) -> Int64? {
        guard let time = parse(text) else { return nil }
        return time.seconds * 1000 + time.nanoseconds / 1_000_000
    }

    /// Whole milliseconds since 1970. A time that came from whole milliseconds gives them back, though its double may
    /// lie just below.
    static func milliseconds(_ date: Date) -> Int64? {
        let exact = date.timeIntervalSince1970 * 1000
        guard exact.isFinite, abs(exact) < 1e15 else { return nil }
        let nearest = exact.rounded()
        // Dates count from 2001, so the steps of that number count as well.
        let step = max(exact.ulp, date.timeIntervalSinceReferenceDate.ulp * 1000)
        return Int64(abs(exact - nearest) <= 2 * step ? nearest : exact.rounded(.down))
    }

    private static func parse(_ text: String) -> (seconds: Int64, nanoseconds: Int64)? {
        var scanner = Scanner(bytes: Array(text.utf8))
        guard let year = scanner.number(4...4), scanner.take("-"), let month = scanner.number(1...2), scanner.take("-"),
            let day = scanner.number(1...2), scanner.take("T") || scanner.take("t") || scanner.take(" "),
            let hour = scanner.number(1...2), scanner.take(":"), let minute = scanner.number(1...2), scanner.take(":"),
            let second = scanner.number(1...2)
        else { return nil }
        guard (1...9999).contains(year), (1...12).contains(month), (1...days(month, year)).contains(day), hour < 24,
            minute < 60, second <= 60
        else { return nil }
        var nanoseconds: Int64 = 0
        if scanner.take(".") {
            guard let fraction = scanner.fraction() else { return nil }
            nanoseconds = fraction
        }
        guard let offset = scanner.offset(), scanner.isAtEnd else { return nil }
        let seconds = ordinal(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
        return (seconds, nanoseconds)
    }

    // MARK: The calendar

    private static func floored(_ number: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func days(_ month: Int64, _ year: Int64) -> Int64 {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The days from 1970-01-01 to a day, for years from 1 on. The year begins in March here, so that the leap day is
    /// its last.
    private static func ordinal(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let fromMarch = (month + 9) % 12
        let leapDays = shifted / 4 - shifted / 100 + shifted / 400
        return shifted * 365 + leapDays + (fromMarch * 153 + 2) / 5 + day - 1 - 719_468
    }

    /// The day of a number of days since 1970-01-01.
    private static func civil(_ ordinal: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // The estimate is never too late, and at most one year too early.
        var year = max(1, 1970 + floored(ordinal * 400, by: 146_097).quotient - 1)
        while year < 9999, Self.ordinal(year + 1, 1, 1) <= ordinal { year += 1 }
        var rest = ordinal - Self.ordinal(year, 1, 1)
        var month: Int64 = 1
        while month < 12, rest >= days(month, year) {
            rest -= days(month, year)
            month += 1
        }
        return (year, month, rest + 1)
    }

    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }

    private struct Scanner {
        let bytes: [UInt8]
        var place = 0

        var isAtEnd: Bool { place == bytes.count }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard place < bytes.count, UInt32(bytes[place]) == character.value else { return false }
            place += 1
            return true
        }

        /// A number of this many digits.
        mutating func number(_ count: ClosedRange<Int>) -> Int64? {
            var value: Int64 = 0
            var found = 0
            while found < count.upperBound, place < bytes.count, (0x30...0x39).contains(bytes[place]) {
                value = value * 10 + Int64(bytes[place] - 0x30)
                place += 1
                found += 1
            }
            return found >= count.lowerBound ? value : nil
        }

        /// Up to nine digits as nanoseconds.
        mutating func fraction() -> Int64? {
            let start = place
            guard var value = number(1...9) else { return nil }
            for _ in (place - start)..<9 { value *= 10 }
            return value
        }

        /// The seconds that local time is ahead: `Z`, or hours and minutes with a sign.
        mutating func offset() -> Int64? {
            if take("Z") || take("z") { return 0 }
            let sign: Int64
            if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
            guard let hours = number(2...2), take(":"), let minutes = number(2...2), hours < 24, minutes < 60 else {
                return nil
            }
            return sign * (hours * 3600 + minutes * 60)
        }
    }
}
