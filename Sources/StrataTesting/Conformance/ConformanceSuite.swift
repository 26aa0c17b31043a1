import Foundation
import Strata

/// The checks of everything that a store must do, and a way to run them.
///
///     let report = await ConformanceSuite.standard.run(SQLiteMemorySubject())
///     #expect(report.failures.isEmpty, "\(report)")
///
/// Use it if you implement `PersistentStore`, or to check a remote store with your dialect from end to end. Describe your store
/// as a ``ConformanceSubject``. ``standard`` has more than 100 checks, from values of every type to threads; they go through
/// contexts, so they need no test code of yours.
///
/// For a back end or a dialect, `BackendSuite` and `DialectSuite` of `StrataRemoteTesting` are faster and closer to the cause: run these first.
public struct ConformanceSuite: Sendable {
    /// The checks, in the order in which they run.
    public let checks: [ConformanceCheck]

    /// Some checks of the kit.
    public init(checks: [ConformanceCheck]) { self.checks = checks }

    /// All checks of the kit.
    public static let standard = ConformanceSuite(
        checks: ConformanceCheck.values + ConformanceCheck.fetching + ConformanceCheck.sorting
            + ConformanceCheck.counting + ConformanceCheck.aggregates + ConformanceCheck.keys + ConformanceCheck.saving
            + ConformanceCheck.conflicts + ConformanceCheck.toOne + ConformanceCheck.toMany
            + ConformanceCheck.manyToMany + ConformanceCheck.ordered + ConformanceCheck.inheritance
            + ConformanceCheck.geo + ConformanceCheck.life + ConformanceCheck.threads)

    /// Runs all checks on a kind of store, each on an empty store of its own, one after another.
    ///
    /// Checks block; they run on a thread of their own.
    /// - Returns: The outcome of each check. A check fails if the store throws an error, which becomes the message.
    public func run(_ subject: some ConformanceSubject) async -> ConformanceReport {
        await withCheckedContinuation { continuation in
            let thread = Thread { continuation.resume(returning: runAndWait(subject)) }
            thread.stackSize = 4 << 20
            thread.start()
        }
    }

    private func runAndWait(_ subject: some ConformanceSubject) -> ConformanceReport {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("conformance-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var results: [ConformanceReport.Result] = []
        for check in checks {
            let missing = check.needs.intersection(subject.omissions)
            guard missing.isEmpty else {
                results.append(.init(check: check, outcome: .omitted(missing)))
                continue
            }
            do {
                let place = folder.appendingPathComponent(check.name.replacingOccurrences(of: " ", with: "-"))
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
                let model = try ConformanceModel.make(without: subject.omissions)
                let trial = try ConformanceTrial(subject, model: model, place: place)
                defer { trial.close() }
                try check.body(trial)
                results.append(.init(check: check, outcome: .passed))
            } catch {
                results.append(.init(check: check, outcome: .failed("\(error)")))
            }
        }
        return ConformanceReport(name: subject.name, results: results)
    }
}
