/// A regular expression as a tree.
indirect enum PatternNode {
    case scalar(UInt32)
    case scalars(ScalarClass)
    case any(crossesLines: Bool)
    /// `\R`: a line break, of which a carriage return and a line feed together are one.
    case lineBreak
    case assertion(PatternAssertion)
    case sequence([PatternNode])
    case choice([PatternNode])
    case repetition(PatternNode, PatternRepetition)
    case capture(PatternNode, Int)
    case backReference(Int, ignoresCase: Bool)
    case atomic(PatternNode)
    case look(PatternNode, isBehind: Bool, isNegative: Bool)
}

/// How often a part stands, and which number is tried first.
struct PatternRepetition {
    enum Kind { case greedy, lazy, possessive }

    let minimum: Int
    /// nil for any number.
    let maximum: Int?
    let kind: Kind
}

/// What holds at a place of the text and takes none of it.
enum PatternAssertion {
    case textStart, lineStart, lineEnd, lastLineEnd, textEnd, wordEdge, noWordEdge
}

extension PatternNode {
    /// Whether the part may match nothing.
    var isNullable: Bool {
        switch self {
        case .scalar, .scalars, .any, .lineBreak: false
        case .assertion, .look, .backReference: true
        case .sequence(let parts): parts.allSatisfy(\.isNullable)
        case .choice(let parts): parts.contains(where: \.isNullable)
        case .repetition(let part, let count): count.minimum == 0 || part.isNullable
        case .capture(let part, _), .atomic(let part): part.isNullable
        }
    }

    /// How many scalars the part matches at least and at most; no end is infinite.
    var length: ClosedRange<Double> {
        switch self {
        case .scalar, .scalars, .any(crossesLines: false): 1...1
        case .any(crossesLines: true), .lineBreak: 1...2
        case .assertion, .look: 0...0
        case .backReference: 0...(.infinity)
        case .sequence(let parts):
            parts.lazy.map(\.length).reduce(0...0) { $0.lowerBound + $1.lowerBound...$0.upperBound + $1.upperBound }
        case .choice(let parts):
            parts.lazy.map(\.length).reduce(nil) { (all: ClosedRange<Double>?, part) in
                all.map { min($0.lowerBound, part.lowerBound)...max($0.upperBound, part.upperBound) } ?? part
            } ?? 0...0
        case .repetition(let part, let count):
            part.length.lowerBound
                * Double(count.minimum)...(count.maximum.map(Double.init) ?? .infinity).times(
                    part.length.upperBound)
        case .capture(let part, _), .atomic(let part): part.length
        }
    }
}

extension Double {
    /// A product in which nothing, however often, is nothing.
    fileprivate func times(_ other: Double) -> Double { self == 0 || other == 0 ? 0 : self * other }
}
