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
}
