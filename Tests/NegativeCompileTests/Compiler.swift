import Foundation
import Testing

/// Runs the Swift compiler over snippets, with the modules that this very test run was built with.
struct Compiler {
    /// What the compiler said of one file.
    struct Report: Sendable {
        var errors: [String] = []
    }

    struct Failure: Error, CustomStringConvertible { let description: String }

    private let modules: URL
    private let folder: URL

    init() throws {
        modules = try Self.findModules()
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-negative-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Removes the files.
    func finish() {
        // In the system's temporary folder; a failure leaves litter there, no wrong result.
        try? FileManager.default.removeItem(at: folder)
    }

    /// Compiles sources together, each in a file of its own, with the prelude.
    /// - Parameter flags: `-typecheck`, or `-emit-sil` for the later passes, too.
    /// - Returns: The errors of each file, by its name, and everything that the compiler said.
    func compile(_ sources: [(name: String, text: String)], as group: String, _ flags: [String]) throws -> (
        reports: [String: Report], output: String
    ) {
        let place = folder.appendingPathComponent(group)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        var files: [String] = []
        for (name, text) in [("Prelude", Snippet.prelude)] + sources.map({ ($0.name, Snippet.imports + $0.text) }) {
            let file = place.appendingPathComponent("\(name).swift")
            try Data(text.utf8).write(to: file)
            files.append(file.path)
        }
        let output = try run(flags + files, log: place.appendingPathComponent("log.txt"))
        var reports: [String: Report] = [:]
        for line in output.split(separator: "\n") {
            guard let range = line.range(of: ": error: ") else { continue }
            let file = line[..<range.lowerBound].split(separator: ":").first.map(String.init) ?? ""
            var name = URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
            if name.hasPrefix("@__swiftmacro") {
                // The file of an expansion is named after the declarations around it; those are named after their
                // snippet.
                name = sources.map(\.name).first { name.contains($0) } ?? name
            }
            reports[name, default: Report()].errors.append(String(line[range.upperBound...]))
        }
        return (reports, output)
    }

    private func run(_ arguments: [String], log: URL) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            [
                "swiftc", "-swift-version", "6", "-wmo", "-parse-as-library", "-module-name", "Leaks",
                "-diagnostic-style", "llvm",
                "-I", modules.path, "-Xcc", "-fmodule-map-file=\(Self.sqliteModuleMap.path)",
            ] + arguments
        // Into a file: a pipe that nobody empties would block the compiler.
        try Data().write(to: log)
        let handle = try FileHandle(forWritingTo: log)
        process.standardError = handle
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try handle.close()
        let text = String(decoding: try Data(contentsOf: log), as: UTF8.self)
        return text + "\nexit code \(process.terminationStatus)"
    }

    /// The module map of SQLite.
    static var sqliteModuleMap: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/StrataCSQLite/module.modulemap")
    }

    /// The triple of the machine.
    static var target: String {
        #if os(Linux)
            let system = "unknown-linux-gnu"
        #else
            let system = "apple-macosx15.0"
        #endif
        #if arch(arm64)
            return (system.hasPrefix("apple") ? "arm64-" : "aarch64-") + system
        #else
            return "x86_64-" + system
        #endif
    }

    /// The folder with `Strata.swiftmodule`, near the test bundle.
    static func findModules() throws -> URL {
        let manager = FileManager.default
        let starts = [CommandLine.arguments[0], Bundle.main.bundlePath] + Bundle.allBundles.map(\.bundlePath)
        for start in starts {
            var place = URL(fileURLWithPath: start).standardizedFileURL
            for _ in 0..<6 {
                place.deleteLastPathComponent()
                for candidate in [place.appendingPathComponent("Modules"), place]
                where manager.fileExists(atPath: candidate.appendingPathComponent("Strata.swiftmodule").path) {
                    return candidate
                }
            }
        }
        throw Failure(
            description:
                "Strata.swiftmodule is nowhere near \(starts.joined(separator: ", ")); run this suite with swift test")
    }
}
