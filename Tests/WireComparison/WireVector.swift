import Foundation
import StrataWire

/// One case of a file of vectors.
package struct WireVector {
    package let id: JSONValue
    /// The case without what it expects, so that the answer cannot depend on it.
    package let input: String
    package let expect: JSONValue

    /// Reads one line of a file.
    /// - Throws: ``Fault`` if the case has no `id` or no `expect`, ``JSONError`` if the line is not JSON.
    package init(line: String) throws {
        let json = try JSONValue(parsing: line)
        guard var members = json.members, let id = members["id"], let expect = members["expect"] else {
            throw Fault(line: String(line.prefix(200)))
        }
        members["expect"] = nil
        self.id = id
        self.expect = expect
        input = JSONValue.object(members).description
    }

    /// A line that is not a case.
    package struct Fault: Error {
        package let line: String
    }

    /// The lines of a file.
    package static func lines(_ url: URL) throws -> [String] {
        try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map(String.init)
    }
}
