extension FetchPredicate {
    /// All key paths from the object itself that the condition looks at, those in its expressions and subqueries too.
    /// Paths that start at a variable of a subquery are given behind the path of its collection.
    public var keyPaths: [[String]] {
        var paths: [[String]] = []
        collectPaths(into: &paths, bindings: [:])
        return paths
    }

    fileprivate func collectPaths(into paths: inout [[String]], bindings: [String: [String]]) {
        switch self {
        case .constant: break
        case .and(let parts), .or(let parts):
            for part in parts { part.collectPaths(into: &paths, bindings: bindings) }
        case .not(let part): part.collectPaths(into: &paths, bindings: bindings)
        case .comparison(let left, _, let right, _), .quantified(_, let left, _, let right, _):
            left.collectPaths(into: &paths, bindings: bindings)
            right.collectPaths(into: &paths, bindings: bindings)
        case .geo(.near(let place, let point, _)):
            place.collectPaths(into: &paths, bindings: bindings)
            point.collectPaths(into: &paths, bindings: bindings)
        case .geo(.within(let place, let point, let distance, _, _)):
            for part in [place, point, distance] { part.collectPaths(into: &paths, bindings: bindings) }
        case .geo(.box(let place, let southWest, let northEast)):
            for part in [place, southWest, northEast] { part.collectPaths(into: &paths, bindings: bindings) }
        }
    }
}

extension FetchExpression {
    /// All key paths from the object itself that the expression looks at; see ``FetchPredicate/keyPaths``.
    public var keyPaths: [[String]] {
        var paths: [[String]] = []
        collectPaths(into: &paths, bindings: [:])
        return paths
    }

    /// The path from the object to where the expression leads, if it is nothing but a path.
    fileprivate func origin(_ bindings: [String: [String]]) -> [String]? {
        switch self {
        case .evaluatedObject: []
        case .keyPath(let path): path
        case .variable(let name): bindings[name]
        case .path(let base, let names): base.origin(bindings).map { $0 + names }
        case .index(let base, _): base.origin(bindings)
        case .subquery(let collection, _, _): collection.origin(bindings)
        default: nil
        }
    }

    fileprivate func collectPaths(into paths: inout [[String]], bindings: [String: [String]]) {
        if let path = origin(bindings), !path.isEmpty { paths.append(path) }
        switch self {
        case .constant, .keyPath, .evaluatedObject, .variable: break
        case .path(let base, _): base.collectPaths(into: &paths, bindings: bindings)
        case .aggregate(let parts), .function(_, let parts):
            for part in parts { part.collectPaths(into: &paths, bindings: bindings) }
        case .index(let base, let index):
            base.collectPaths(into: &paths, bindings: bindings)
            if case .at(let position) = index { position.collectPaths(into: &paths, bindings: bindings) }
        case .subquery(let collection, let name, let condition):
            collection.collectPaths(into: &paths, bindings: bindings)
            var inner = bindings
            inner[name] = collection.origin(bindings)
            condition.collectPaths(into: &paths, bindings: inner)
        case .ternary(let condition, let first, let second):
            condition.collectPaths(into: &paths, bindings: bindings)
            first.collectPaths(into: &paths, bindings: bindings)
            second.collectPaths(into: &paths, bindings: bindings)
        case .cast(let value, _): value.collectPaths(into: &paths, bindings: bindings)
        case .method(let receiver, _, let arguments):
            receiver.collectPaths(into: &paths, bindings: bindings)
            for part in arguments { part.collectPaths(into: &paths, bindings: bindings) }
        case .distance(let a, let b, _):
            a.collectPaths(into: &paths, bindings: bindings)
            b.collectPaths(into: &paths, bindings: bindings)
        }
    }
}
