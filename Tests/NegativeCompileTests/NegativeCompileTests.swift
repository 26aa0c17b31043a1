import Foundation
import SnippetCompiler
import Testing

/// Objects and contexts cannot leave the isolation domain that they live in: the compiler says so for every way out
/// that we know. And it says so of typed conditions that mean nothing.
@Suite struct NegativeCompileTests {
    @Test("The twins of all leaks compile: the command line is right, and each idea has a right way")
    func twins() throws {
        let (errors, report) = try compile(
            Snippet.all.map { ($0.name, $0.twin) }, as: "twins", ["-emit-sil", "-o", "/dev/null"])
        for (name, errors) in errors { Issue.record("\(name) should compile: \(errors)") }
        #expect(report.exitCode == 0, "\(report.output.suffix(2_000))")
    }

    @Test("Leaks that types forbid do not compile")
    func types() throws { try check(.types, flags: ["-typecheck"]) }

    @Test("Leaks that only the flow of values shows do not compile")
    func flow() throws { try check(.flow, flags: ["-emit-sil", "-o", "/dev/null"]) }

    @Test("There are many of them, each with a name of its own")
    func count() {
        #expect(Snippet.all.count >= 40)
        #expect(Set(Snippet.all.map(\.name)).count == Snippet.all.count)
        #expect(Snippet.all.allSatisfy { $0.leak != $0.twin })
    }

    private func check(_ phase: Snippet.Phase, flags: [String]) throws {
        let snippets = Snippet.all.filter { $0.phase == phase }
        let (found, report) = try compile(snippets.map { ($0.name, $0.leak) }, as: "\(phase)", flags)
        #expect(report.exitCode == 1, "\(report.output.suffix(2_000))")
        #expect(found["Prelude"] == nil, "\(report.output.suffix(2_000))")
        for snippet in snippets {
            let errors = found[snippet.name] ?? []
            #expect(
                errors.contains { $0.contains(snippet.expected) },
                "\(snippet.name): expected “\(snippet.expected)”, got \(errors.isEmpty ? ["no error"] : errors)")
        }
    }

    /// Compiles sources with the prelude.
    /// - Returns: The errors of each source, by its name, and everything that the compiler said.
    private func compile(
        _ sources: [(name: String, text: String)], as group: String, _ flags: [String]
    ) throws -> (errors: [String: [String]], report: SnippetCompiler.Report) {
        let compiler = try SnippetCompiler()
        defer { compiler.finish() }
        let files = [("Prelude", Snippet.prelude)] + sources.map { ($0.name, Snippet.imports + $0.text) }
        let report = try compiler.compile(
            files.map { .init(name: $0.0, text: $0.1) }, as: group, ["-suppress-warnings"] + flags)
        var errors: [String: [String]] = [:]
        for error in report.errors {
            let name = URL(fileURLWithPath: error.path).deletingPathExtension().lastPathComponent
            errors[name, default: []].append(error.message)
        }
        return (errors, report)
    }
}
