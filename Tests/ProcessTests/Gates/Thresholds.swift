import Foundation

/// The bounds in `thresholds.json`: one line each, with its name, the maximum number allowed, and what it is.
struct Thresholds {
    struct Line: Codable {
        var atMost: Double
        var note: String
    }

    private(set) var lines: [String: Line]

    static let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "thresholds.json")

    /// How far below a bound a count may be before the bound has to follow. Less than one is never far.
    static let slack = 0.7

    init() throws { lines = try JSONDecoder().decode([String: Line].self, from: Data(contentsOf: Self.file)) }

    /// What is wrong with a count, if anything.
    func fault(_ name: String, _ measured: Double) -> String? {
        guard let bound = lines[name]?.atMost else {
            return "\(name): measured \(measured.short), but thresholds.json has no bound for it"
        }
        if measured > bound { return "\(name): measured \(measured.short), at most \(bound.short) allowed" }
        if measured < bound * Self.slack, bound - measured >= 1 {
            return "\(name): measured \(measured.short), far below its bound of \(bound.short); lower that"
        }
        return nil
    }

    /// The file again, with what was measured, and a little room where runs differ by themselves: memory and retains,
    /// since tables that hash addresses grow at other moments; steps, since SQLite's versions plan a little
    /// differently.
    static func write(_ measured: [(name: String, value: Double, note: String)], over old: Thresholds) throws {
        let lines = measured.map { item in
            let varies = ["steps", "allocations", "bytes", "retains"].contains { item.name.hasSuffix($0) }
            let bound = varies ? (item.value * 1.03 * 10).rounded(.up) / 10 : (item.value * 100).rounded(.up) / 100
            let note = old.lines[item.name]?.note ?? item.note
            return "  \"\(item.name)\": {\"atMost\": \(bound.short), \"note\": \"\(note)\"}"
        }
        try Data(("{\n" + lines.joined(separator: ",\n") + "\n}\n").utf8).write(to: file)
    }
}

extension Double {
    /// Two places after the point, and none where there is nothing in them.
    var short: String { self == rounded() ? String(Int(self)) : String(format: "%.2f", self) }
}
