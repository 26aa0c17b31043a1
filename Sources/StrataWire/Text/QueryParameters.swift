/// Names and values of queries and forms (`application/x-www-form-urlencoded`).
public enum QueryParameters {
    /// A name with its value, both without escapes.
    public typealias Parameter = (name: String, value: String)

    /// The parameters of a query or form in their order. One without `=` has an empty value.
    /// - Parameter isForm: Whether `+` stands for a space, as in forms.
    /// - Returns: nil if a name or value is not UTF-8.
    public static func read(_ text: some StringProtocol, isForm: Bool = false) -> [Parameter]? {
        var parameters: [Parameter] = []
        for (name, value) in split(text) {
            guard let name = decode(name, isForm), let value = decode(value, isForm) else { return nil }
            parameters.append((name, value))
        }
        return parameters
    }

    /// The parameters as they are spelt, escapes and all.
    static func split(_ text: some StringProtocol) -> [(name: Substring, value: Substring)] {
        Substring(text).split(separator: "&").map { part in
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (halves[0], halves.count > 1 ? halves[1] : "")
        }
    }

    private static func decode(_ text: Substring, _ isForm: Bool) -> String? {
        PercentEncoding.decode(isForm ? text.replacing("+", with: " ") : text)
    }
}
