import Foundation
import Testing

/// The cost of one object, or of one change, is the same however many there are. Counted at sizes of which each is a
/// multiple of the one before; nothing here looks at a clock.
@Suite struct GrowthTests {
    /// How much a count may grow from one size to the next. A part that is linear in the size would grow fourfold and
    /// more as soon as it is worth speaking of; tables that double, and batches that are bounded, make some difference.
    private static let factor = 1.75
    private static let counted = ["statements", "steps", "allocations", "retains"]

    private static func sizes(_ name: String) -> [Int] {
        switch name.prefix(while: { $0 != ":" }) {
        case "children": [4, 16, 64]
        case "contexts": [10, 100, 1_000]
        default: [1_000, 10_000, 100_000]
        }
    }

    @Test func costPerObjectIsFlat() throws { try expectFlat("growth") }
    @Test func unusualShapesCostTheSamePerObject() throws { try expectFlat("shape") }

    private func expectFlat(_ group: String) throws {
        try Counts.withFolder { folder in
            for name in try Counts.cases(group) {
                for fault in try risesOf(name, in: folder) { Issue.record("\(fault)") }
            }
        }
    }

    /// What rose from one size to the next.
    private func risesOf(_ name: String, in folder: URL) throws -> [String] {
        var faults: [String] = []
        var before: Counts?
        for size in Self.sizes(name) {
            let counts = try Counts.of(name, size: size, in: folder)
            let values = Self.counted.compactMap { what in counts.perUnit(what).map { (what, $0) } }
            print("growth \(name), \(size):", values.map { "\($0) \($1.short)" }.joined(separator: ", "))
            for (what, value) in values {
                guard let old = before?.perUnit(what), value > old * Self.factor else { continue }
                faults.append("\(name), \(size): \(what) per unit rose from \(old.short) to \(value.short)")
            }
            before = counts
        }
        return faults
    }
}
