/// Where the answer to a query comes from. The numbers are those of the libraries of MaxLeap and Parse.
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
