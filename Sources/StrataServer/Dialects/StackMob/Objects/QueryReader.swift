#if Server
    import Foundation
    import Strata

    /// Reads the parameters of a query into conditions.
    ///
    /// A key is a field, perhaps with an operator in brackets, perhaps after `[or1].` for a member of the one OR group
    /// and after `[andN].` for a part of a member that is itself an AND. Brackets may come escaped. A key that comes
    /// twice is two conditions.
    struct QueryReader {
        struct Condition: Hashable {
            var field: String
            var operation: String?
            var value: String
        }

        /// What must hold.
        private(set) var all: [Condition] = []
        /// Of what one must hold; each is conditions that must hold together.
        private(set) var any: [[Condition]] = []

        /// - Parameter ignored: Parameters that are not conditions.
        /// - Throws: ``ServerError`` 400 naming the parameter that cannot be read.
        init(_ request: ServerRequest, ignoring ignored: Set<String> = [], limit: Int) throws(ServerError) {
            guard let pairs = request.parameters?.filter({ !ignored.contains($0.name) }) else {
                throw .badRequest("The query is not UTF-8.")
            }
            guard pairs.count <= limit else {
                throw .badRequest("The query has \(pairs.count) conditions; \(limit) are the most.")
            }
            var groups: [(name: Substring, index: Int)] = []
            for (key, value) in pairs {
                var rest = key[...]
                guard let or = Self.takePrefix(&rest) else {
                    all.append(try Self.condition(rest, value, key: key))
                    continue
                }
                guard or == "or1" else { throw .badRequest("\(key): a query has one OR group, [or1].") }
                guard let and = Self.takePrefix(&rest) else {
                    any.append([try Self.condition(rest, value, key: key)])
                    continue
                }
                guard and.hasPrefix("and"), let number = Int(and.dropFirst(3)), number > 0 else {
                    throw .badRequest("\(key): inside of [or1] only [and1], [and2] and so on may stand.")
                }
                let condition = try Self.condition(rest, value, key: key)
                if let group = groups.first(where: { $0.name == and }) {
                    any[group.index].append(condition)
                } else {
                    groups.append((and, any.count))
                    any.append([condition])
                }
            }
        }

        /// Takes `[word].` from the beginning.
        private static func takePrefix(_ rest: inout Substring) -> Substring? {
            guard rest.first == "[", let end = rest.firstIndex(of: "]") else { return nil }
            let next = rest.index(after: end)
            guard next < rest.endIndex, rest[next] == "." else { return nil }
            let word = rest[rest.index(after: rest.startIndex)..<end]
            rest = rest[rest.index(after: next)...]
            return word
        }

        private static func condition(_ text: Substring, _ value: String, key: String) throws(ServerError) -> Condition
        {
            guard let open = text.firstIndex(of: "[") else {
                guard !text.isEmpty, !text.contains("]") else { throw .badRequest("'\(key)' names no field.") }
                return Condition(field: String(text), operation: nil, value: value)
            }
            guard open > text.startIndex, text.last == "]" else { throw .badRequest("'\(key)' names no field.") }
            let operation = text[text.index(after: open)...].dropLast()
            return Condition(field: String(text[..<open]), operation: String(operation), value: value)
        }
    }
#endif
