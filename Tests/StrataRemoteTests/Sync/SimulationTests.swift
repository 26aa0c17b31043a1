import Foundation
import SyncSimulation
import Testing

/// A share of the simulations of `make simulate`.
@Suite(.serialized) struct SimulationTests {
    @Test func nothingIsLost() throws {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["STRATA_SIMULATION_SEED"].flatMap(UInt64.init) ?? 20_000
        let count = environment["STRATA_SIMULATION_COUNT"].flatMap(UInt64.init) ?? 30
        for variant in ServerVariant.all {
            for seed in first..<(first + count) {
                let violations = try SimulationWorld.run(seed: seed, variant: variant)
                #expect(
                    violations.isEmpty,
                    "\(variant): STRATA_SIMULATION_SEED=\(seed) STRATA_SIMULATION_COUNT=1\n\(violations)")
            }
        }
        // A fault that never strikes proves nothing, and neither does one without a recovery.
        let counts = SimulationWorld.strikes.all
        for fault in SimulationWorld.Fault.allCases where fault.isCommon {
            #expect(counts[fault]?.struck ?? 0 > 0, "\(fault) never struck")
            #expect(counts[fault]?.recovered ?? 0 > 0, "nobody recovered from \(fault)")
        }
        // Each of what happens to bytes is rare.
        let damaged = SimulationWorld.Fault.allCases.filter(\.isOfHTTP).compactMap { counts[$0] }
        #expect(damaged.contains { $0.recovered > 0 }, "nobody recovered from damaged bytes")
    }

    @Test("What clients did to counters and arrays was done once, and nothing of it was lost")
    func operations() throws {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["STRATA_SIMULATION_SEED"].flatMap(UInt64.init) ?? 40_000
        let count = environment["STRATA_SIMULATION_COUNT"].flatMap(UInt64.init) ?? 20
        for variant in ServerVariant.all {
            for seed in first..<(first + count) {
                let violations = try SimulationWorld.run(seed: seed, variant: variant, operates: true)
                #expect(
                    violations.isEmpty,
                    """
                    \(variant): STRATA_SIMULATION_SEED=\(seed) STRATA_SIMULATION_COUNT=1 STRATA_SIMULATION_OPERATIONS=1
                    \(violations)
                    """)
            }
        }
    }

    /// The others take longer to be found; `make simulate` looks for all.
    @Test(
        "Defects that are put into clients are found",
        arguments: SimulationWorld.Defect.allCases.filter(\.isCommon))
    func defectsAreFound(defect: SimulationWorld.Defect) throws {
        #expect(try defect.firstSeed(of: 2000) != nil, "2,000 simulations do not find \(defect)")
    }
}
