#if Server
    import Foundation

    /// Points in time as texts of ISO 8601 in UTC with three digits of a second: `2015-06-21T18:02:52.249Z`.
    enum WireTime {
        /// The milliseconds from 0001-01-01 to 9999-12-31.
        static let range: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

        /// The text of milliseconds since 1970; nil outside the years 1 to 9999.
        static func text(_ milliseconds: Int64) -> String? {
            guard range.contains(milliseconds) else { return nil }
            let (days, time) = floored(milliseconds, 86_400_000)
            let (year, month, day) = civil(days)
            func digits(_ number: Int64, _ count: Int) -> String {
                let text = String(number)
                return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
            }
            return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T\(digits(time / 3_600_000, 2)):"
                + "\(digits(time / 60_000 % 60, 2)):\(digits(time / 1000 % 60, 2)).\(digits(time % 1000, 3))Z"
        }

        /// The milliseconds since 1970 of a text: only a date, or with a time, with or without a fraction, `Z` or an
        /// offset; fractions below a millisecond are cut off. nil for any other text, and for a day or time that does
        /// not exist.
        static func milliseconds(_ text: String) -> Int64? {
            guard text.utf8.count <= 48 else { return nil }
            var rest = text.utf8[...]
            func number(_ most: Int) -> Int64? {
                let digits = rest.prefix { (0x30...0x39).contains($0) }
                guard (1...most).contains(digits.count) else { return nil }
                rest = rest.dropFirst(digits.count)
                return Int64(Substring(digits))
            }
            func take(_ characters: String) -> UInt8? {
                guard let next = rest.first, characters.utf8.contains(next) else { return nil }
                rest = rest.dropFirst()
                return next
            }
            guard let year = number(4), take("-") != nil, let month = number(2), take("-") != nil, let day = number(2),
                year >= 1, (1...12).contains(month)
            else { return nil }
            let days = ordinal(year, month, day)
            guard day >= 1, civil(days) == (year, month, day) else { return nil }
            if rest.isEmpty { return days * 86_400_000 }
            guard take("Tt ") != nil, let hour = number(2), take(":") != nil, let minute = number(2), hour < 24,
                minute < 60
            else { return nil }
            var time = (hour * 60 + minute) * 60_000
            if take(":") != nil {
                guard let second = number(2), second < 60 else { return nil }
                time += second * 1000
                if take(".") != nil {
                    let digits = rest.prefix { (0x30...0x39).contains($0) }
                    guard (1...12).contains(digits.count), let fraction = Double("0.\(Substring(digits))") else {
                        return nil
                    }
                    rest = rest.dropFirst(digits.count)
                    time += Int64((fraction * 1000 + 1e-6).rounded(.down))
                }
            }
            if let sign = take("+-") {
                guard let hours = number(2), hours < 24, take(":") != nil, let minutes = number(2), minutes < 60 else {
                    return nil
                }
                time += (sign == UInt8(ascii: "+") ? -1 : 1) * (hours * 60 + minutes) * 60_000
            } else if take("Zz") == nil {
                return nil
            }
            let result = days * 86_400_000 + time
            return rest.isEmpty && range.contains(result) ? result : nil
        }

        private static func floored(_ number: Int64, _ divisor: Int64) -> (Int64, Int64) {
            let (quotient, rest) = number.quotientAndRemainder(dividingBy: divisor)
            return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
        }

        /// Days since 1970 of a day in the Gregorian calendar. Years are counted from March on, so that the day of the leap
        /// year is the last of its year.
        private static func ordinal(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
            let (era, yearOfEra) = floored(month <= 2 ? year - 1 : year, 400)
            let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
            return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        }

        private static func civil(_ days: Int64) -> (Int64, Int64, Int64) {
            let (era, dayOfEra) = floored(days + 719_468, 146_097)
            let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
            let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
            let part = (5 * dayOfYear + 2) / 153
            let month = part < 10 ? part + 3 : part - 9
            return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * part + 2) / 5 + 1)
        }
    }
#endif
