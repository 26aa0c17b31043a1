import Foundation

/// A page of the documentation, the code on it, and the files of tests that compile this code.
///
/// The page `Fetching` is compiled by the files of the targets GuideTests, MigrationTests, RemoteGuideTests and StrataPostgresTests whose names begin with
/// `FetchingGuide`; for `README` it is `ReadmeGuide`.
public struct GuidePage: Sendable, CustomStringConvertible {
    /// A fenced block of code.
    public struct Block: Sendable, CustomStringConvertible {
        /// The word after the fence: `swift`, `yaml`, `sh`.
        public let language: String
        /// The code, with its indentation.
        public let text: String
        /// The line of the page at which the code begins.
        public let line: Int

        /// The first line of the code, which names the block in lists.
        public var firstLine: String {
            text.split(separator: "\n").first.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
        }

        public var description: String { "line \(line):\n\(text)" }
    }

    /// The folder of the repository.
    public static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// `README`, or the name of a file in `Documentation` without its ending.
    public let name: String
    /// All of the page.
    public let text: String
    /// The fenced blocks of the page, in order.
    public let blocks: [Block]

    public var description: String { name }

    /// Reads a page.
    public init(_ name: String) throws {
        self.name = name
        let folder = name == "README" ? Self.root : Self.root.appending(path: "Documentation")
        text = try String(contentsOf: folder.appending(path: "\(name).md"), encoding: .utf8)
        blocks = Self.blocks(of: text)
    }

    /// Reads the landing page of a module in the reference site. Its code is compiled by the file `CatalogGuide.swift`.
    public init(landingPageOf module: String) throws {
        name = "Catalog"
        text = try String(
            contentsOf: Self.root.appending(path: "Sources/\(module)/\(module).docc/\(module).md"), encoding: .utf8)
        blocks = Self.blocks(of: text)
    }

    /// The names of all pages: the README, and the files in `Documentation`.
    public static func allNames() throws -> [String] {
        let folder = root.appending(path: "Documentation")
        let pages = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }
        return ["README"] + pages.map { String($0.dropLast(3)) }.filter { $0 != "README" }.sorted()
    }

    private static func blocks(of text: String) -> [Block] {
        var result: [Block] = []
        var open: (language: String, line: Int, lines: [Substring])?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("```") {
                if let block = open {
                    result.append(
                        Block(language: block.language, text: block.lines.joined(separator: "\n"), line: block.line))
                    open = nil
                } else {
                    open = (String(line.dropFirst(3)), index + 2, [])
                }
            } else {
                open?.lines.append(line)
            }
        }
        return result
    }

    /// The Swift blocks that no compiled file has.
    ///
    /// The paragraphs of a block may be in several functions; the lines of a paragraph follow each other. Indentation,
    /// the width of gaps and `static` do not count.
    /// - Parameter fragments: The first lines of blocks that are parts of a `Package.swift`.
    public func uncompiledBlocks(except fragments: [String] = []) throws -> [Block] {
        let code = try compiledText()
        return blocks.filter { block in
            block.language == "swift" && !fragments.contains(block.firstLine)
                && !Self.paragraphs(of: block.text).allSatisfy { code.contains("\n\($0)\n") }
        }
    }

    /// The code spans of the page that begin with a text and that no compiled file has.
    public func uncompiledSpans(beginning start: String) throws -> [String] {
        let code = try compiledText()
        return spans(beginning: start).filter { !code.contains(Self.plain($0)) }
    }

    /// The code spans outside of blocks that begin with a text.
    public func spans(beginning start: String) -> [String] {
        let prose = blocks.reduce(text) { $0.replacing("```\($1.language)\n\($1.text)\n```", with: "") }
        return prose.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
            .map { $0.element.replacing("\\|", with: "|") }.filter { $0.hasPrefix(start) }
    }

    /// The YAML blocks with entities or fetches that are in no model file of the guides' tests.
    public func unreadModels() throws -> [Block] {
        let models = try Self.files(beginning: "", ending: ".strata.yaml").map { "\n" + $0 }
        return blocks.filter { block in
            block.language == "yaml" && !block.text.matches(of: /(?m)^(entities|fetches):/).isEmpty
                && !models.contains { $0.contains("\n\(block.text)\n") }
        }
    }

    /// Packages of the repository whose sources a page shows. They are compiled on their own.
    private static let examples = [
        "WriteAStore": ["Examples/KintoStore"], "WebServers": ["Examples/CityService", "Examples/LiveCities"],
    ]

    private func compiledText() throws -> String {
        var files = try Self.files(beginning: name == "README" ? "ReadmeGuide" : "\(name)Guide", ending: ".swift")
        for example in Self.examples[name] ?? [] {
            for part in ["Sources", "Tests"] {
                files += try Self.files(in: "\(example)/\(part)", beginning: "", ending: ".swift")
            }
        }
        let lines = files.flatMap { $0.split(separator: "\n") }.map(Self.plain).filter { !$0.isEmpty }
        return "\n" + lines.joined(separator: "\n") + "\n"
    }

    private static func files(beginning start: String, ending: String) throws -> [String] {
        try ["GuideTests", "MigrationTests", "RemoteGuideTests", "StrataPostgresTests"].flatMap { target in
            try files(in: "Tests/\(target)", beginning: start, ending: ending)
        }
    }

    private static func files(in place: String, beginning start: String, ending: String) throws -> [String] {
        let folder = root.appending(path: place)
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted().filter { path in
            let name = path.split(separator: "/").last ?? ""
            return name.hasPrefix(start) && name.hasSuffix(ending)
        }.map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
    }

    /// The paragraphs of a block; each import is one.
    private static func paragraphs(of text: String) -> [String] {
        var result: [[String]] = [[]]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(plain) {
            if line.hasPrefix("import ") {
                result += [[line], []]
            } else if line.isEmpty {
                result.append([])
            } else {
                result[result.count - 1].append(line)
            }
        }
        return result.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }
    }

    private static func plain(_ line: some StringProtocol) -> String {
        let words = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return words.hasPrefix("static ") ? String(words.dropFirst("static ".count)) : words
    }
}
