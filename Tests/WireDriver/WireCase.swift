import Foundation
import StrataRemote

/// Why a line is not a case.
struct WireFault: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

/// One case: a JSON object whose members are looked up by name.
struct WireCase {
    let members: JSONObject

    init(_ json: JSONValue) throws(WireFault) {
        guard let members = json.members else { throw WireFault("a case is a JSON object") }
        self.members = members
    }

    subscript(name: String) -> JSONValue? { members[name] }

    /// Whether a member is there, also one that is `null`.
    func has(_ name: String) -> Bool { members[name] != nil }

    /// The text of the first of these members that is a text or a number.
    func text(_ names: String...) -> String? {
        for name in names {
            switch members[name] {
            case .string(let text): return text
            case .integer(let number): return String(number)
            case .double(let number): return String(number)
            default: continue
            }
        }
        return nil
    }

    /// A text that the protocol wants; `null` is an empty one, which the dialect refuses.
    func argument(_ names: String...) -> String {
        for name in names { if let text = text(name) { return text } }
        return ""
    }

    func whole(_ names: String...) -> Int? {
        for name in names {
            if let number = members[name]?.integer ?? members[name]?.string.flatMap({ Int64($0) }) {
                return Int(exactly: number)
            }
        }
        return nil
    }

    func flag(_ names: String...) -> Bool? {
        for name in names { if let flag = members[name]?.boolean { return flag } }
        return nil
    }

    func elements(_ names: String...) -> [JSONValue]? {
        for name in names { if let elements = members[name]?.elements { return elements } }
        return nil
    }

    /// Texts of an array, or of a single text.
    func texts(_ names: String...) -> [String]? {
        for name in names {
            if let elements = members[name]?.elements { return elements.map { WireValues.text($0) } }
            if let text = members[name]?.string { return [text] }
        }
        return nil
    }

    /// The name of what is done, in small letters without signs.
    var operation: String { Self.plain(text("op") ?? "") }

    /// Whether the name of what is done has one of these words in it. Cases name operations freely: the words decide,
    /// and where they do not, the operands.
    func says(_ words: String...) -> Bool { words.contains { operation.contains($0) } }

    static func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }
}
