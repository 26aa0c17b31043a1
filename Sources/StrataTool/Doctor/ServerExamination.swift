import Foundation

/// Checks a configuration of strata-server with that program, which may be missing: it needs a trait of its own.
enum ServerExamination {
    static func findings(_ path: String) -> [Finding] {
        var report = Examination("configuration \(path)")
        guard FileManager.default.fileExists(atPath: path) else {
            report.fail("configuration", "there is no file at \(path)", advice: "check the path")
            return report.findings
        }
        guard let program = program() else {
            report.fail(
                "configuration",
                "cannot be checked: the program strata-server was found neither next to strata nor in PATH",
                advice:
                    "build it with make server, or run strata-server check-config --config \(path) where it is installed"
            )
            return report.findings
        }
        do {
            let (status, errors) = try run(program, ["check-config", "--config", path])
            if status == 0 {
                report.ok("configuration", "strata-server accepts it")
            } else {
                report.fail(
                    "configuration",
                    errors.isEmpty
                        ? "strata-server refuses it with status \(status)" : errors.replacing("Error: ", with: ""),
                    advice: "correct it; strata-server check-config --config \(path) explains who may do what")
            }
        } catch {
            report.fail(
                "configuration", "\(program.path) could not be run: \(error.localizedDescription)",
                advice: "check that the file may be executed")
        }
        return report.findings
    }

    private static func program() -> URL? {
        let own = Bundle.main.executableURL?.deletingLastPathComponent().path
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return ([own].compactMap(\.self) + folders).lazy.map {
            URL(fileURLWithPath: $0).appending(path: "strata-server")
        }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    private static func run(_ program: URL, _ arguments: [String]) throws -> (status: Int32, errors: String) {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
