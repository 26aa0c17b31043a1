import Foundation
import StrataModel
import StrataSQLite
import StrataStore

/// Collects the findings about one subject.
struct Examination {
    let subject: String
    private(set) var findings: [Finding] = []

    init(_ subject: String) { self.subject = subject }

    mutating func ok(_ check: String, _ message: String) { add(.ok, check, message, nil) }

    mutating func warn(_ check: String, _ message: String, advice: String) { add(.warning, check, message, advice) }

    mutating func fail(_ check: String, _ message: String, advice: String?) { add(.error, check, message, advice) }

    private mutating func add(_ severity: Finding.Severity, _ check: String, _ message: String, _ advice: String?) {
        findings.append(Finding(subject: subject, check: check, severity: severity, message: message, advice: advice))
    }

    /// The findings about a store. An error that keeps it from being examined is one of them, and its message says what to do.
    static func findings(
        of place: StorePlace, _ examine: (inout Examination) throws(StoreError) -> Void
    ) -> [Finding] {
        var report = Examination("store \(place.text)")
        do throws(StoreError) {
            try examine(&report)
        } catch {
            report.fail("open", error.description, advice: nil)
        }
        return report.findings
    }

    /// Compares a store with the model of an app.
    mutating func examineModel(
        of place: StorePlace, _ model: ManagedObjectModel, schema: String
    ) throws(StoreError) {
        let plan = try place.migrationPlan(to: model, MigrationOptions(), schema: schema)
        if plan.source.fingerprint == plan.target.fingerprint {
            return ok("model", "the store fits the model \(model.name)")
        }
        let blocked = SQLiteStore.blockedSteps(of: plan, answers: [:])
        if blocked.isEmpty {
            warn(
                "model", "the store has an older version of the model; opening it migrates it:\n\(plan)",
                advice:
                    "nothing is lost; to see how long it takes, run strata migrate \(place.text) --model MODEL --dry-run"
            )
        } else {
            fail(
                "model",
                "the store does not fit the model, and these steps need an answer:\n"
                    + blocked.map(\.description).joined(separator: "\n"),
                advice: "put answers into options.migration.answers, or run strata migrate \(place.text) --model MODEL "
                    + "with --accept, --fill or --clear")
        }
    }

    /// Lines below each other, ten of them at most.
    static func list(_ lines: [String]) -> String {
        let shown = lines.prefix(10).joined(separator: "\n")
        return lines.count > 10 ? shown + "\nand \(lines.count - 10) more" : shown
    }

    /// A number of bytes in words.
    static func bytes(_ count: Int) -> String {
        let formatter = ByteCountFormatter()
        formatter.allowsNonnumericFormatting = false
        return formatter.string(fromByteCount: Int64(count))
    }
}
