import Foundation
import SyncSimulation

// Runs simulations of synchronization: STRATA_SIMULATION_COUNT of them, from STRATA_SIMULATION_SEED on. Prints those
// that fail, and ends with their number. The seed chooses the kind of server, unless STRATA_SIMULATION_VARIANT does, and
// whether clients do operations, unless STRATA_SIMULATION_OPERATIONS says so (1 or 0).
// STRATA_SIMULATION_TRACE prints what happens. STRATA_SIMULATION_DEFECT puts a defect into the clients;
// STRATA_SIMULATION_DEFECTS looks for each defect by this many simulations at most, and counts those that are not
// found.

/// Prints a line and flushes it, so that it is seen immediately even in a file.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

let environment = ProcessInfo.processInfo.environment
let first = environment["STRATA_SIMULATION_SEED"].flatMap(UInt64.init) ?? 1
let count = environment["STRATA_SIMULATION_COUNT"].flatMap(UInt64.init) ?? 1000
let defect = environment["STRATA_SIMULATION_DEFECT"].flatMap(SimulationWorld.Defect.init)
let start = ContinuousClock.now
var failed = 0
for seed in first..<(first + count) {
    let wanted = environment["STRATA_SIMULATION_VARIANT"]
    let variant =
        ServerVariant.all.first { $0.description == wanted }
        ?? ServerVariant.all[Int(seed % UInt64(ServerVariant.all.count))]
    // Every other round through the variants is with operations.
    let operates =
        environment["STRATA_SIMULATION_OPERATIONS"].map { $0 == "1" }
        ?? (seed / UInt64(ServerVariant.all.count) % 2 == 1)
    let violations = try SimulationWorld.run(seed: seed, variant: variant, defect: defect, operates: operates)
    guard !violations.isEmpty else { continue }
    failed += 1
    say(
        "STRATA_SIMULATION_SEED=\(seed) STRATA_SIMULATION_COUNT=1 STRATA_SIMULATION_VARIANT='\(variant)' STRATA_SIMULATION_OPERATIONS=\(operates ? 1 : 0):"
    )
    for violation in violations.prefix(5) { say("    \(violation)") }
}
for fault in SimulationWorld.Fault.allCases {
    let count = SimulationWorld.strikes.all[fault] ?? Strikes.Count()
    say(
        "\(fault.rawValue): armed in \(count.armed), struck \(count.struck) times, recovered from in \(count.recovered)"
    )
}
for defect in SimulationWorld.Defect.allCases {
    guard let limit = environment["STRATA_SIMULATION_DEFECTS"].flatMap(UInt64.init) else { break }
    if let seed = try defect.firstSeed(of: limit) {
        say("\(defect): found by simulation \(seed)")
    } else {
        failed += 1
        say("\(defect): not found by \(limit) simulations")
    }
}
say("\(count) simulations from seed \(first), \(failed) failed, \(ContinuousClock.now - start)")
exit(failed == 0 ? 0 : 1)
