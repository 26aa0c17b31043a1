import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata doctor`: checks the environment, stores, a model and a server configuration, and says what to do.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks stores, a model, a server configuration and the environment, and says what to do.",
        discussion: """
            It only reads. Without arguments it checks the environment. The exit code is 1 if there is an error; with \
            --strict also if there is a warning.
            """)

    @Argument(
        help: "Stores to check: SQLite files, or PostgreSQL databases by URL: postgres://user@host/database.",
        completion: .file())
    var stores: [String] = []

    @Option(
        help: "A model file to check, and to compare the stores with.", completion: .file(extensions: ["yaml"]))
    var model: String?

    @Option(
        help: "A configuration of strata-server to check. Needs the program strata-server next to strata, or in PATH.",
        completion: .file(extensions: ["yaml"]))
    var config: String?

    @Option(help: "The schema of stores in PostgreSQL.")
    var schema = "public"

    @Flag(help: "Skip the integrity check, which reads the whole store.")
    var quick = false

    @Flag(help: "Exit with 1 for warnings, too.")
    var strict = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        var findings = EnvironmentExamination.findings()
        var checked: ManagedObjectModel?
        if let path = model {
            let examined = ModelExamination.examine(path)
            findings += examined.findings
            checked = examined.model
        }
        for store in stores {
            let place = StorePlace(store)
            findings += Examination.findings(of: place) { (report) throws(StoreError) in
                try examine(place, checked, &report)
            }
        }
        if let path = config { findings += ServerExamination.findings(path) }
        let report = DoctorReport(findings)
        if json { try Output.json(report) } else { report.printText() }
        if report.errors > 0 || strict && report.warnings > 0 { throw ExitCode.failure }
    }

    private func examine(
        _ place: StorePlace, _ model: ManagedObjectModel?, _ report: inout Examination
    ) throws(StoreError) {
        switch place {
        case .file(let path):
            var examination = StoreExamination(path: path, report: report)
            defer { report = examination.report }
            try examination.examine(model, isQuick: quick)
        case .postgres(let address):
            #if Postgres
                var examination = DatabaseExamination(address: address, schema: schema, report: report)
                defer { report = examination.report }
                try examination.examine(model, isQuick: quick)
            #else
                throw StorePlace.missing(address)
            #endif
        }
    }
}

/// What `strata doctor --json` prints. Its stored properties are the members of the JSON.
struct DoctorReport: Encodable {
    let findings: [Finding]
    let errors: Int
    let warnings: Int

    init(_ findings: [Finding]) {
        self.findings = findings
        errors = findings.count { $0.severity == .error }
        warnings = findings.count { $0.severity == .warning }
    }

    func printText() {
        var subject: String?
        for finding in findings {
            if finding.subject != subject {
                if subject != nil { print() }
                print(finding.subject)
                subject = finding.subject
            }
            let label = finding.severity.rawValue.padding(toLength: 9, withPad: " ", startingAt: 0)
            print("  \(label)\(finding.message.replacing("\n", with: "\n           "))")
            if let advice = finding.advice { print("           → \(advice.replacing("\n", with: "\n             "))") }
        }
        func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
        print("\n\(count(errors, "error")), \(count(warnings, "warning"))")
    }
}
