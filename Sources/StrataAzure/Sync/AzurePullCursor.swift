import Foundation

/// Where a pull by the rules of the client libraries goes on: at a time of change, after this many rows of that time.
struct AzurePullCursor: Hashable {
    /// Before all rows.
    static let beginning = "1970-01-01T00:00:00.000Z"

    var token = beginning
    var skip = 0

    init(token: String = beginning, skip: Int = 0) {
        self.token = token
        self.skip = skip
    }

    /// The cursor after a page.
    /// - Parameters:
    ///   - times: When the rows of the page were changed, as the server told it.
    ///   - count: The number of rows of the page.
    func next(times: [String], count: Int) -> AzurePullCursor {
        // Fractions below a millisecond are cut off, so that nothing is skipped.
        let latest = times.compactMap { AzureDate.milliseconds($0) }.max()
        if let latest, latest > AzureDate.milliseconds(token) ?? .min, let text = AzureDate.text(milliseconds: latest) {
            return AzurePullCursor(token: text)
        }
        let sum = skip.addingReportingOverflow(count)
        return AzurePullCursor(token: token, skip: sum.overflow ? .max : sum.partialValue)
    }
}
