import Foundation
import Testing

/// Objects and contexts cannot leave the isolation domain that they live in: the compiler says so for every way out
/// that we know. And it says so of typed conditions that mean nothing.
@Suite struct NegativeCompileTests {
    @Test("The twins of all leaks compile: the command line is right, and each idea has a right way")
    func twins() throws {
        let compiler = try Compiler()
        defer { compiler.finish() }
        let (reports, output) = try compiler.compile(
            Snippet.all.map { ($0.name, $0.twin) }, as: "twins", ["-emit-sil", "-o", "/dev/null", "-suppress-warnings"])
        for (name, report) in reports { Issue.record("\(name) should compile: \(report.errors)") }
        #expect(output.hasSuffix("exit code 0"), "\(output.suffix(2_000))")
    }

    @Test("Leaks that types forbid do not compile")
    func types() throws { try check(.types, flags: ["-typecheck", "-suppress-warnings"]) }

    @Test("Leaks that only the flow of values shows do not compile")
    func flow() throws { try check(.flow, flags: ["-emit-sil", "-o", "/dev/null", "-suppress-warnings"]) }

    @Test("There are many of them, each with a name of its own")
    func count() {
        #expect(Snippet.all.count >= 40)
        #expect(Set(Snippet.all.map(\.name)).count == Snippet.all.count)
        #expect(Snippet.all.allSatisfy { $0.leak != $0.twin })
    }

    private func check(_ phase: Snippet.Phase, flags: [String]) throws {
        let compiler = try Compiler()
        defer { compiler.finish() }
        let snippets = Snippet.all.filter { $0.phase == phase }
        let (reports, output) = try compiler.compile(snippets.map { ($0.name, $0.leak) }, as: "\(phase)", flags)
        #expect(output.hasSuffix("exit code 1"), "\(output.suffix(2_000))")
        #expect(reports["Prelude"] == nil, "\(output.suffix(2_000))")
        for snippet in snippets {
            let errors = reports[snippet.name]?.errors ?? []
            #expect(
                errors.contains { $0.contains(snippet.expected) },
                "\(snippet.name): expected “\(snippet.expected)”, got \(errors.isEmpty ? ["no error"] : errors)")
        }
    }
}
