#if os(Linux)
    import Foundation
    import Testing

    /// How many threads a process needs. It has a process of its own, because the tests of this one run at the same time.
    @Suite struct ThreadTests {
        @Test("Thousands of tasks that write at once need few threads")
        func tasks() throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "strata-threads-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let process = Process()
            process.executableURL = try TestExecutable.named("CrashProbe")
            process.arguments = [folder.appending(path: "store.sqlite").path, "2000", "tasks"]
            let pipe = Pipe()
            process.standardOutput = pipe
            try process.run()
            let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            let words = output.split(whereSeparator: \.isWhitespace)
            let count = try #require(words.count == 2 && words[0] == "threads" ? Int(words[1]) : nil, "\(output)")
            let processors = ProcessInfo.processInfo.activeProcessorCount
            #expect(count < 16 + 4 * processors, "\(count) threads")
        }
    }
#endif
