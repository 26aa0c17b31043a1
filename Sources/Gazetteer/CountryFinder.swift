/// Finds the country that a user means by a name or an ISO code.
struct CountryFinder {
    /// The countries.
    let countries: [CountryRecord]

    /// The country with the given name or a code, in upper or lower case.
    /// - Throws: ``GazetteerError/unknownCountry(name:suggestion:)`` with the name that is nearest, if one is near.
    func find(_ text: String) throws(GazetteerError) -> CountryRecord {
        let wanted = text.lowercased()
        if let hit = countries.first(where: { $0.name.lowercased() == wanted || $0.iso.lowercased() == wanted }) {
            return hit
        }
        throw .unknownCountry(name: text, suggestion: nearest(to: wanted))
    }

    private func nearest(to wanted: String) -> String? {
        if let longer = countries.first(where: { wanted.count > 2 && $0.name.lowercased().contains(wanted) }) {
            return longer.name
        }
        let distances = countries.map { ($0.name, Self.distance(Array(wanted), Array($0.name.lowercased()))) }
        guard let best = distances.min(by: { $0.1 < $1.1 }), best.1 <= max(1, wanted.count / 3) else { return nil }
        return best.0
    }

    /// How many letters must be inserted, removed or replaced to turn one text into the other (Levenshtein's distance).
    static func distance(_ a: [Character], _ b: [Character]) -> Int {
        var previous = Array(0...b.count)
        for (i, left) in a.enumerated() {
            var current = [i + 1]
            for (j, right) in b.enumerated() {
                current.append(min(previous[j + 1] + 1, current[j] + 1, previous[j] + (left == right ? 0 : 1)))
            }
            previous = current
        }
        return previous[b.count]
    }
}
