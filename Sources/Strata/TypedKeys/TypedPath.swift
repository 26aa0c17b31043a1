/// The path of a typed key: where it starts, and the names of the properties on the way.
///
///     let path = City.keys.country.continent.path
///     print(path.names)  // ["country", "continent"]
///     let key = AttributeKey<String>(path, "name")
///     let request = FetchRequest<City>(where: key == "South America")
///
/// You need paths only to write keys by hand (``EntityKeys``) or to look at keys that you are given. A path of an array literal
/// starts at the fetched object. In the closure of a condition on members, such as `any`, paths start at a variable that stands
/// for one member. Nothing checks the names until the fetch, which throws for an unknown one.
public struct TypedPath: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// The variable that stands for a member of a to-many relationship; nil if the path starts at the fetched object.
    public let variable: String?
    /// The names of the properties, from the start to the end of the path.
    public let names: [String]

    /// Creates a path that starts at the fetched object.
    public init(_ names: [String]) {
        variable = nil
        self.names = names
    }

    /// Creates a path that starts at the fetched object: `["country", "name"]`.
    public init(arrayLiteral elements: String...) { self.init(elements) }

    private init(variable: String?, names: [String]) {
        self.variable = variable
        self.names = names
    }

    /// The path with one more property.
    public func appending(_ name: String) -> TypedPath {
        TypedPath(variable: variable, names: names.isEmpty ? [name] : names + [name])
    }

    /// The value at the end of the path as an expression.
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
