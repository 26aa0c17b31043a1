import Foundation
import SnippetCompiler

/// Code in a doc comment.
struct CommentExample: Sendable {
    /// The path of the source file, from the folder of the repository.
    let file: String
    /// The line of the file with the first line of the code.
    let line: Int
    /// `swift`, or the word after the fence.
    let language: String
    /// The code, without the comment's marks and the indentation.
    let lines: [String]
    /// The conditions around the comment, from the outermost: `Server`, `canImport(SwiftUI)`.
    let conditions: [String]

    var text: String { lines.joined(separator: "\n") }
    var place: String { "\(file):\(line)" }

    /// The examples of all sources of a module.
    static func all(ofModule module: String) throws -> (examples: [CommentExample], faults: [String]) {
        let folder = SnippetCompiler.root.appending(path: "Sources/\(module)")
        var examples: [CommentExample] = []
        var faults: [String] = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        where path.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            var reader = CommentReader(file: "Sources/\(module)/\(path)")
            reader.read(text)
            examples += reader.examples
            faults += reader.faults
        }
        return (examples, faults)
    }
}

/// Finds the code in the doc comments of a source file, by the rules of Markdown: lines in fences, and lines that are
/// indented by four spaces after an empty line.
struct CommentReader {
    /// What a fence may begin with. Indented code is always Swift.
    static let languages: Set<String> = ["swift", "yaml", "json", "sh", "http", "sql", "text"]

    let file: String
    private(set) var examples: [CommentExample] = []
    /// Code that a reader would not see as code, and fences without a language that we know.
    private(set) var faults: [String] = []

    /// The branches of a condition: those before, and the present one; nil after `#else`.
    private struct Branches {
        var before: [String] = []
        var present: String?

        var condition: String {
            guard !before.isEmpty else { return present ?? "" }
            return (before.map { "!(\($0))" } + (present.map { ["(\($0))"] } ?? [])).joined(separator: " && ")
        }
    }

    /// The conditions around the present line.
    private var conditions: [Branches] = []

    init(file: String) { self.file = file }

    mutating func read(_ text: String) {
        var comment: [Substring] = []
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.map({ $0.drop { $0 == " " } }).enumerated() {
            if line.hasPrefix("///") {
                comment.append(line.dropFirst(line.hasPrefix("/// ") ? 4 : 3))
                continue
            }
            if !comment.isEmpty { read(comment, from: index + 1 - comment.count) }
            comment = []
            follow(line)
        }
        if !comment.isEmpty { read(comment, from: lines.count + 1 - comment.count) }
    }

    /// Keeps the conditions up to date.
    private mutating func follow(_ line: Substring) {
        let condition = String(line.drop { $0 != " " }.dropFirst())
        if line.hasPrefix("#if ") {
            conditions.append(Branches(present: condition))
        } else if line.hasPrefix("#else"), var branches = conditions.popLast() {
            if let present = branches.present { branches.before.append(present) }
            branches.present = line.hasPrefix("#elseif ") ? condition : nil
            conditions.append(branches)
        } else if line.hasPrefix("#endif") {
            _ = conditions.popLast()
        }
    }

    private mutating func read(_ comment: [Substring], from first: Int) {
        var code: (start: Int, language: String?, lines: [Substring])?
        // The indentation of text in the list item that a line belongs to.
        var item = 0
        var afterEmptyLine = true
        func indentation(_ line: Substring) -> Int { line.prefix { $0 == " " }.count }

        for (offset, line) in comment.enumerated() {
            let trimmed = line.drop { $0 == " " }
            if let open = code, open.language != nil {
                if trimmed.hasPrefix("```") {
                    add(open.lines, open.language, at: open.start)
                    code = nil
                    afterEmptyLine = true
                } else {
                    code?.lines.append(line)
                }
                continue
            }
            if trimmed.isEmpty {
                code?.lines.append(line)
                afterEmptyLine = true
                continue
            }
            if indentation(line) >= item + 4, code != nil || afterEmptyLine {
                if code == nil { code = (first + offset, nil, []) }
                code?.lines.append(line)
                afterEmptyLine = false
                continue
            }
            if let open = code { add(open.lines, nil, at: open.start) }
            code = nil
            if trimmed.hasPrefix("```") {
                code = (first + offset + 1, String(trimmed.dropFirst(3)), [])
            } else if let marker = trimmed.prefixMatch(of: #/(?:-|\*|\d+\.) /#) {
                item = indentation(line) + marker.output.count
            } else if indentation(line) < item, afterEmptyLine {
                item = 0
            } else if indentation(line) >= item + 4 {
                faults.append("\(file):\(first + offset): code needs an empty line before it")
            }
            afterEmptyLine = false
        }
        guard let open = code else { return }
        if open.language != nil { faults.append("\(file):\(open.start): the fence has no end") }
        add(open.lines, open.language, at: open.start)
    }

    private mutating func add(_ lines: [Substring], _ language: String?, at line: Int) {
        let language = language ?? "swift"
        guard Self.languages.contains(language) else {
            faults.append(
                "\(file):\(line): the fence needs a language: \(Self.languages.sorted().joined(separator: ", "))")
            return
        }
        let indentation = lines.filter { !$0.allSatisfy { $0 == " " } }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        let code = lines.map { String($0.dropFirst(indentation)) }
        let end = code.lastIndex { !$0.isEmpty } ?? -1
        examples.append(
            CommentExample(
                file: file, line: line, language: language, lines: Array(code[0..<(end + 1)]),
                conditions: conditions.map(\.condition)))
    }
}
