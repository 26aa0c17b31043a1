import Foundation

/// Tables for people and files for programs.
enum Report {
    private static let widths = [5, 9, 13, 10, 8, 8, 8, 8, 9, 9, 10]

    static var header: String {
        let names = [
            "", "N", "contender", "cpu ms", "x raw", "x grdb", "wall/raw", "wall/grdb", "peak MB", "B/object",
            "statements",
        ]
        return line(names) + "\n" + String(repeating: "─", count: widths.reduce(0) { $0 + $1 + 1 })
    }

    /// The rows of one workload.
    static func rows(_ results: [Result], title: String) -> String {
        let rows = results.map { result -> String in
            let head = [result.workload, result.n.formatted(), result.contender]
            if let reason = result.skipped { return line(head + ["– " + reason]) }
            return line(
                head + [
                    number(result.cpuMilliseconds, 2), number(result.cpuTimesRaw, 3), number(result.cpuTimesGRDB, 3),
                    number(result.wallTimesRaw, 2), number(result.wallTimesGRDB, 2), number(result.peakMegabytes, 0),
                    number(result.bytesPerObject, 0), result.statements.map { "\($0)" } ?? "",
                ])
        }
        return title + "\n" + rows.joined(separator: "\n")
    }

    static func micro(_ lines: [MicroLine]) -> String {
        let rows = lines.map {
            "  \($0.name.padded(to: -36)) \(number($0.value, 2).padded(to: 9)) \($0.unit)"
                + ($0.must.map { must in "   (must: \(number(must, must == must.rounded() ? 0 : 1)))" } ?? "")
        }
        return (["", "One object at a time"] + rows).joined(separator: "\n")
    }

    /// Strata's lines besides the bounds that the project sets itself.
    static func targets(_ results: [Result], n: Int) -> String {
        var rows = ["", "Strata against its own bounds, CPU time × raw"]
        for result in results where result.contender == StrataContender.name {
            guard let ratio = result.cpuTimesRaw, let workload = Workload(rawValue: result.workload) else { continue }
            let bound =
                result.n == 1_000_000
                ? (workload == .w1 ? 0.6 : nil) : result.n == 100_000 ? workload.mustTimesRaw : nil
            guard let bound else { continue }
            let verdict = ratio <= bound ? "met" : "missed"
            rows.append(
                "  \(result.workload.padded(to: -5)) N = \(result.n.formatted().padded(to: -10)) \(number(ratio, 3).padded(to: 8))"
                    + "   must \(number(bound, 2))   \(verdict)")
        }
        return rows.joined(separator: "\n")
    }

    /// The short form that other programs read.
    static func resultsJSON(_ results: [Result]) throws -> Data {
        let entries = results.filter { $0.skipped == nil }.map { result in
            let fields = [
                "\"workload\": \"\(result.workload)\"", "\"contender\": \"\(result.contender)\"", "\"n\": \(result.n)",
                "\"cpu_ms\": \(json(result.cpuMilliseconds))", "\"x_raw\": \(json(result.cpuTimesRaw))",
                "\"x_grdb\": \(json(result.cpuTimesGRDB))",
            ]
            return "  {" + fields.joined(separator: ", ") + "}"
        }
        return Data(("[\n" + entries.joined(separator: ",\n") + "\n]\n").utf8)
    }

    /// All that was measured.
    static func detailsJSON(_ results: [Result], _ micro: [MicroLine]) throws -> Data {
        struct Details: Encodable {
            let results: [Result]
            let micro: [MicroLine]
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(Details(results: results, micro: micro))
    }

    private static func json(_ value: Double?) -> String { value.map { String(format: "%.4f", $0) } ?? "null" }

    static func number(_ value: Double?, _ digits: Int) -> String {
        value.map { String(format: "%.\(digits)f", $0) } ?? ""
    }

    private static func line(_ cells: [String]) -> String {
        zip(cells, widths).enumerated().map { index, cell in
            cell.0.padded(to: index == 0 || index == 2 ? -cell.1 : cell.1)
        }.joined(separator: " ")
    }
}

extension String {
    /// Filled with spaces on the left, or for a negative width on the right.
    func padded(to width: Int) -> String {
        let space = String(repeating: " ", count: max(0, abs(width) - count))
        return width < 0 ? self + space : space + self
    }
}
