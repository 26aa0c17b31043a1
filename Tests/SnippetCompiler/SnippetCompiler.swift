import ChildProcesses
import Foundation

/// Runs the Swift compiler over snippets, with the modules that this very test run was built with.
public struct SnippetCompiler {
    /// A file to compile.
    public struct Source: Sendable {
        /// The name of the file, without its ending.
        public let name: String
        /// All of its code.
        public let text: String

        public init(name: String, text: String) {
            self.name = name
            self.text = text
        }
    }

    /// Something that the compiler found.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// The path that the compiler names: of the compiled file, or the one that `#sourceLocation` gave.
        public let path: String
        public let line: Int
        public let message: String

        public var description: String { "\(path):\(line): \(message)" }
    }

    /// Everything that the compiler said.
    public struct Report: Sendable {
        public let errors: [Finding]
        public let warnings: [Finding]
        public let output: String
        public let exitCode: Int32
    }

    struct Failure: Error, CustomStringConvertible { let description: String }

    private let modules: URL
    private let folder: URL

    public init() throws {
        modules = try Self.findModules()
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-snippets-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Removes the files.
    public func finish() {
        // In the system's temporary folder; a failure leaves litter there, no wrong result.
        try? FileManager.default.removeItem(at: folder)
    }

    /// Compiles sources together, each in a file of its own.
    /// - Parameters:
    ///   - sources: The files.
    ///   - group: The name of the folder for the files.
    ///   - flags: `-typecheck`, or `-emit-sil` for the later passes, too.
    public func compile(_ sources: [Source], as group: String, _ flags: [String]) throws -> Report {
        let place = folder.appendingPathComponent(group)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        var files: [String] = []
        for source in sources {
            let file = place.appendingPathComponent("\(source.name).swift")
            try Data(source.text.utf8).write(to: file)
            files.append(file.path)
        }
        return try run(flags + files, log: place.appendingPathComponent("log.txt"))
    }

    private func run(_ arguments: [String], log: URL) throws -> Report {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            [
                "swiftc", "-swift-version", "6", "-wmo", "-parse-as-library", "-module-name", "Snippets",
                "-diagnostic-style", "llvm", "-I", modules.path,
            ] + moduleMaps().flatMap { ["-Xcc", "-fmodule-map-file=\($0.path)"] }
            + Self.postgresFlags().flatMap { ["-Xcc", $0] } + arguments
        // Into a file: a pipe that nobody empties would block the compiler.
        try Data().write(to: log)
        let handle = try FileHandle(forWritingTo: log)
        process.standardError = handle
        process.standardOutput = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        try handle.close()
        let text = String(decoding: try Data(contentsOf: log), as: UTF8.self)
        return Report(
            errors: Self.findings(": error: ", in: text), warnings: Self.findings(": warning: ", in: text),
            output: text, exitCode: process.terminationStatus)
    }

    /// The findings of a kind, without those that the compiler repeats. One in the expansion of a macro is where the macro is
    /// used.
    private static func findings(_ kind: String, in text: String) -> [Finding] {
        var seen: Set<Finding> = []
        let lines = text.split(separator: "\n")
        return lines.indices.compactMap { index in
            guard let range = lines[index].range(of: kind) else { return nil }
            var place = lines[index][..<range.lowerBound]
            if place.contains("@__swiftmacro") {
                let notes = lines[(index + 1)...].prefix { !$0.contains(": error: ") && !$0.contains(": warning: ") }
                for note in notes {
                    guard let end = note.range(of: ": note: in expansion of macro")?.lowerBound else { continue }
                    place = note[..<end]
                }
            }
            let parts = place.split(separator: ":")
            let finding = Finding(
                path: parts.first.map(String.init) ?? "", line: parts.dropFirst().first.flatMap { Int($0) } ?? 0,
                message: String(lines[index][range.upperBound...]))
            return seen.insert(finding).inserted ? finding : nil
        }
    }

    /// The module maps of SQLite, of libpq, and of the C targets that this build consists of.
    private func moduleMaps() -> [URL] {
        let manager = FileManager.default
        var maps = [Self.sqliteModuleMap]
        // Not `.build/debug`, a link: what is near it is found from the place that it leads to.
        let build = (modules.lastPathComponent == "Modules" ? modules.deletingLastPathComponent() : modules)
            .resolvingSymlinksInPath()
        let names = ((try? manager.contentsOfDirectory(atPath: build.path)) ?? [])
            .filter { $0.hasSuffix(".build") && !$0.hasSuffix("-tool.build") }.map { String($0.dropLast(6)) }
        // SwiftPM writes a map for a C target that does not bring one.
        maps += names.map { build.appendingPathComponent("\($0).build/module.modulemap") }
        if names.contains("StrataPostgres") {
            maps.append(Self.root.appendingPathComponent("Sources/StrataCPostgres/module.modulemap"))
        }
        let checkouts = build.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
            "checkouts")
        for package in (try? manager.contentsOfDirectory(atPath: checkouts.path)) ?? [] {
            let sources = checkouts.appendingPathComponent("\(package)/Sources")
            maps += names.map { sources.appendingPathComponent("\($0)/include/module.modulemap") }
        }
        return maps.filter { manager.fileExists(atPath: $0.path) }
    }

    /// Where the headers of libpq are; nothing if it is not installed.
    private static func postgresFlags() -> [String] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["pkg-config", "--cflags", "libpq"]
        let pipe = Pipe.forLaunch()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        // Without libpq, the modules are without the PostgreSQL store, too, and need no headers.
        guard (try? process.start()) != nil else { return [] }
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
    }

    /// The folder of the repository.
    public static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The module map of SQLite.
    public static var sqliteModuleMap: URL { root.appendingPathComponent("Sources/StrataCSQLite/module.modulemap") }

    /// The triple of the machine.
    public static var target: String {
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
    public static func findModules() throws -> URL {
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
