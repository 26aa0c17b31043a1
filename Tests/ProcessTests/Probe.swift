import ChildProcesses
import Foundation
import Strata
import Testing

/// A process that inserts objects and saves them in one go, or does what its mode says.
final class Probe {
    private let process = Process()
    private let pipe = Pipe.forLaunch()
    private var seen = ""

    init(store: URL, count: Int, mode: String? = nil) throws {
        process.executableURL = try TestExecutable.named("CrashProbe")
        process.arguments = [store.path, String(count)] + (mode.map { [$0] } ?? [])
        process.standardOutput = pipe
        try process.start()
    }

    deinit { if process.isRunning { kill() } }

    func wait(for word: String) throws {
        while !seen.contains(word + "\n") {
            let data = pipe.fileHandleForReading.availableData
            try #require(!data.isEmpty, "the probe ended before it said \(word)")
            seen += String(decoding: data, as: UTF8.self)
        }
    }

    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func end() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }
}
