/// Where typed keys start, and the properties that lead on from there.
public struct TypedPath: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// The variable that stands for an element of a to-many relationship; nil where the path starts at the object
    /// that is fetched.
    public let variable: String?
    /// The names of the properties on the way.
    public let names: [String]

    /// A path that starts at the object that is fetched.
    public init(_ names: [String]) {
        variable = nil
        self.names = names
    }

    /// A path that starts at the object that is fetched: `["country", "name"]`.
    public init(arrayLiteral elements: String...) { self.init(elements) }

    private init(variable: String?, names: [String]) {
        self.variable = variable
        self.names = names
    }

    /// The path with one more property.
    public func appending(_ name: String) -> TypedPath { TypedPath(variable: variable, names: names + [name]) }

    /// What is at the end of the path.
    public var expression: FetchExpression {
        guard let variable else { return names.isEmpty ? .evaluatedObject : .keyPath(names) }
        return names.isEmpty ? .variable(variable) : .path(.variable(variable), names)
    }
}

extension TypedPath {
    /// How many to-many conditions stand around the one that is being made.
    @TaskLocal private static var depth = 0

    /// Makes the inner part of a condition on members, with a path that stands for one member.
    ///
    /// The names of the variables follow from how the conditions are nested: `each`, within it `each2` and so on, so
    /// that an inner condition may name the members of an outer one, and equal conditions are equal trees.
    static func withMember<Result>(_ body: (TypedPath, _ variable: String) -> Result) -> Result {
        let level = depth + 1
        let name = memberName(level: level)
        return $depth.withValue(level) { body(TypedPath(variable: name, names: []), name) }
    }

    /// The variable of a condition on members that is in this many, itself counted.
    static func memberName(level: Int) -> String { level == 1 ? "each" : "each\(level)" }
}

extension FetchExpression {
    /// The expression with properties, or collection operators, after it.
    func appending(_ names: [String]) -> FetchExpression {
        switch node {
        case .evaluatedObject: .keyPath(names)
        case .keyPath(let path): .keyPath(path + names)
        case .path(let base, let path): .path(base, path + names)
        default: .path(self, names)
        }
    }
}
