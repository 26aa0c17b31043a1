import ArgumentParser
import Foundation
import StrataModel
import StrataSQLite

/// `strata store copy`: all objects of a store in another one. Needs no model.
struct StoreCopyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copies a store to another place: from SQLite to PostgreSQL, back, or within one of them.",
        discussion: """
            Objects keep their keys, versions and order, and the copy keeps the identifier of the store; history is not copied. \
            The copy is read again and compared before it becomes permanent. After an error, the exit code is 1, and the target \
            is as before. A file must not exist yet; a database must have no objects.

            EXAMPLES:
              strata store copy app.sqlite postgres://app@db.example.com/app
              strata store copy postgres://app@db.example.com/app app.sqlite
            """)

    @Argument(help: "A SQLite store, or the URL of a PostgreSQL database.", completion: .file())
    var source: String

    @Argument(help: "The new SQLite store, or the URL of a PostgreSQL database.", completion: .file())
    var target: String

    @Option(
        help: "The model file, if it is to be checked; the store's own model if it is left out.",
        completion: .file(extensions: ["yaml"]))
    var model: String?

    @Option(help: "The schema of a PostgreSQL database.")
    var schema = "public"

    @Flag(help: "Print the report as JSON.")
    var json = false

    func run() throws {
        let given = try model.map { try Output.model($0) }
        let bar = ProgressBar()
        var options = StoreCopyOptions()
        options.keepsIdentifier = true
        options.onProgress = { bar.show($0) }
        do throws(StoreError) {
            let report = try copy(given, options)
            bar.end()
            do {
                if json { try Output.json(CopyReport(report)) } else { printText(report) }
            } catch {
                throw StoreError.io(path: "standard output", code: 0, reason: "\(error)")
            }
        } catch {
            bar.end()
            Output.fail(error.description)
            throw ExitCode.failure
        }
    }

    private func copy(
        _ given: ManagedObjectModel?, _ options: StoreCopyOptions
    ) throws(StoreError) -> StoreCopyReport {
        let from = StorePlace(source)
        guard let stored = try from.model(schema: schema) else { throw .notFound(path: source) }
        let model = given ?? stored
        try check(stored, model, source)
        let opened = try from.open(model, schema: schema)
        defer { opened.close() }
        switch StorePlace(target) {
        case .file(let path):
            let file = try NewStoreFile(path: path, model: model)
            do throws(StoreError) {
                let report = try opened.copy(to: file.store, options: options)
                try file.finish()
                return report
            } catch {
                file.discard()
                throw error
            }
        case .postgres:
            let to = StorePlace(target)
            if let present = try to.model(schema: schema) { try check(present, model, target) }
            let database = try to.open(model, schema: schema, creates: true)
            defer { database.close() }
            return try opened.copy(to: database, options: options)
        }
    }

    /// Refuses a store with another model, which would be migrated when it is opened.
    private func check(
        _ stored: ManagedObjectModel, _ model: ManagedObjectModel, _ path: String
    ) throws(StoreError) {
        guard stored.versionHash != model.versionHash else { return }
        throw .incompatibleModel(
            path: path, differences: MigrationPlan(from: stored, to: model).steps.map(\.description))
    }

    private func printText(_ report: StoreCopyReport) {
        Output.columns(
            report.entities.map { [$0.name, "\($0.count)", $0.checksum] }
                + report.relationships.map { [$0.name, "\($0.count) pairs", $0.checksum] })
        if report.externalCount > 0 {
            let size = ByteCountFormatter().string(fromByteCount: Int64(report.externalSize))
            print("\(report.externalCount) values apart from their rows, \(size)")
        }
        if report.roundedObjects > 0 {
            print("\(report.roundedObjects) objects have dates that were rounded to microseconds")
        }
        let seconds = String(format: "%.2f", report.seconds)
        print("copied in \(seconds) s; counts and checksums of source and copy are equal")
    }
}

/// The report as JSON. The stored properties are the members.
private struct CopyReport: Encodable {
    struct Part: Encodable {
        let name: String
        let count: Int
        let checksum: String

        init(_ part: StoreCopyReport.Part) {
            name = part.name
            count = part.count
            checksum = part.checksum
        }
    }

    let entities: [Part]
    let relationships: [Part]
    let externalCount: Int
    let externalSize: Int
    let roundedObjects: Int
    let seconds: Double

    init(_ report: StoreCopyReport) {
        entities = report.entities.map(Part.init)
        relationships = report.relationships.map(Part.init)
        externalCount = report.externalCount
        externalSize = report.externalSize
        roundedObjects = report.roundedObjects
        seconds = report.seconds
    }
}
