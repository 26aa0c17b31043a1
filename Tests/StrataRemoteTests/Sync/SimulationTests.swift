import Foundation
import SyncSimulation
import Testing

/// A share of the simulations of `make simulate`.
@Suite(.serialized) struct SimulationTests {
    @Test func nothingIsLost() throws {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["STRATA_SIMULATION_SEED"].flatMap(UInt64.init) ?? 20_000
        let count = environment["STRATA_SIMULATION_COUNT"].flatMap(UInt64.init) ?? 15
        for variant in ServerVariant.all {
            for seed in first..<(first + count) {
                let violations = try SimulationWorld.run(seed: seed, variant: variant)
                #expect(
                    violations.isEmpty,
                    "\(variant): STRATA_SIMULATION_SEED=\(seed) STRATA_SIMULATION_COUNT=1\n\(violations)")
            }
        }
        // A fault that never strikes proves nothing, nor does one that nobody recovers from.
        let counts = SimulationWorld.strikes.all
        for fault in SimulationWorld.Fault.allCases where fault.isCommon || fault.isOfHTTP {
            #expect(counts[fault]?.struck ?? 0 > 0, "\(fault) never struck")
            #expect(counts[fault]?.recovered ?? 0 > 0, "nobody recovered from \(fault)")
        }
    }

    @Test("Defects that are put into clients are found", arguments: SimulationWorld.Defect.allCases)
    func defectsAreFound(defect: SimulationWorld.Defect) throws {
        for seed in UInt64(1)...2000 {
            let variant = ServerVariant.all[Int(seed % UInt64(ServerVariant.all.count))]
            if try !SimulationWorld.run(seed: seed, variant: variant, defect: defect).isEmpty { return }
        }
        Issue.record("2,000 simulations do not find \(defect)")
    }
}
