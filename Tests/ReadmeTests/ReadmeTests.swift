import Foundation
import Strata
import Testing

/// The README's example is a file of this target, so the compiler reads it; and it does what the README says.
@Suite struct ReadmeTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func exampleIsTheOneInTheReadme() throws {
        let readme = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
        let example = try String(
            contentsOf: Self.root.appending(path: "Tests/ReadmeTests/Example.swift"), encoding: .utf8)
        let model = try String(
            contentsOf: Self.root.appending(path: "Tests/ReadmeTests/Library.strata.yaml"), encoding: .utf8)
        #expect(
            readme.contains("```swift\n\(example)```"),
            "the README's example differs from Tests/ReadmeTests/Example.swift")
        #expect(
            readme.contains("```yaml\n\(model)```"),
            "the README's model differs from Tests/ReadmeTests/Library.strata.yaml")
    }

    @Test func exampleRuns() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "readme-\(UUID().uuidString).sqlite").path
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        try example(path: path)
        let context = try PersistentContainer(LibraryModel.self, at: .file(path: path)).newContext()
        #expect(try context.count(FetchRequest<Author>()) == 0)
        #expect(try context.count(FetchRequest<Book>()) == 0)
    }
}
