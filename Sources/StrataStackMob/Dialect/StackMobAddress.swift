/// The escapes of StackMob's addresses, which are not those of other services.
extension PercentEncoding.Characters {
    /// The characters that stay as they are in names and values of query parameters and forms.
    static let stackMobQuery = alphanumerics.union("[].,-_*'")
    /// The characters that stay as they are in identifiers of objects; the full stop is escaped there, too.
    static let stackMobIdentifier = alphanumerics.union(",-_*'")
}

extension QueryParameters {
    /// Parameters as they appear in an address or a form, in the order given, joined by `&`.
    package static func stackMobText(_ parameters: some Sequence<Parameter>) -> String {
        parameters.map { name, value in
            PercentEncoding.encode(name, keeping: .stackMobQuery) + "="
                + PercentEncoding.encode(value, keeping: .stackMobQuery)
        }.joined(separator: "&")
    }

    /// The same, sorted by name without regard to case; equal names stay in the order given.
    package static func sortedStackMobText(_ parameters: some Sequence<Parameter>) -> String {
        stackMobText(
            parameters.enumerated()
                .sorted { a, b in
                    let (left, right) = (a.element.name.lowercased(), b.element.name.lowercased())
                    return left == right ? a.offset < b.offset : left < right
                }
                .map(\.element))
    }
}
