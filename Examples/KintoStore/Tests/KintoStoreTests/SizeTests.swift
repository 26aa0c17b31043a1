import Foundation
import Testing

/// A store for another service is not much work.
@Suite struct SizeTests {
    /// Counted are the lines in `Sources` that have code: neither blank ones nor those with only a comment.
    @Test("The store has fewer than 400 lines of code") func lines() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/KintoStore")
        let files = try FileManager.default.contentsOfDirectory(at: sources, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "swift" }
        #expect(!files.isEmpty)
        var count = 0
        for file in files {
            count += try String(contentsOf: file, encoding: .utf8).split(separator: "\n").count { line in
                let code = line.trimmingCharacters(in: .whitespaces)
                return !code.isEmpty && !code.hasPrefix("//")
            }
        }
        #expect(count < 400)
    }
}
