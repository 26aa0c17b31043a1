import ArgumentParser
import Foundation
import StrataCoreData

/// `strata coredata`: what Core Data stores hold, and how they become stores of Strata.
struct CoreDataCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coredata",
        abstract: "Reads, checks and exports stores of Apple's Core Data and SwiftData.",
        subcommands: [
            CoreDataInfoCommand.self, CoreDataCheckCommand.self, CoreDataExportCommand.self,
            CoreDataCreateCommand.self,
        ])
}

/// `strata coredata info`: entities, counts, versions.
struct CoreDataInfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Prints what a Core Data store holds, and which version of its model it has.",
        discussion: """
            The store is only read, with the log next to it (NAME-wal). Without --model the model is the copy in the store, or, \
            where there is none, what the tables show. The exit code is 0 if the store is sound, else 1.
            """)

    @Argument(help: "A store of Core Data or SwiftData.", completion: .file())
    var path: String

    @Option(help: "The model: .xcdatamodeld, .xcdatamodel, .momd or .mom.", completion: .file())
    var model: String?

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Leave out the integrity check, which reads the whole file.")
    var quick = false

    func run() throws {
        let info: CoreDataStoreInfo
        do throws(StoreError) {
            info = try CoreDataStore.info(
                at: path, model: model.map { .file(path: $0) } ?? .automatic, checkingIntegrity: !quick)
        } catch {
            Output.fail(error.description)
            throw ExitCode.failure
        }
        if json {
            try Output.json(CoreDataInfoReport(info))
        } else {
            printText(info)
        }
        if info.problems?.isEmpty == false { throw ExitCode.failure }
    }

    private func printText(_ info: CoreDataStoreInfo) {
        let sizes = ByteCountFormatter()
        func size(_ bytes: Int) -> String { sizes.string(fromByteCount: Int64(bytes)) }
        print(path)
        let history = info.transactionCount.map { "\($0) transactions" } ?? "none"
        Output.columns([
            ["identifier", info.metadata.identifier.uuidString],
            ["framework", info.metadata.frameworkVersion.map { "\($0)" } ?? "unknown"],
            ["model", info.model.text],
            ["version identifiers", info.metadata.versionIdentifiers.joined(separator: ", ")],
            ["checksum", info.metadata.checksum ?? "none"],
            ["history", history + (info.isCloudMirrored ? ", mirrored to CloudKit" : "")],
            ["file", size(info.fileSize)],
            ["log", size(info.logSize)],
            ["external files", "\(info.externalCount), \(size(info.externalSize))"],
        ])
        print("\nentities")
        Output.columns(
            info.entities.map { entity in
                let renamed = entity.strataName.flatMap { $0 == entity.name ? nil : "in Strata \($0)" }
                let hash = entity.hasMatchingHash == false ? "another version hash" : nil
                let traits = [
                    entity.parent.map { "inherits \($0)" }, entity.isAbstract ? "abstract" : nil, renamed,
                    hash,
                ]
                return [
                    "\(entity.number)", entity.name, "\(entity.count)", entity.table,
                    traits.compactMap(\.self).joined(separator: ", "),
                ]
            })
        for warning in info.warnings { Output.fail("warning: \(warning)") }
        guard let problems = info.problems else { return }
        print(problems.isEmpty ? "\nintegrity ok" : "\nintegrity: damaged")
        for problem in problems { print("  \(problem)") }
    }
}

extension CoreDataStoreModel {
    /// Where the model comes from, in words.
    fileprivate var text: String {
        let hashes = hasMatchingHashes.map { $0 ? ", its hashes match" : ", its hashes differ" } ?? ""
        return switch origin {
        case .cache: "\(file.model.name), the copy in the store\(hashes)"
        case .file(let version): "version \(version) of the file\(hashes)"
        case .given: "\(file.model.name)\(hashes)"
        case .inferred: "inferred from the tables"
        }
    }
}

/// A store as `strata coredata info --json` prints it. The stored properties are the members of the JSON.
private struct CoreDataInfoReport: Encodable {
    struct EntityReport: Encodable {
        let name: String
        let strataName: String?
        let number: Int
        let inherits: String?
        let isAbstract: Bool
        let table: String
        let count: Int
        let hasMatchingHash: Bool?
    }

    let identifier: String
    let frameworkVersion: Int?
    let modelOrigin: String
    let modelVersion: String?
    let hasMatchingHashes: Bool?
    let versionIdentifiers: [String]
    let checksum: String?
    let applicationKeys: [String]
    let entities: [EntityReport]
    let transactionCount: Int?
    let isCloudMirrored: Bool
    let fileSize: Int
    let logSize: Int
    let externalCount: Int
    let externalSize: Int
    let problems: [String]?
    let warnings: [String]

    init(_ info: CoreDataStoreInfo) {
        identifier = info.metadata.identifier.uuidString
        frameworkVersion = info.metadata.frameworkVersion
        var version: String?
        switch info.model.origin {
        case .cache: modelOrigin = "cache"
        case .file(let name):
            modelOrigin = "file"
            version = name
        case .given: modelOrigin = "given"
        case .inferred: modelOrigin = "inferred"
        }
        modelVersion = version
        hasMatchingHashes = info.model.hasMatchingHashes
        versionIdentifiers = info.metadata.versionIdentifiers
        checksum = info.metadata.checksum
        applicationKeys = info.metadata.applicationKeys
        entities = info.entities.map {
            EntityReport(
                name: $0.name, strataName: $0.strataName, number: $0.number, inherits: $0.parent,
                isAbstract: $0.isAbstract, table: $0.table, count: $0.count,
                hasMatchingHash: $0.hasMatchingHash)
        }
        transactionCount = info.transactionCount
        isCloudMirrored = info.isCloudMirrored
        fileSize = info.fileSize
        logSize = info.logSize
        externalCount = info.externalCount
        externalSize = info.externalSize
        problems = info.problems
        warnings = info.warnings
    }
}
