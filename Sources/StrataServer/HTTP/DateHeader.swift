#if Server
    import Foundation
    import StrataStore

    /// The header `Date` of answers: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7). It is written once a second.
    final class DateHeader: Sendable {
        private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        private static let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]

        private let last = Guarded<(second: time_t, text: String)>((0, text(0)))

        /// The present.
        var now: String {
            let second = time(nil)
            return last.withLock { last in
                if last.second != second { last = (second, Self.text(second)) }
                return last.text
            }
        }

        /// - Parameter second: Seconds since 1970.
        static func text(_ second: time_t) -> String {
            var (second, parts) = (second, tm())
            gmtime_r(&second, &parts)
            func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
            let day = "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)])"
            return "\(day) \(parts.tm_year + 1900) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
        }
    }
#endif
