/// The outcome of each check of a ``ConformanceSuite`` on one kind of store.
///
///     let report = await ConformanceSuite.standard.run(SQLiteMemorySubject())
///     #expect(report.failures.isEmpty, "\(report)")
///     let omitted = report.results.filter { if case .omitted = $0.outcome { true } else { false } }
///     print(omitted.map(\.check.name))
///
/// ``description`` has one line for each failed check and counts the others, so it suits the message of a test. A check that
/// was left out is not a failure: see ``ConformanceSubject/omissions``. To compare several stores, make a ``CapabilityMatrix``.
public struct ConformanceReport: Sendable, CustomStringConvertible {
    /// What became of one check.
    public enum Outcome: Sendable, Hashable {
        /// It holds.
        case passed
        /// The check failed; the message tells the author of the store what is wrong.
        case failed(String)
        /// It was not run, because the store leaves these out.
        case omitted(Set<ConformanceFeature>)
    }

    /// One check with its outcome.
    public struct Result: Sendable {
        /// The check.
        public let check: ConformanceCheck
        /// What became of it.
        public let outcome: Outcome
    }

    /// The name of the store.
    public let name: String
    /// All checks in order.
    public let results: [Result]

    /// The checks that failed, with their messages.
    public var failures: [(check: String, message: String)] {
        results.compactMap { result in
            if case .failed(let message) = result.outcome { (result.check.name, message) } else { nil }
        }
    }

    /// One line for each failed check, and how many checks hold, fail and were left out.
    public var description: String {
        let held = results.count { $0.outcome == .passed }
        let lines = failures.map { "\n  \($0.check): \($0.message)" }.joined()
        let omitted = results.count - held - failures.count
        let rest = omitted > 0 ? ", \(omitted) are left out" : ""
        return "\(name): \(held) of \(results.count) checks hold, \(failures.count) fail\(rest)\(lines)"
    }
}

/// A table that compares several stores: how many checks of each area pass.
///
///     let subjects: [any ConformanceSubject] = [SQLiteFileSubject(), SQLiteMemorySubject()]
///     var reports: [ConformanceReport] = []
///     for subject in subjects { reports.append(await ConformanceSuite.standard.run(subject)) }
///     print(CapabilityMatrix(reports))
///
/// Each report is a column, each ``ConformanceCheck/Area`` a line. ``description`` is Markdown, for the documentation of a
/// store. Run the same suite on all subjects; otherwise the numbers cannot be compared.
public struct CapabilityMatrix: Sendable, CustomStringConvertible {
    /// The reports, one for each column.
    public let reports: [ConformanceReport]

    /// Puts reports side by side.
    public init(_ reports: [ConformanceReport]) { self.reports = reports }

    /// The matrix as a table in Markdown: how many checks of each area pass; `–` if the store lacks all of them, and
    /// failures in bold.
    public var description: String {
        var lines = ["| |" + reports.map { " \($0.name) |" }.joined(), "|---|" + reports.map { _ in "---|" }.joined()]
        for area in ConformanceCheck.Area.allCases {
            let cells = reports.map { cell($0, area) }
            guard cells.contains(where: { $0 != nil }) else { continue }
            lines.append("| \(area.rawValue) |" + cells.map { " \($0 ?? "") |" }.joined())
        }
        return lines.joined(separator: "\n")
    }

    private func cell(_ report: ConformanceReport, _ area: ConformanceCheck.Area) -> String? {
        let results = report.results.filter { $0.check.area == area }
        guard !results.isEmpty else { return nil }
        var held = 0
        var failed = 0
        var omitted = 0
        for result in results {
            switch result.outcome {
            case .passed: held += 1
            case .failed: failed += 1
            case .omitted: omitted += 1
            }
        }
        if omitted == results.count { return "–" }
        let notes = (failed > 0 ? ["**\(failed) fail**"] : []) + (omitted > 0 ? ["\(omitted) left out"] : [])
        return "\(held)" + (notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))")
    }
}
