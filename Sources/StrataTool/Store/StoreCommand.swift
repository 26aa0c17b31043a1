import ArgumentParser
import Foundation
import StrataSQLite

#if Postgres
    import StrataPostgres
#endif

/// `strata store`: what stores hold, and copies of them.
struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Looks into stores, and copies them.",
        subcommands: [StoreInfoCommand.self, StoreBackupCommand.self, StoreCopyCommand.self])
}

/// `strata store info`: entities, counts, versions, sizes, integrity. Needs no model.
struct StoreInfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Prints what a store holds, and whether it is sound.",
        discussion: "The store is only read. The exit code is 0 if it is sound, else 1.")

    @Argument(help: "A SQLite store, or the URL of a PostgreSQL database.", completion: .file())
    var path: String

    @Option(help: "The schema of a PostgreSQL database.")
    var schema = "public"

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Leave out the integrity check, which reads the whole store.")
    var quick = false

    func run() throws {
        if case .postgres(let address) = StorePlace(path) { return try printDatabase(address) }
        let info: StoreInfo
        let integrity: IntegrityReport?
        do throws(StoreError) {
            info = try SQLiteStore.storeInfo(at: path)
            integrity = quick ? nil : try SQLiteStore.integrityReport(at: path)
        } catch {
            Output.fail(error.description)
            throw ExitCode.failure
        }
        if json {
            try Output.json(StoreReport(info, integrity))
        } else {
            printText(info, integrity)
        }
        if integrity?.isSound == false { throw ExitCode.failure }
    }

    private func printDatabase(_ address: String) throws {
        do throws(StoreError) {
            #if Postgres
                let report = DatabaseInfoReport(
                    try PostgresStore.storeInfo(
                        at: address, options: StorePlace.options(schema), isChecked: !quick))
                if json { try? Output.json(report) } else { report.printText() }
                if report.isSound != false { return }
            #else
                throw StorePlace.missing(address)
            #endif
        } catch {
            Output.fail(error.description)
        }
        throw ExitCode.failure
    }

    private func printText(_ info: StoreInfo, _ integrity: IntegrityReport?) {
        let sizes = ByteCountFormatter()
        func size(_ bytes: Int) -> String { sizes.string(fromByteCount: Int64(bytes)) }
        print(path)
        Output.columns([
            ["model", info.metadata.modelName],
            ["version hash", info.metadata.versionHash],
            ["identifier", info.metadata.identifier.uuidString.lowercased()],
            ["format", "\(info.metadata.formatVersion), SQLite \(info.engineVersion)"],
            ["file", "\(size(info.fileSize)), \(info.freePages) free pages of \(size(info.pageSize))"],
            ["log", size(info.logSize)],
            ["external files", "\(info.externalCount), \(size(info.externalSize))"],
        ])
        EntityReport.printText(info.entities.map(EntityReport.init))
        if !info.deferredMigrationSteps.isEmpty {
            print("\ndeferred steps of migrations")
            for step in info.deferredMigrationSteps { print("  \(step)") }
        }
        guard let integrity else { return }
        print(integrity.isSound ? "\nintegrity ok" : "\nintegrity: damaged")
        for problem in integrity.problems + integrity.danglingReferences { print("  \(problem)") }
    }
}

/// A store as `strata store info --json` prints it. The stored properties are the members of the JSON.
private struct StoreReport: Encodable {
    let model: String
    let versionHash: String
    let identifier: UUID
    let formatVersion: Int
    let engineVersion: String
    let fileSize: Int
    let logSize: Int
    let pageSize: Int
    let freePages: Int
    let externalCount: Int
    let externalSize: Int
    let entities: [EntityReport]
    let deferredSteps: [DeferredReport]
    let isSound: Bool?
    let problems: [String]

    init(_ info: StoreInfo, _ integrity: IntegrityReport?) {
        model = info.metadata.modelName
        versionHash = info.metadata.versionHash
        identifier = info.metadata.identifier
        formatVersion = info.metadata.formatVersion
        engineVersion = info.engineVersion
        fileSize = info.fileSize
        logSize = info.logSize
        pageSize = info.pageSize
        freePages = info.freePages
        externalCount = info.externalCount
        externalSize = info.externalSize
        entities = info.entities.map(EntityReport.init)
        deferredSteps = info.deferredMigrationSteps.map(DeferredReport.init)
        isSound = integrity?.isSound
        problems = (integrity?.problems ?? []) + (integrity?.danglingReferences ?? [])
    }
}
