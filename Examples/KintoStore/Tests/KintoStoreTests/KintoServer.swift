import Foundation

/// A Kinto server with its memory back end, on loopback. It ends with the tests, because it ends when its input does.
///
/// `@unchecked Sendable`: nothing is changed after the start.
final class KintoServer: @unchecked Sendable {
    /// The server of all tests. Each test has a user, and with that a personal bucket, of its own.
    static func shared() async throws -> KintoServer { try await common.value }

    private static let common = Task { try await KintoServer() }

    /// `http://127.0.0.1:8888/v1`.
    let address: String
    private let process: Process
    private let input: Pipe

    /// Starts a server.
    /// - Parameter page: The most records of an answer.
    init(page: Int = 100) async throws {
        let process = Process()
        process.executableURL = try await KintoInstallation.python()
        process.arguments = [
            URL(filePath: #filePath).deletingLastPathComponent().appending(path: "kinto-server.py").path, "\(page)",
        ]
        process.standardError = FileHandle.nullDevice
        let (input, output) = try launches.withLock {
            let (input, output) = (Pipe(), Pipe())
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            return (input, output)
        }
        self.process = process
        self.input = input
        let line = try await onThread { output.fileHandleForReading.availableData }
        guard let port = Int(String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
        else {
            throw KintoInstallation.Failure(description: "kinto-server.py did not start; run it by hand to see why")
        }
        address = "http://127.0.0.1:\(port)/v1"
    }

    /// Ends the server.
    func stop() async throws {
        try input.fileHandleForWriting.close()
        try await onThread { [process] in process.waitUntilExit() }
    }
}

/// Kinto in a virtual environment in the package's build folder.
enum KintoInstallation {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The interpreter of the environment, which is made at the first use.
    static func python() async throws -> URL { try await installation.value }

    /// Whether tests with a server can run. With `KINTO_REQUIRED=1` they run in any case, and fail with the reason.
    static func isThere() async -> Bool {
        if ProcessInfo.processInfo.environment["KINTO_REQUIRED"] == "1" { return true }
        return await reasonAgainst.value == nil
    }

    /// Why there is no Kinto; nil if there is one. It is printed once.
    private static let reasonAgainst = Task { () async -> String? in
        do {
            _ = try await python()
            return nil
        } catch {
            print("The tests with Kinto are skipped: \(error)")
            return "\(error)"
        }
    }

    private static let installation = Task {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folder = package.appending(path: ".build/kinto")
        let python = folder.appending(path: "bin/python")
        if try await run([python.path, "-c", "import kinto"]) != 0 {
            guard try await run(["python3", "-m", "venv", folder.path]) == 0 else {
                throw Failure(description: "there is no Python 3 with the module venv")
            }
            guard try await run([python.path, "-m", "pip", "install", "--quiet", "kinto>=19"]) == 0 else {
                throw Failure(description: "pip could not install the package kinto")
            }
        }
        return python
    }

    private static func run(_ command: [String]) async throws -> Int32 {
        try await onThread {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = command
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try launches.withLock { try process.run() }
            process.waitUntilExit()
            return process.terminationStatus
        }
    }
}

/// One process is started at a time. On Linux, a process that starts while another is started can inherit its pipes and the
/// socket by which Foundation learns of its end; `waitUntilExit` then waits for both
/// (https://github.com/swiftlang/swift-corelibs-foundation/issues/4795).
private let launches = NSLock()

/// Runs what blocks on a thread of its own.
private func onThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}
