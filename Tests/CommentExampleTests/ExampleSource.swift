import Foundation
import SnippetCompiler

/// Source files with all Swift examples of a module, each in a function of its own.
///
/// `Names/MODULE.swift` declares the few names that the examples of a module use and do not declare: `context`, `model`.
/// An example that imports modules is in a file of its own.
struct ExampleSource {
    /// The traits without which a module is empty.
    static let traits = ["StrataAsyncHTTP": "AsyncHTTP", "StrataPostgres": "Postgres", "StrataServer": "Server"]

    let module: String
    let examples: [CommentExample]

    /// What the compiler gets.
    func sources() throws -> [SnippetCompiler.Source] {
        let swift = examples.filter { $0.language == "swift" }
        let importing = swift.filter { !$0.imports.isEmpty }
        return try [source(of: swift.filter(\.imports.isEmpty), named: "\(module)Examples")]
            + importing.enumerated().map { try source(of: [$1], named: "\(module)Examples\($0)") }
    }

    private func source(of examples: [CommentExample], named name: String) throws -> SnippetCompiler.Source {
        var text = "import Foundation\nimport Strata\nimport \(module)\n"
        for example in examples where !example.imports.isEmpty {
            text += conditional(example, example.imports.joined(separator: "\n") + "\n")
        }
        let names = "Tests/CommentExampleTests/Names/\(module).swift"
        let place = SnippetCompiler.root.appending(path: names)
        if FileManager.default.fileExists(atPath: place.path) {
            text += located(try String(contentsOf: place, encoding: .utf8), in: names, from: 1)
        }
        for (number, example) in examples.enumerated() { text += conditional(example, function(of: example, number)) }
        return .init(name: name, text: text)
    }

    /// Code under the conditions of an example: those around its comment, and the traits of what it imports.
    private func conditional(_ example: CommentExample, _ code: String) -> String {
        let conditions = example.conditions + example.imports.compactMap { Self.traits[String($0.dropFirst(7))] }
        return conditions.map { "#if \($0)\n" }.joined() + code + conditions.map { _ in "#endif\n" }.joined()
    }

    private func function(of example: CommentExample, _ number: Int) -> String {
        let (declarations, statements) = example.parts
        var text = ""
        if declarations.contains(where: { !$0.isEmpty }) {
            text += located(declarations.joined(separator: "\n"), in: example.file, from: example.line)
        }
        // Many methods exist twice: in asynchronous functions, the compiler takes the form that needs `await`.
        let effects = example.lines.contains { $0.contains("await ") } ? "async throws" : "throws"
        text += "@MainActor private func example\(number)() \(effects) {\n"
        text += located(statements.joined(separator: "\n"), in: example.file, from: example.line)
        return text + "}\n"
    }

    private func located(_ code: String, in file: String, from line: Int) -> String {
        "#sourceLocation(file: \"\(file)\", line: \(line))\n\(code)\n#sourceLocation()\n"
    }
}

extension CommentExample {
    /// The lines that import modules.
    var imports: [String] { lines.filter { $0.hasPrefix("import ") } }

    /// What belongs outside of functions, and the rest. Each has all lines, so that line numbers remain; lines of the other
    /// part are empty.
    ///
    /// Swift allows no extensions in functions. If an example has some, all of its declarations of types are outside.
    var parts: (declarations: [String], statements: [String]) {
        let code = lines.map { $0.hasPrefix("import ") ? "" : $0 }
        guard code.contains(where: { $0.hasPrefix("extension ") }) else { return (code.map { _ in "" }, code) }
        let starts = ["extension ", "struct ", "enum ", "class ", "final class ", "actor ", "protocol "]
        var declarations: [String] = []
        var statements: [String] = []
        var isInside = false
        for line in code {
            let isStart = starts.contains { line.hasPrefix($0) }
            declarations.append(isInside || isStart ? line : "")
            statements.append(isInside || isStart ? "" : line)
            if isStart { isInside = !line.hasSuffix("}") } else if line == "}" { isInside = false }
        }
        return (declarations, statements)
    }
}
