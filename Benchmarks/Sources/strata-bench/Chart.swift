import Foundation

/// A bar chart: CPU time against raw SQLite, on a logarithmic scale, one group of bars for each workload.
struct Chart {
    let results: [Result]
    let n: Int

    private static let colours: [(contender: String, title: String, colour: String)] = [
        ("strata", "Strata", "#d1495b"), ("grdb", "GRDB, by hand", "#30638e"),
        ("grdb-codable", "GRDB, Codable", "#7fb2d6"),
        ("django", "Django", "#9aa39b"), ("sqlalchemy", "SQLAlchemy", "#c9cfc9"),
    ]
    private static let labelWidth = 260.0, plotWidth = 560.0, margin = 24.0, barHeight = 9.0, groupGap = 9.0
    private static let low = 0.01, high = 100.0

    private func x(_ ratio: Double) -> Double {
        let position =
            (log10(min(max(ratio, Self.low), Self.high)) - log10(Self.low)) / (log10(Self.high) - log10(Self.low))
        return Self.margin + Self.labelWidth + position * Self.plotWidth
    }

    var svg: String {
        let present = Self.colours.filter { entry in
            results.contains { $0.contender == entry.contender && $0.cpuTimesRaw != nil }
        }
        var body: [String] = []
        var y = 92.0
        let top = y - 6
        for workload in Workload.allCases {
            let bars = present.compactMap { entry -> (ratio: Double, colour: String)? in
                results.first { $0.contender == entry.contender && $0.workload == workload.rawValue }?.cpuTimesRaw
                    .map { ($0, entry.colour) }
            }
            guard !bars.isEmpty else { continue }
            let height = Double(bars.count) * Self.barHeight
            body.append(text(Self.margin + Self.labelWidth - 12, y + height / 2 + 4, workload.title, anchor: "end"))
            for (index, bar) in bars.enumerated() {
                let start = min(x(1), x(bar.ratio))
                let end = max(x(1), x(bar.ratio))
                let line = y + Double(index) * Self.barHeight
                body.append(
                    "<rect x=\"\(short(start))\" y=\"\(short(line))\" width=\"\(short(max(end - start, 1.5)))\" "
                        + "height=\"\(short(Self.barHeight - 1.5))\" fill=\"\(bar.colour)\"/>")
                let isLeft = bar.ratio < 1
                body.append(
                    text(
                        isLeft ? start - 4 : end + 4, line + 7.5,
                        Report.number(bar.ratio, bar.ratio < 0.1 ? 3 : bar.ratio < 10 ? 2 : 0),
                        anchor: isLeft ? "end" : "start", size: 8.5))
            }
            y += height + Self.groupGap
        }
        let grid = [0.01, 0.1, 1, 10, 100].map { ratio in
            "<line x1=\"\(short(x(ratio)))\" y1=\"\(short(top))\" x2=\"\(short(x(ratio)))\" y2=\"\(short(y))\" "
                + "stroke=\"\(ratio == 1 ? "#333" : "#ddd")\"/>"
                + text(
                    x(ratio), top - 6, ratio == 1 ? "raw = 1" : "× \(ratio < 1 ? "\(ratio)" : "\(Int(ratio))")",
                    anchor: "middle", size: 10)
        }
        let width = Self.margin * 2 + Self.labelWidth + Self.plotWidth + 30
        return
            ([
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(short(width))\" height=\"\(short(y + 16))\" "
                    + "viewBox=\"0 0 \(short(width)) \(short(y + 16))\" font-family=\"Helvetica, Arial, sans-serif\">",
                "<title>CPU time of each workload, as a multiple of raw SQLite's</title>",
                "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
                text(
                    Self.margin, 28,
                    "CPU time against raw SQLite, \(n.formatted(.number.locale(Locale(identifier: "en")))) cities",
                    size: 16, weight: "bold"),
                text(
                    Self.margin, 46,
                    "Logarithmic; bars to the left are faster than a hand-written loop over SQLite's C interface.",
                    size: 11),
            ] + legend(present) + grid + body + ["</svg>", ""]).joined(separator: "\n")
    }

    private func legend(_ present: [(contender: String, title: String, colour: String)]) -> [String] {
        var left = Self.margin
        return present.map { entry in
            defer { left += 26 + Double(entry.title.count) * 6.6 }
            return "<rect x=\"\(short(left))\" y=\"58\" width=\"10\" height=\"10\" fill=\"\(entry.colour)\"/>"
                + text(left + 14, 67, entry.title, size: 11)
        }
    }

    private func text(
        _ x: Double, _ y: Double, _ content: String, anchor: String = "start", size: Double = 11,
        weight: String = "normal"
    ) -> String {
        let escaped = content.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        return "<text x=\"\(short(x))\" y=\"\(short(y))\" font-size=\"\(short(size))\" text-anchor=\"\(anchor)\" "
            + "font-weight=\"\(weight)\" fill=\"#222\">\(escaped)</text>"
    }

    private func short(_ value: Double) -> String { String(format: "%g", (value * 10).rounded() / 10) }
}
