import StrataQuery

/// A tree of conditions and expressions with one word or sign for each node, for people and for JSON.
struct PredicateOutline: Encodable, Equatable {
    /// What the node is: `AND`, `==[cd]`, `country.name`, `'Peru'`.
    let node: String
    /// The parts of it, in order.
    let parts: [PredicateOutline]

    init(_ node: String, _ parts: [PredicateOutline] = []) {
        self.node = node
        self.parts = parts
    }

    init(_ predicate: FetchPredicate) {
        switch predicate.node {
        case .constant, .tooDeep: self.init(predicate.description)
        case .and(let parts): self.init("AND", parts.map(PredicateOutline.init))
        case .or(let parts): self.init("OR", parts.map(PredicateOutline.init))
        case .not(let part): self.init("NOT", [PredicateOutline(part)])
        case .comparison(let left, let op, let right, let options):
            self.init(op.rawValue + options.suffix, [PredicateOutline(left), PredicateOutline(right)])
        case .quantified(let quantifier, let left, let op, let right, let options):
            self.init(
                "\(quantifier.rawValue) \(op.rawValue)\(options.suffix)",
                [PredicateOutline(left), PredicateOutline(right)])
        case .geo(.near(let place, let point, let radius)):
            self.init("near", [place, point].map(PredicateOutline.init) + Self.radius(radius))
        case .geo(.within(let place, let point, let distance, let unit, let radius)):
            self.init(
                unit.rawValue, [place, point, distance].map(PredicateOutline.init) + Self.radius(radius))
        case .geo(.box(let place, let southWest, let northEast)):
            self.init("withinBox", [place, southWest, northEast].map(PredicateOutline.init))
        }
    }

    init(_ expression: FetchExpression) {
        switch expression.node {
        case .constant, .keyPath, .evaluatedObject, .variable, .tooDeep: self.init(expression.description)
        case .path(let base, let names): self.init("." + names.joined(separator: "."), [PredicateOutline(base)])
        case .aggregate(let parts): self.init("{}", parts.map(PredicateOutline.init))
        case .function(let function, let parts):
            self.init(function.infix ?? function.rawValue, parts.map(PredicateOutline.init))
        case .index(let base, let index):
            switch index {
            case .first: self.init("[FIRST]", [PredicateOutline(base)])
            case .last: self.init("[LAST]", [PredicateOutline(base)])
            case .size: self.init("[SIZE]", [PredicateOutline(base)])
            case .at(let position): self.init("[]", [PredicateOutline(base), PredicateOutline(position)])
            }
        case .subquery(let collection, let name, let condition):
            self.init("SUBQUERY $\(name)", [PredicateOutline(collection), PredicateOutline(condition)])
        case .ternary(let condition, let first, let second):
            self.init(
                "TERNARY", [PredicateOutline(condition), PredicateOutline(first), PredicateOutline(second)])
        case .cast(let value, let type): self.init("CAST \(type.rawValue)", [PredicateOutline(value)])
        case .method(let receiver, let method, let arguments):
            self.init("FUNCTION \(method.rawValue)", ([receiver] + arguments).map(PredicateOutline.init))
        case .distance(let a, let b, let radius):
            self.init("distance", [a, b].map(PredicateOutline.init) + Self.radius(radius))
        }
    }

    private static func radius(_ radius: Double) -> [PredicateOutline] {
        radius == GeoCondition.meanEarthRadius ? [] : [PredicateOutline("earth radius \(radius) km")]
    }

    /// The nodes, one per line, each two spaces further in than the one that it is part of.
    func lines(indent: Int = 0) -> [String] {
        [String(repeating: " ", count: indent) + node] + parts.flatMap { $0.lines(indent: indent + 2) }
    }
}
