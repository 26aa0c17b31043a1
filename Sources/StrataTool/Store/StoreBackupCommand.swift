import ArgumentParser
import Foundation
import StrataSQLite

/// `strata store backup`: a copy of a store that may be in use. Needs no model.
struct StoreBackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copies a store as it is at one moment, while programs use it.",
        discussion: """
            The copy is a store like any other, with the values that are in files of their own. To restore it, end the programs \
            that use the store, and put the copy and its folder "-blobs" in the place of the original and its folder.

            EXAMPLE:
              strata store backup app.sqlite backups/today.sqlite
            """)

    @Argument(help: "A SQLite store.", completion: .file())
    var path: String

    @Argument(help: "The new file. There must not be one yet.", completion: .file())
    var target: String

    func run() throws {
        do throws(StoreError) {
            let report = try SQLiteStore.backUp(path, to: target)
            let sizes = ByteCountFormatter()
            let files =
                report.externalCount == 0
                ? "" : ", and \(report.externalCount) files, \(sizes.string(fromByteCount: Int64(report.externalSize)))"
            print("\(target): \(sizes.string(fromByteCount: Int64(report.fileSize)))\(files)")
        } catch {
            Output.fail(error.description)
            throw ExitCode.failure
        }
    }
}
