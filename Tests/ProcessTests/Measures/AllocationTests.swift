import ChildProcesses
import Foundation
import Testing

/// Reading a loaded property allocates nothing but a long string's own storage. Counted in a process of its own, where
/// nothing else allocates.
@Suite struct AllocationTests {
    @Test func readingLoadedPropertiesAllocatesNothing() throws {
        let process = Process()
        process.executableURL = try TestExecutable.named("AllocationProbe")
        let pipe = Pipe.forLaunch()
        process.standardOutput = pipe
        try process.start()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        var counts: [String: String] = [:]
        for line in output.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2 { counts[String(words[0])] = String(words[1]) }
        }
        try #require(counts.count == 8, "\(output)")
        guard counts["integer"] != "uncounted" else { return }
        for kind in ["integer", "double", "date", "boolean", "nil", "short", "toOne"] {
            #expect(counts[kind] == "0", "\(kind): \(counts[kind] ?? "") allocations in 1,000 reads")
        }
        // The counter counts: a long string has storage of its own.
        #expect(counts["long"] == "1000")
    }
}
