/// Comparisons that take the same time wherever two secrets differ, so that the time reveals no bytes.
package enum ConstantTime {
    /// Whether two sequences have the same bytes. Only the time for different lengths differs.
    package static func areEqual(_ a: some Collection<UInt8>, _ b: some Collection<UInt8>) -> Bool {
        guard a.count == b.count else { return false }
        var difference: UInt8 = 0
        for (x, y) in zip(a, b) { difference |= x ^ y }
        return difference == 0
    }
}
