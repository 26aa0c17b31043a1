import StrataStore

/// Takes the number of all objects that meet the conditions of a fetch, whatever its limit and its offset: for lists that are
/// read page by page.
///
///     let total = TotalCount()
///     let request = FetchRequest<City>(limit: 20).options(RemoteOptions(total: total))
///     let page = try await context.fetch(request)
///     print("\(page.count) of \(total.value ?? page.count)")
///
/// It is the server's number if the network was asked, which does not know of changes that wait here, and the mirror's
/// otherwise. Use one for each fetch.
public final class TotalCount: Sendable, Hashable {
    private let number = Guarded<Int?>(nil)

    /// Takes a number that is not known yet.
    public init() {}

    /// The number; nil before the fetch has ended, and if the server does not report it and it cannot be counted.
    public internal(set) var value: Int? {
        get { number.withLock { $0 } }
        set { number.withLock { $0 = newValue } }
    }

    /// Whether both are the same one.
    public static func == (a: TotalCount, b: TotalCount) -> Bool { a === b }
    /// By identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
