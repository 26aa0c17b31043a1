import Foundation
import StrataModel
import Yams

/// Makes nodes with positions of YAML text, and faults of what is wrong with its syntax.
struct YAMLDocument {
    /// The topmost node; nil if the text has none or cannot be parsed.
    private(set) var root: Node?
    /// What is wrong with the text as YAML: at most one fault, since a parser that lost its way finds nothing true
    /// after it.
    private(set) var faults: [ModelFault] = []
    /// Keys that stand more than once in a mapping were masked before parsing, all but the last of each: by mask.
    private(set) var maskedKeys: [String: String] = [:]

    private static let firstMask: UInt32 = 0xE000
    private static let maskCount: UInt32 = 0x1000

    /// Parses text. Yams refuses a mapping with a repeated key as a whole; to report such keys along with all other
    /// mistakes, the earlier ones are overwritten by letters for private use, as many as they have, and the text is
    /// parsed again.
    init(_ text: String, path: String) {
        if let line = Self.lineThatIsTooDeep(text) {
            faults = [
                Self.fault(
                    "the file is nested more than \(Self.depthLimit) levels deep, which is the limit", (line, 1), path)
            ]
            return
        }
        var text = text
        for mask in Self.firstMask..<(Self.firstMask + Self.maskCount) {
            do {
                root = try Yams.Parser(yaml: text).singleRoot()
                return
            } catch YamlError.duplicatedKeysInMapping(let duplicates, let context) {
                guard let key = duplicates.first, let masked = Self.mask(key, at: context.mark, in: text, with: mask)
                else {
                    let names = duplicates.map { "'\($0)'" }.joined(separator: ", ")
                    faults = [
                        Self.fault(
                            "the keys \(names) stand more than once in a mapping",
                            (context.mark.line, context.mark.column), path)
                    ]
                    return
                }
                maskedKeys[masked.mask] = key
                text = masked.text
            } catch {
                faults = [Self.fault(of: error, in: text, path: path)]
                return
            }
        }
        faults = [Self.fault("more than \(Self.maskCount) keys appear twice", (1, 1), path)]
    }

    /// How deeply lists and mappings may be nested. The parser calls itself for each level.
    private static let depthLimit = 100

    /// The first line where the text may be nested more deeply than is allowed: by brackets, or by indentation and the
    /// markers of lists and keys in front of a line. Brackets in text count, too, so that nothing has to be parsed to
    /// know.
    private static func lineThatIsTooDeep(_ text: String) -> Int? {
        var line = 1
        var brackets = 0
        var indentation = 0
        var isAtStart = true
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\n"):
                line += 1
                indentation = 0
                isAtStart = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                brackets += 1
                isAtStart = false
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                brackets = max(0, brackets - 1)
                isAtStart = false
            case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "?"), UInt8(ascii: ":"):
                if isAtStart { indentation += 1 }
            default: isAtStart = false
            }
            if brackets > depthLimit || indentation > 2 * depthLimit { return line }
        }
        return nil
    }

    private static func mask(_ key: String, at mark: Mark, in text: String, with value: UInt32) -> (
        text: String, mask: String
    )? {
        guard let letter = Unicode.Scalar(value), !key.isEmpty else { return nil }
        var lines = text.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "\n" }.map { Array($0) }
        let name = Array(key.unicodeScalars)
        guard lines.indices.contains(mark.line - 1) else { return nil }
        var start = mark.column - 1
        let line = lines[mark.line - 1]
        if line.indices.contains(start), line[start] == "\"" || line[start] == "'" { start += 1 }
        guard start >= 0, start + name.count <= line.count, Array(line[start..<start + name.count]) == name else {
            return nil
        }
        let mask = Array(repeating: letter, count: name.count)
        lines[mark.line - 1].replaceSubrange(start..<start + name.count, with: mask)
        var result = String.UnicodeScalarView()
        for (index, line) in lines.enumerated() {
            if index > 0 { result.append("\n") }
            result.append(contentsOf: line)
        }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: mask)
        return (String(result), String(view))
    }

    private static func fault(_ message: String, _ mark: (line: Int, column: Int), _ path: String) -> ModelFault {
        ModelFault(
            message: message, location: SourceLocation(file: path, line: max(1, mark.line), column: max(1, mark.column))
        )
    }

    private static func fault(of error: any Error, in text: String, path: String) -> ModelFault {
        switch error {
        case YamlError.scanner(let context, let problem, let mark, _),
            YamlError.parser(let context, let problem, let mark, _),
            YamlError.composer(let context, let problem, let mark, _):
            let before = context.map { " \($0.text) that began in line \($0.mark.line)" } ?? ""
            return fault("this is not YAML: \(problem)\(before)", (mark.line, mark.column), path)
        case YamlError.reader(let problem, let offset, _, _):
            let before = text.prefix(offset ?? 0)
            let line = before.count { $0.isNewline } + 1
            let column = before.reversed().prefix { !$0.isNewline }.count + 1
            return fault("this is not YAML: \(problem)", (line, column), path)
        default:
            return fault("this is not YAML: \(error)", (1, 1), path)
        }
    }
}
