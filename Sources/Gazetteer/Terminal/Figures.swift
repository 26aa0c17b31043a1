/// Numbers for people to read. The same on every machine, whatever its language, so that outputs can be compared.
enum Figures {
    /// A whole number with commas between thousands: `34,006`.
    static func grouped(_ number: some BinaryInteger) -> String {
        let digits = Array(String(number.magnitude))
        var result = number < 0 ? "-" : ""
        for (position, digit) in digits.enumerated() {
            if position > 0, (digits.count - position).isMultiple(of: 3) { result.append(",") }
            result.append(digit)
        }
        return result
    }

    /// A number and what it counts: `1 statement`, `3 statements`.
    static func counted(_ number: Int, _ singular: String, _ plural: String? = nil) -> String {
        "\(grouped(number)) \(number == 1 ? singular : plural ?? singular + "s")"
    }

    /// A time: `850 µs`, `12.3 ms`, `4.56 s`, `2:05 min`.
    static func duration(_ seconds: Double) -> String {
        switch seconds {
        case ..<0.0009995: "\(Int((seconds * 1e6).rounded())) µs"
        case ..<0.09995: "\(fixed(seconds * 1e3, 1)) ms"
        case ..<0.9995: "\(Int((seconds * 1e3).rounded())) ms"
        case ..<59.995: "\(fixed(seconds, 2)) s"
        default: "\(clock(seconds)) min"
        }
    }

    /// Minutes and seconds: `2:05`.
    static func clock(_ seconds: Double) -> String {
        let whole = Int(seconds.rounded())
        let rest = whole % 60
        return "\(whole / 60):\(rest < 10 ? "0" : "")\(rest)"
    }

    /// A number of bytes, in the decimal units of disks: `512 B`, `7.1 MB`.
    static func bytes(_ count: Int) -> String {
        let units = ["B", "kB", "MB", "GB", "TB"]
        var value = Double(count)
        var unit = 0
        while value >= 999.95, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        return unit == 0 ? "\(count) B" : "\(fixed(value, 1)) \(units[unit])"
    }

    /// A number with a fixed count of decimals.
    static func fixed(_ value: Double, _ decimals: Int) -> String {
        let factor = (0..<decimals).reduce(1.0) { product, _ in product * 10 }
        let scaled = Int((value.magnitude * factor).rounded())
        let fraction = String(scaled % Int(factor))
        let sign = value < 0 && scaled > 0 ? "-" : ""
        let zeros = String(repeating: "0", count: max(0, decimals - fraction.count))
        return decimals == 0 ? "\(sign)\(scaled)" : "\(sign)\(scaled / Int(factor)).\(zeros)\(fraction)"
    }
}
