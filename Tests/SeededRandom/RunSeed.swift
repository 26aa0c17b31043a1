import Foundation

/// The seed of a random test.
///
/// `make test` takes the same seeds in every run, so that a failure comes from the change under test. Set `STRATA_SEED` to a
/// number for other cases, or run `make stress`, which takes a new seed each time and prints it.
public enum RunSeed {
    /// `STRATA_SEED`, if it is set.
    public static let chosen = ProcessInfo.processInfo.environment["STRATA_SEED"].flatMap(UInt64.init)

    /// `STRATA_SEED`, or the usual seed of a test.
    public static func value(usually usual: UInt64 = 1) -> UInt64 { chosen ?? usual }

    /// The seeds of a test that runs once with each: from `STRATA_SEED`, or from the usual first one on. `STRATA_RUNS` sets how many.
    public static func seeds(_ count: Int, from first: UInt64 = 1) -> [UInt64] {
        let runs = ProcessInfo.processInfo.environment["STRATA_RUNS"].flatMap(Int.init) ?? count
        return (0..<UInt64(max(1, runs))).map { value(usually: first) &+ $0 }
    }
}
