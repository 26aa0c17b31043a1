import ChildProcesses
import Foundation

/// Runs the `strata` tool, and the programs next to it.
enum StrataTool {
    /// What it printed, and how it ended.
    struct Run {
        let output: String
        let errors: String
        let status: Int32

        /// The output as a JSON object.
        func json() throws -> [String: Any] {
            guard let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any] else {
                throw CocoaError(.propertyListReadCorrupt)
            }
            return object
        }
    }

    /// A file or folder of this package, by its path from there.
    static func file(ofPackage path: String) -> URL {
        var package = URL(filePath: #filePath)
        // The file, and the folders Tools, ProcessTests and Tests.
        for _ in 0..<4 { package.deleteLastPathComponent() }
        return package.appending(path: path)
    }

    static func run(_ arguments: String...) throws -> Run { try run(arguments) }

    /// - Parameters:
    ///   - tool: The program.
    ///   - input: A file that the tool reads as its standard input; nil for an empty one.
    static func run(_ arguments: [String], of tool: String = "strata", input: URL? = nil) throws -> Run {
        let process = Process()
        process.executableURL = try TestExecutable.named(tool)
        process.arguments = arguments
        process.standardInput = try input.map { try FileHandle(forReadingFrom: $0) } ?? FileHandle.nullDevice
        let output = Pipe.forLaunch()
        let errors = Pipe.forLaunch()
        process.standardOutput = output
        process.standardError = errors
        try process.start()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let complaints = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return Run(output: text, errors: complaints, status: process.terminationStatus)
    }
}
