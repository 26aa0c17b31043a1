import Foundation

/// Dates as texts of the protocol: ISO 8601 in UTC with three digits of a second.
package enum MaxLeapDate {
    /// The text of a date, cut off downwards to milliseconds: `2015-06-21T18:02:52.249Z`.
    /// - Returns: nil for dates outside the years 1 to 9999, which the form has no room for.
    package static func text(_ date: Date) -> String? {
        guard let milliseconds = milliseconds(date) else { return nil }
        let (day, time) = floorDivided(milliseconds, by: 86_400_000)
        let (year, month, dayOfMonth) = civil(day: day)
        guard (1...9999).contains(year) else { return nil }
        func digits(_ number: Int64, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(dayOfMonth, 2))T\(digits(time / 3_600_000, 2)):"
            + "\(digits(time / 60_000 % 60, 2)):\(digits(time / 1000 % 60, 2)).\(digits(time % 1000, 3))Z"
    }

    /// The date of a text: a year of one to four digits, other parts of one or two, a fraction if there is one, and `Z`.
    /// - Returns: nil for any other text, and for a day or time that does not exist.
    package static func date(_ text: String) -> Date? {
        var scanner = Scanner(rest: Substring(text).utf8)
        guard text.utf8.count <= 64, let year = scanner.number(4, before: "-"),
            let month = scanner.number(2, before: "-"),
            let day = scanner.number(2, before: "T"), let hour = scanner.number(2, before: ":"),
            let minute = scanner.number(2, before: ":"), let (second, fraction) = scanner.seconds(),
            year >= 1, (1...12).contains(month), hour < 24, minute < 60, second < 60
        else { return nil }
        let days = dayNumber(year, month, day)
        guard day >= 1, civil(day: days) == (year, month, day) else { return nil }
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second
        return Date(timeIntervalSince1970: Double(seconds) + fraction)
    }

    /// Reads digits from the front of a text.
    private struct Scanner {
        var rest: Substring.UTF8View

        /// The digits up to a character, which is passed.
        mutating func number(_ longest: Int, before end: Unicode.Scalar) -> Int64? {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            guard (1...longest).contains(digits.count), rest.dropFirst(digits.count).first == UInt8(ascii: end) else {
                return nil
            }
            rest = rest.dropFirst(digits.count + 1)
            return Int64(Substring(digits))
        }

        /// Seconds with their fraction, up to the end of the text.
        mutating func seconds() -> (Int64, Double)? {
            var whole = self
            if let second = number(2, before: "Z") { return rest.isEmpty ? (second, 0) : nil }
            guard let second = whole.number(2, before: "."), whole.rest.last == UInt8(ascii: "Z") else { return nil }
            let digits = whole.rest.dropLast()
            guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return Double("0.\(Substring(digits))").map { (second, $0) }
        }
    }

    /// Whole milliseconds since 1970. A date that came from whole milliseconds gives them back: what is missing to the next
    /// one by no more than the precision of a double is not cut off.
    private static func milliseconds(_ date: Date) -> Int64? {
        let seconds = date.timeIntervalSince1970
        let exact = seconds * 1000
        let nearest = exact.rounded()
        let tolerance = 2 * max(seconds.ulp, date.timeIntervalSinceReferenceDate.ulp) * 1000
        return Int64(exactly: abs(exact - nearest) <= tolerance ? nearest : exact.rounded(.down))
    }

    private static func floorDivided(_ number: Int64, by divisor: Int64) -> (quotient: Int64, rest: Int64) {
        let (quotient, rest) = number.quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
    }

    /// Year, month and day of a number of days since 1970, in the Gregorian calendar without a beginning. Years are
    /// counted from March on, so that the day of the leap year is the last of its year.
    private static func civil(day: Int64) -> (Int64, Int64, Int64) {
        let (era, dayOfEra) = floorDivided(day + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let part = (5 * dayOfYear + 2) / 153
        let month = part < 10 ? part + 3 : part - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * part + 2) / 5 + 1)
    }

    private static func dayNumber(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let (era, yearOfEra) = floorDivided(month <= 2 ? year - 1 : year, by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
