import Foundation
import SnippetCompiler
import StrataModelFiles
import Testing

/// Examples in doc comments compile, with the modules that this test run was built with.
@Suite struct CommentExampleTests {
    /// The modules that apps can import.
    static let modules: [String] = {
        let folders = try? FileManager.default.contentsOfDirectory(
            atPath: SnippetCompiler.root.appending(path: "Sources").path)
        return (folders ?? []).filter {
            $0.hasPrefix("Strata") && !$0.hasPrefix("StrataCSQL") && !$0.hasPrefix("StrataCPostgres")
                && !$0.hasSuffix("Tool")
        }.sorted()
    }()

    /// The traits of this build, for the conditions around examples.
    private var traits: [String] {
        var traits: [String] = []
        #if Remote
            traits.append("Remote")
        #endif
        #if Server
            traits.append("Server")
        #endif
        #if AsyncHTTP
            traits.append("AsyncHTTP")
        #endif
        #if Postgres
            traits.append("Postgres")
        #endif
        return traits
    }

    @Test("Code in doc comments is shown as code, in a language that we know")
    func form() throws {
        for module in Self.modules {
            for fault in try CommentExample.all(ofModule: module).faults { Issue.record("\(fault)") }
        }
    }

    @Test("Each Swift example compiles, without warnings that a reader would see")
    func swift() throws {
        var sources = try classes()
        var count = 0
        for module in Self.modules {
            let examples = try CommentExample.all(ofModule: module).examples
            count += examples.count
            sources += try ExampleSource(module: module, examples: examples).sources()
        }
        #expect(count > 150, "the examples are not found")
        let report = try compile(sources)
        for finding in report.errors + Self.relevant(report.warnings) { Issue.record("\(finding)") }
        #expect(report.exitCode == 0, "\(report.output.suffix(2_000))")
    }

    @Test("Each model in YAML can be read")
    func yaml() throws {
        let examples = try Self.modules.flatMap { try CommentExample.all(ofModule: $0).examples }
            .filter { $0.language == "yaml" }
        #expect(!examples.isEmpty)
        for example in examples {
            #expect(throws: Never.self, "\(example.place)") {
                try ModelFile.read(yaml: example.text, path: "Example.strata.yaml")
            }
        }
    }

    @Test("A wrong example is reported with its own file and line")
    func wrongExample() throws {
        var reader = CommentReader(file: "Sources/Strata/Wrong.swift")
        reader.read(
            """
            /// Saves.
            ///
            ///     let context = container.newContext()
            ///     try context.safe()
            ///
            ///     let number: Int = "three"
            func save() {}

            /// Says what is there, with a value that the macro finds.
            ///
            /// ```swift
            /// import Testing
            ///
            /// #expect(1 == "one")
            /// ```
            func check() {}
            """)
        let report = try compile(
            try classes() + ExampleSource(module: "Strata", examples: reader.examples).sources())
        #expect(report.exitCode != 0)
        #expect(Set(report.errors.map(\.path)) == ["Sources/Strata/Wrong.swift"], "\(report.errors)")
        #expect(Set(report.errors.map(\.line)) == [4, 6, 14], "\(report.errors)")
    }

    @Test("An example with a call that no longer throws, or need not be awaited, is reported")
    func needlessWords() throws {
        var reader = CommentReader(file: "Sources/Strata/Wrong.swift")
        reader.read(
            """
            /// Counts.
            ///
            ///     let words = try "a b".split(separator: " ")
            ///     let count = await words.count
            """)
        let report = try compile(
            try classes() + ExampleSource(module: "Strata", examples: reader.examples).sources())
        #expect(Self.relevant(report.warnings).map(\.line) == [3, 4], "\(report.warnings)")
    }

    /// Warnings about code that is wrong. That a value is not used is what examples are like.
    private static func relevant(_ warnings: [SnippetCompiler.Finding]) -> [SnippetCompiler.Finding] {
        warnings.filter { warning in
            !["never used", "unused", "never mutated", "never read"].contains { warning.message.contains($0) }
        }
    }

    private func compile(_ sources: [SnippetCompiler.Source]) throws -> SnippetCompiler.Report {
        let compiler = try SnippetCompiler()
        defer { compiler.finish() }
        // The later passes, too: they find objects that leave their isolation.
        return try compiler.compile(
            sources, as: "examples", ["-emit-sil", "-o", "/dev/null"] + traits.flatMap { ["-D", $0] })
    }

    /// The classes that examples use: generated from the Gazetteer's model and two others.
    private func classes() throws -> [SnippetCompiler.Source] {
        let models = [
            "Models/Gazetteer", "Tests/CommentExampleTests/Names/Samples", "Tests/GuideTests/Models/Travel",
        ]
        let shared = try String(
            contentsOf: SnippetCompiler.root.appending(path: "Tests/CommentExampleTests/Names/Shared.swift"),
            encoding: .utf8)
        return try [SnippetCompiler.Source(name: "Shared", text: shared)]
            + models.flatMap { model in
                let file = try ModelFile.read(
                    path: SnippetCompiler.root.appending(path: "\(model)\(ModelFile.fileEnding)").path)
                return try CodeGenerator(file: file).files().map { file in
                    SnippetCompiler.Source(name: String(file.name.dropLast(".swift".count)), text: file.text)
                }
            }
    }
}
