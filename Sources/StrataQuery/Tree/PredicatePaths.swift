extension FetchPredicate {
    /// All key paths from the object itself that the condition looks at, those in its expressions and subqueries too.
    /// Paths that start at a variable of a subquery are given after the path of its collection.
    public var keyPaths: [[String]] { keyPaths(from: nil) }

    /// The only one of ``keyPaths``, if the condition compares a path with a constant, as most do: found without gathering.
    package var comparedPath: [String]? {
        guard case .comparison(let left, _, let right, _) = node, case .keyPath(let path) = left.node,
            case .constant = right.node, !path.isEmpty
        else { return nil }
        return path
    }

    /// All key paths that start at a variable which no `SUBQUERY` binds, or with nil at the object itself.
    public func keyPaths(from variable: String?) -> [[String]] {
        var paths = PathCollector(variable: variable)
        paths.collect(self, [:])
        return paths.found
    }
}

extension FetchExpression {
    /// All key paths from the object itself that the expression looks at; see ``FetchPredicate/keyPaths``.
    public var keyPaths: [[String]] { keyPaths(from: nil) }

    /// All key paths that start at a variable; see ``FetchPredicate/keyPaths(from:)``.
    public func keyPaths(from variable: String?) -> [[String]] {
        var paths = PathCollector(variable: variable)
        paths.collect(self, [:])
        return paths.found
    }
}

extension FetchPlan {
    /// All key paths that the condition and the order look at; see ``FetchPredicate/keyPaths``.
    public var keyPaths: [[String]] {
        var paths = PathCollector(variable: nil)
        if let predicate { paths.collect(predicate, [:]) }
        for sort in sorts { paths.collect(sort.expression, [:]) }
        return paths.found
    }
}

/// Gathers the paths of a tree that start at a variable, or at the object.
private struct PathCollector {
    /// A path and where it starts: at a free variable, or at the object.
    struct Path {
        var variable: String?
        var names: [String]
    }

    /// The paths of what subqueries bind; nil for what is not a path.
    typealias Bindings = [String: Path?]

    let variable: String?
    var found: [[String]] = []

    init(variable: String?) { self.variable = variable }

    mutating func collect(_ predicate: FetchPredicate, _ bindings: Bindings) {
        predicate.forEachPart { collect($0, bindings) }
    }

    mutating func collect(_ expression: FetchExpression, _ bindings: Bindings) {
        if let path = Self.origin(of: expression, bindings), path.variable == variable, !path.names.isEmpty {
            found.append(path.names)
        }
        if case .subquery(let collection, let name, let condition) = expression.node {
            collect(collection, bindings)
            var inner = bindings
            inner[name] = .some(Self.origin(of: collection, bindings))
            return collect(condition, inner)
        }
        expression.forEachPart { collect($0, bindings) }
    }

    private mutating func collect(_ node: PredicateNode, _ bindings: Bindings) {
        switch node {
        case .condition(let part): collect(part, bindings)
        case .expression(let part): collect(part, bindings)
        }
    }

    /// The path to where an expression leads, if it is nothing but a path.
    private static func origin(of expression: FetchExpression, _ bindings: Bindings) -> Path? {
        switch expression.node {
        case .evaluatedObject: return Path(names: [])
        case .keyPath(let names): return Path(names: names)
        case .variable(let name): return bindings[name] ?? Path(variable: name, names: [])
        case .path(let base, let names):
            guard var path = origin(of: base, bindings) else { return nil }
            path.names += names
            return path
        case .index(let base, _): return origin(of: base, bindings)
        case .subquery(let collection, _, _): return origin(of: collection, bindings)
        default: return nil
        }
    }
}
