/// Where the answer to a query of a client comes from: the network, the cache, or both.
///
///     let posts = try await client.find(MaxLeapQuery("Post"), policy: .networkElseCache, maximumAge: 3600)
///
/// Pass it to the methods that read, such as ``MaxLeapClient/find(_:policy:maximumAge:options:)``; the default is
/// ``ignoreCache``. With a `maximumAge` in seconds, older answers of the cache do not count. For ``cacheThenNetwork``, which
/// has two answers, call ``MaxLeapClient/results(of:maximumAge:options:)``.
///
/// This is about the client's cache of answers. Stores do not use it: they have a mirror, and `FetchPolicy`. The numbers are
/// those of the libraries of MaxLeap and Parse.
public enum MaxLeapCachePolicy: Int, Sendable, Hashable, CaseIterable {
    /// The network; nothing is kept.
    case ignoreCache = 0
    /// The cache; nothing there is an error with code 120.
    case cacheOnly = 1
    /// The network; the answer is kept.
    case networkOnly = 2
    /// The cache; the network if nothing is there, whose answer is kept.
    case cacheElseNetwork = 3
    /// The network, tried once, whose answer is kept; the cache if that fails. Nothing there is an error with code 120.
    case networkElseCache = 4
    /// The cache immediately, and then the network, whose answer is kept: see
    /// ``MaxLeapClient/results(of:maximumAge:options:)`` and ``MaxLeapClient/firstResults(of:maximumAge:options:)``.
    case cacheThenNetwork = 5
}
