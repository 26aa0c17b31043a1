import Foundation

/// Dates as PostgreSQL's `timestamptz` has them: microseconds since 2000-01-01 00:00 UTC
/// (https://www.postgresql.org/docs/current/datatype-datetime.html).
///
/// A date is rounded to the nearest microsecond, one in the middle between two away from 2001-01-01 00:00 UTC. What was
/// read gives the same microsecond when it is written again. The infinite dates are kept.
package enum TimestampCoding {
    /// From 2000-01-01 to 2001-01-01, in seconds.
    private static let epoch: Int64 = 366 * 86_400
    private static let million: Int64 = 1_000_000
    /// The range of the type: from 4714-11-24 BC to the end of 294276.
    private static let range: ClosedRange<Int64> = -211_813_488_000_000_000...9_223_371_331_199_999_999

    /// The number for a date as seconds since 2001-01-01; nil if it is not a number, or outside of the range.
    package static func microseconds(_ seconds: Double) -> Int64? {
        if seconds == .infinity { return .max }
        if seconds == -.infinity { return .min }
        guard seconds.magnitude < 1e13 else { return nil }
        let whole = seconds.rounded(.towardZero)
        let fraction = Int64(((seconds - whole) * 1e6).rounded(.toNearestOrAwayFromZero))
        let result = (Int64(whole) + epoch).multipliedReportingOverflow(by: million)
        let (sum, overflow) = result.partialValue.addingReportingOverflow(fraction)
        guard !result.overflow, !overflow, range.contains(sum) else { return nil }
        return sum
    }

    /// The seconds since 2001-01-01 of a number.
    package static func seconds(_ microseconds: Int64) -> Double {
        if microseconds == .max { return .infinity }
        if microseconds == .min { return -.infinity }
        let (whole, fraction) = microseconds.quotientAndRemainder(dividingBy: million)
        let seconds = whole - epoch
        // Both parts of the same sign, so that the sum is rounded once.
        return Double(seconds) + Double(fraction) / 1e6
    }

    /// Whether a date is the same after it was kept.
    package static func isExact(_ seconds: Double) -> Bool {
        microseconds(seconds).map { Self.seconds($0) == seconds } ?? false
    }
}
