/// Tells which name of a new version continues which name of an old one.
package enum NameMatching {
    /// Something with a name.
    package struct Item {
        package var name: String
        /// The names that it had in earlier versions, the latest first.
        package var formerNames: [String]

        package init(name: String, formerNames: [String]) {
            self.name = name
            self.formerNames = formerNames
        }
    }

    /// A new name that says the same of its past as another one, which got the old name.
    package struct Ambiguity {
        /// The name that got nothing.
        package let name: String
        /// The name that got the old one.
        package let other: String
        /// The old name.
        package let past: String
    }

    /// The new names for which only the versions in between say what they continue: each, and another one, had the same name once.
    /// - Parameter matches: The answer of ``match(old:new:)``.
    package static func ambiguities(old: [Item], new: [Item], _ matches: [String: String]) -> [Ambiguity] {
        let names = Set(old.map(\.name))
        var owners: [String: Item] = [:]
        for item in new { if let past = matches[item.name], past != item.name { owners[past] = item } }
        return new.compactMap { item in
            guard matches[item.name] == nil, let past = item.formerNames.first(where: names.contains),
                let owner = owners[past], owner.name != item.name
            else { return nil }
            return Ambiguity(name: item.name, other: owner.name, past: past)
        }
    }

    /// Matches names by what they say of their past, then by what they are. A name that somebody else has left is free: it
    /// may be given to something new.
    /// - Returns: For each new name the old one.
    package static func match(old: [Item], new: [Item]) -> [String: String] {
        let oldByName = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var result: [String: String] = [:]
        var claimed: Set<String> = []
        func take(_ item: Item, _ past: String) {
            result[item.name] = past
            claimed.insert(past)
        }
        // The old version knows already of the rename that the new one declares.
        for item in new {
            guard let same = oldByName[item.name], !same.formerNames.isEmpty,
                Set(same.formerNames).isSubset(of: item.formerNames)
            else { continue }
            take(item, item.name)
        }
        for item in new where result[item.name] == nil {
            if let past = item.formerNames.first(where: { oldByName[$0] != nil && !claimed.contains($0) }) {
                take(item, past)
            } else if let cousin = old.first(where: { other in
                !claimed.contains(other.name) && other.formerNames.contains { item.formerNames.contains($0) }
            }) {
                // Both were renamed from the same name.
                take(item, cousin.name)
            }
        }
        for item in new where result[item.name] == nil {
            if oldByName[item.name] != nil, !claimed.contains(item.name) { take(item, item.name) }
        }
        return result
    }
}
