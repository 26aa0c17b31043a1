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
            guard let name = String(validating: decode(name, isForm), as: UTF8.self),
                let value = String(validating: decode(value, isForm), as: UTF8.self)
            else { return nil }
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

    /// The bytes that a name or value stands for.
    static func decode(_ text: Substring, _ isForm: Bool) -> [UInt8] {
        PercentEncoding.decode(bytes: isForm ? text.replacing("+", with: " ").utf8 : text.utf8)
    }
}
