extension FetchRequest {
    /// A request that a model file declares under a name; generated functions call this.
    /// - Parameters:
    ///   - template: The condition in the format language, which was checked when the code was generated.
    ///   - variables: The values of its `$variables`.
    ///   - sorts: Key paths with spaces between them, `-` before those that descend.
    ///   - limit: The greatest number of objects.
    public init(
        _template template: String?, _ variables: [String: (any PredicateArgument)?], sortedBy sorts: String = "",
        limit: Int? = nil
    ) {
        self.init(limit: limit)
        self.sorts = sorts.split(separator: " ").map { sort in
            FetchSort(String(sort.drop { $0 == "-" }), ascending: !sort.hasPrefix("-"))
        }
        guard let template else { return }
        do throws(PredicateParseError) {
            predicate = try FetchPredicate(format: template)
                .withVariables(variables.mapValues { $0?.predicateArgument ?? .null })
        } catch {
            fatalError("a generated fetch is out of step with this version of Strata; generate it again: \(error)")
        }
    }
}
