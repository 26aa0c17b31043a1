import Foundation
import StrataSQLite

/// Checks what a store needs of the system: the SQLite library, the Swift runtime, a folder for temporary files.
enum EnvironmentExamination {
    static func findings() -> [Finding] {
        var report = Examination("environment")
        examineSQLite(&report)
        report.ok("swift", "built with \(compiler), running on \(ProcessInfo.processInfo.operatingSystemVersionString)")
        let folder = FileManager.default.temporaryDirectory.path
        if FileManager.default.isWritableFile(atPath: folder) {
            report.ok("temporaryFiles", "temporary files can be written to \(folder)")
        } else {
            report.fail(
                "temporaryFiles", "temporary files cannot be written to \(folder), so large sorts and migrations fail",
                advice: "make the folder writable, or set TMPDIR to one that is")
        }
        return report.findings
    }

    private static func examineSQLite(_ report: inout Examination) {
        let version = SQLiteVersion.libraryText
        if SQLiteVersion.isSupported {
            report.ok("sqlite", "SQLite \(version); Strata needs \(SQLiteVersion.minimumText) or newer")
        } else {
            report.fail(
                "sqlite", "SQLite \(version) is too old; Strata needs \(SQLiteVersion.minimumText) or newer",
                advice: "install a newer SQLite library, for instance with the system's package manager")
        }
        if !SQLiteVersion.isThreadSafe {
            report.fail(
                "threads", "the SQLite library is built without thread safety (SQLITE_THREADSAFE=0)",
                advice: "install a SQLite library that is built with SQLITE_THREADSAFE=1 or 2")
        }
        for (option, feature) in [("ENABLE_FTS5", "full-text indexes"), ("ENABLE_RTREE", "spatial indexes")] {
            if SQLiteVersion.isBuilt(with: option) {
                report.ok(option, "\(feature) are available (\(option))")
            } else {
                report.warn(
                    option, "\(feature) are not available: the SQLite library is built without \(option)",
                    advice: "models with \(feature) need a SQLite library that is built with SQLITE_\(option)")
            }
        }
    }

    private static var compiler: String {
        #if compiler(>=6.4)
            "Swift 6.4 or newer"
        #elseif compiler(>=6.3)
            "Swift 6.3"
        #else
            "Swift 6.2"
        #endif
    }
}
