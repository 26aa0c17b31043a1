import Foundation
import Testing

/// What the workloads of the benchmarks cost, in counts that are the same on a busy machine: held against
/// `thresholds.json`. `make thresholds` writes that file again; look at what has changed before keeping it.
@Suite struct GateTests {
    static let size = 10_000
    /// What is held against a bound for every workload.
    private static let always = ["statements", "steps", "fullScanSteps", "sorts", "automaticIndexRows"]
    #if DEBUG
        /// The compiler's optimizations take some of these away, so the bounds are those of debug builds.
        private static let sometimes = ["allocations", "retains"]
    #else
        private static let sometimes: [String] = []
    #endif
    /// The workloads that say how much memory an object holds.
    private static let holding = ["W3", "pending insert", "pending update"]
    private static let notes = [
        "statements": "statements in all, for 10,000 cities",
        "steps": "instructions of SQLite's virtual machine",
        "fullScanSteps": "rows passed by because no index serves",
        "sorts": "sorts because no index has the order",
        "automaticIndexRows": "rows put into indexes that are missing",
        "allocations": "blocks taken from the heap, SQLite's included, in a debug build",
        "retains": "reference counting by Strata and the probe, in a debug build",
        "bytes": "of the heap while the objects live",
    ]
    private static let units = [
        "W4": "look-up", "W4R": "look-up", "W5": "page", "W8": "deleted city", "W8N": "nullified city", "W10": "box",
        "W7": "changed city",
    ]

    @Test func workloadsStayWithinTheirBounds() throws {
        let thresholds = try Thresholds()
        var measured: [(name: String, value: Double, note: String)] = []
        try Counts.withFolder { folder in
            for workload in try Counts.cases("workload") {
                let counts = try Counts.of(workload, size: Self.size, in: folder)
                for what in Self.always + Self.sometimes + (Self.holding.contains(workload) ? ["bytes"] : []) {
                    guard let value = what == "statements" ? counts.totals[what].map(Double.init) : counts.perUnit(what)
                    else { continue }
                    let unit = what == "statements" ? "" : ", per \(Self.units[workload] ?? "city")"
                    measured.append(("\(workload) \(what)", value, (Self.notes[what] ?? "") + unit))
                }
            }
        }
        if ProcessInfo.processInfo.environment["STRATA_WRITE_THRESHOLDS"] != nil {
            return try Thresholds.write(measured, over: thresholds)
        }
        for item in measured {
            print(
                "gate \(item.name.padding(toLength: 36, withPad: " ", startingAt: 0)) \(item.value.short)"
                    + " of \(thresholds.lines[item.name]?.atMost.short ?? "?")")
            if let fault = thresholds.fault(item.name, item.value) { Issue.record("\(fault)") }
        }
        // A bound that nothing is held against would look like a promise. Memory is not counted everywhere.
        let counted = Set(measured.map(\.name))
        let idle = thresholds.lines.keys.filter { name in
            !counted.contains(name) && Self.always.contains { name.hasSuffix($0) }
        }
        #expect(idle.isEmpty, "nothing is measured for \(idle.sorted())")
    }
}
