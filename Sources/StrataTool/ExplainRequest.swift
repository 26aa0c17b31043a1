import StrataModel
import StrataQuery

/// Why a request cannot be explained, as `strata explain` tells it.
struct ExplainFault: Error {
    /// What is wrong; the words of `kind` in JSON.
    enum Kind: String {
        /// The text of the condition.
        case format
        /// The model has no such entity or property.
        case name
        /// A variable without a value, or values that do not compare.
        case condition
        /// The store cannot translate a part.
        case unsupported
        /// The store cannot be opened or read.
        case store
    }

    let kind: Kind
    let message: String
    /// The place of a fault in the format, in characters from 0.
    var position: Int?
    /// The line of the format with the fault, and a caret below it.
    var excerpt: [String] = []

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    init(_ error: PredicateParseError, in format: String) {
        kind = .format
        message = error.description
        position = error.position
        let lines = format.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        guard error.line <= lines.count else { return }
        let line = lines[error.line - 1]
        // Of a very long line only the surroundings are shown.
        let start = max(0, error.column - 1 - 60)
        let shown = line.dropFirst(start).prefix(100)
        let before = shown.prefix(error.column - 1 - start).map { $0 == "\t" ? "\t" : " " }
        excerpt = [String(String.UnicodeScalarView(shown)), before.joined() + "^"]
    }
}

/// The words of a command line as a fetch.
enum ExplainRequest {
    /// A value of `--arg` and `--var`: JSON with the typed objects of `strata predicate`, or else the text itself.
    static func value(_ text: String) throws(TypedJSON.Fault) -> Value {
        switch text.first {
        case "{", "[", "\"": return try TypedJSON.value(TypedJSON.read(text))
        default:
            // Text that is not JSON is meant as text.
            guard let json = try? TypedJSON.read(text) else { return .string(text) }
            return try TypedJSON.value(json)
        }
    }

    static func entity(_ name: String, in model: ManagedObjectModel) throws(ExplainFault) -> EntityDescription {
        if let entity = model.entity(named: name) { return entity }
        let names = model.entities.map(\.name)
        let spelling = Spelling.suggestion(for: name, in: names)
        throw ExplainFault(
            .name,
            "\(model.name) has no entity \(name)"
                + (spelling.isEmpty ? "; it has \(names.joined(separator: ", "))" : spelling))
    }

    static func predicate(
        _ format: String, _ arguments: [Value], _ variables: [String: Value]
    ) throws(ExplainFault) -> FetchPredicate {
        do throws(PredicateParseError) {
            return try FetchPredicate(format: format, arguments: arguments).withVariables(variables)
        } catch {
            throw ExplainFault(error, in: format)
        }
    }

    /// Finds names that the model does not have, since a store can only say that there are none.
    static func check(
        _ path: [String], of entity: EntityDescription, in model: ManagedObjectModel
    ) throws(ExplainFault) {
        var current = entity
        for (index, name) in path.enumerated() where name.first != "@" {
            if let relationship = current.relationship(named: name) {
                current = model.destination(of: relationship)
                continue
            }
            guard let attribute = current.attribute(named: name) else {
                let known = current.attributes.map(\.name) + current.relationships.map(\.name)
                let whole = path.joined(separator: ".")
                throw ExplainFault(
                    .name,
                    "\(current.name) has no property \(name)" + (whole == name ? "" : ", in \(whole)")
                        + Spelling.suggestion(for: name, in: known))
            }
            guard case .composite(let elements) = attribute.type, index + 1 < path.count else { return }
            let element = path[index + 1]
            if element.first != "@", !elements.contains(where: { $0.name == element }) {
                throw ExplainFault(
                    .name,
                    "\(current.name).\(name) has no element \(element)"
                        + Spelling.suggestion(for: element, in: elements.map(\.name)))
            }
            return
        }
    }
}
