/// Alternatives, each of conditions that must all hold. What a condition comes to before it is sent, since servers take few
/// groups of alternatives.
struct MaxLeapNormalForm {
    /// So many alternatives are sent at most.
    static let maximumAlternatives = 4
    /// So many are looked at while a condition is taken apart, so that a hostile one does not fill the memory.
    private static let maximumWork = 256

    private(set) var alternatives: [[MaxLeapWhere]]

    /// What always holds.
    static let always = MaxLeapNormalForm(alternatives: [[]])
    /// What never holds.
    static let never = MaxLeapNormalForm(alternatives: [])

    init(_ condition: MaxLeapWhere) { alternatives = [[condition]] }

    private init(alternatives: [[MaxLeapWhere]]) { self.alternatives = alternatives }

    static func or(_ parts: [MaxLeapNormalForm]) throws(RemoteError) -> MaxLeapNormalForm {
        var result = never
        for part in parts { result.alternatives += part.alternatives }
        try result.check()
        return result
    }

    static func and(_ parts: [MaxLeapNormalForm]) throws(RemoteError) -> MaxLeapNormalForm {
        var result = always
        for part in parts {
            guard result.alternatives.count * max(1, part.alternatives.count) <= maximumWork else { throw tooMany }
            result.alternatives = result.alternatives.flatMap { one in
                part.alternatives.map { other in one + other.filter { !one.contains($0) } }
            }
            try result.check()
        }
        return result
    }

    private func check() throws(RemoteError) {
        guard alternatives.count <= Self.maximumWork, alternatives.allSatisfy({ $0.count <= Self.maximumWork }) else {
            throw Self.tooMany
        }
    }

    private static var tooMany: RemoteError {
        MaxLeapError.unsupported(
            "This query is too complex. It had an OR with more than \(maximumAlternatives) members after normalization."
        )
    }

    /// The condition: what all alternatives have in common, and the rest of them.
    /// - Throws: ``RemoteError`` with code 102 if there are too many, or none.
    func condition() throws(RemoteError) -> MaxLeapWhere {
        var list: [[MaxLeapWhere]] = []
        for alternative in alternatives where !list.contains(where: { Set($0) == Set(alternative) }) {
            list.append(alternative)
        }
        guard let first = list.first else {
            throw MaxLeapError.unsupported("a condition that never holds cannot be sent")
        }
        let common = first.filter { part in list.allSatisfy { $0.contains(part) } }
        let rest = list.map { $0.filter { !common.contains($0) } }
        if rest.count == 1 || rest.contains(where: \.isEmpty) { return .and(common) }
        guard rest.count <= Self.maximumAlternatives else { throw Self.tooMany }
        return .and(common + [.or(rest.map { .and($0) })])
    }
}
