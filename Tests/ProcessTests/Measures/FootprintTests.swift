#if os(Linux)
    import ChildProcesses
    import Foundation
    import Testing

    /// The threads and the memory that a process needs. It is a process of its own, because the tests of this one run at the
    /// same time.
    @Suite struct FootprintTests {
        /// Runs the probe.
        /// - Returns: The numbers that it prints after a word.
        private func probe(_ count: Int, _ mode: String, _ word: String) throws -> [Int] {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-probe-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let process = Process()
            process.executableURL = try TestExecutable.named("CrashProbe")
            process.arguments = [folder.appending(path: "store.sqlite").path, "\(count)", mode]
            let pipe = Pipe.forLaunch()
            process.standardOutput = pipe
            try process.start()
            let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            try #require(process.terminationStatus == 0)
            let words = output.split(whereSeparator: \.isWhitespace)
            try #require(words.first.map(String.init) == word, "\(output)")
            return words.dropFirst().compactMap { Int($0) }
        }

        @Test("Thousands of tasks that write at once need few threads")
        func threads() throws {
            let count = try #require(try probe(2_000, "tasks", "threads").first)
            #expect(count < 16 + 4 * ProcessInfo.processInfo.activeProcessorCount, "\(count) threads")
        }

        @Test("A million changes past an idle background context leave the memory as it was")
        func idleContext() throws {
            let memory = try probe(1_000_000, "idle", "memory")
            try #require(memory.count == 2)
            print("memory past an idle context: \(memory[0]) KB after 100,000 changes, \(memory[1]) KB after 1,000,000")
            #expect(memory[1] < memory[0] + 16 * 1024)
        }
    }
#endif
