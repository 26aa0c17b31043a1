import Foundation
import SyncSimulation

// Runs simulations of synchronisation: STRATA_SIMULATION_COUNT of them, from STRATA_SIMULATION_SEED on. Prints those
// that fail, and ends with their number.

let environment = ProcessInfo.processInfo.environment
let first = environment["STRATA_SIMULATION_SEED"].flatMap(UInt64.init) ?? 1
let count = environment["STRATA_SIMULATION_COUNT"].flatMap(UInt64.init) ?? 1000
let start = ContinuousClock.now
var failed = 0
for seed in first..<(first + count) {
    let variant = ServerVariant.all[Int(seed % UInt64(ServerVariant.all.count))]
    let violations = try SimulationWorld.run(seed: seed, variant: variant)
    guard !violations.isEmpty else { continue }
    failed += 1
    print("STRATA_SIMULATION_SEED=\(seed) STRATA_SIMULATION_COUNT=1 (\(variant)):")
    for violation in violations.prefix(5) { print("    \(violation)") }
}
print("\(count) simulations from seed \(first), \(failed) failed, \(ContinuousClock.now - start)")
exit(failed == 0 ? 0 : 1)
