extension FetchPredicate {
    /// All key paths from the object itself that the condition looks at, those in its expressions and subqueries too.
    /// Paths that start at a variable of a subquery are given behind the path of its collection.
    public var keyPaths: [[String]] { keyPaths(from: nil) }

    /// All key paths that start at a variable which no `SUBQUERY` binds, or with nil at the object itself.
    public func keyPaths(from variable: String?) -> [[String]] {
        var paths = PathCollector()
        paths.collect(self, [:])
        return paths.found.filter { $0.variable == variable }.map(\.names)
    }
}

extension FetchExpression {
    /// All key paths from the object itself that the expression looks at; see ``FetchPredicate/keyPaths``.
    public var keyPaths: [[String]] { keyPaths(from: nil) }

    /// All key paths that start at a variable; see ``FetchPredicate/keyPaths(from:)``.
    public func keyPaths(from variable: String?) -> [[String]] {
        var paths = PathCollector()
        paths.collect(self, [:])
        return paths.found.filter { $0.variable == variable }.map(\.names)
    }
}

/// Gathers the paths of a tree.
private struct PathCollector {
    /// A path and where it starts: at a free variable, or at the object.
    struct Path {
        var variable: String?
        var names: [String]
    }

    /// The paths of what subqueries bind; nil for what is no path.
    typealias Bindings = [String: Path?]

    var found: [Path] = []

    mutating func collect(_ predicate: FetchPredicate, _ bindings: Bindings) {
        let parts = predicate.parts
        for part in parts.conditions { collect(part, bindings) }
        for part in parts.expressions { collect(part, bindings) }
    }

    mutating func collect(_ expression: FetchExpression, _ bindings: Bindings) {
        if let path = Self.origin(of: expression, bindings), !path.names.isEmpty { found.append(path) }
        if case .subquery(let collection, let name, let condition) = expression {
            collect(collection, bindings)
            var inner = bindings
            inner[name] = .some(Self.origin(of: collection, bindings))
            return collect(condition, inner)
        }
        let parts = expression.parts
        for part in parts.conditions { collect(part, bindings) }
        for part in parts.expressions { collect(part, bindings) }
    }

    /// The path to where an expression leads, if it is nothing but a path.
    private static func origin(of expression: FetchExpression, _ bindings: Bindings) -> Path? {
        switch expression {
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
