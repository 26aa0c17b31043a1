import StrataModel
import StrataQuery
import Yams

extension ModelFileReader {
    private static let requestKeys = ["entity", "where", "sort", "limit", "documentation"]

    /// A mapping of names to `{entity: City, where: population >= $minimum, sort: [-population], limit: 10}`.
    func readFetches(_ node: Node) -> [FetchTemplate] {
        (entries(of: node, what: "'fetches'") ?? []).compactMap { key, name, value in
            fields(of: value, known: Self.requestKeys, what: "a fetch").flatMap {
                request(key, name, $0, what: "the fetch \(name)")
            }
        }
    }

    /// A mapping of names to the names of entities: `Places: [Country, City]`.
    func readConfigurations(_ node: Node) -> [ModelConfiguration] {
        (entries(of: node, what: "'configurations'") ?? []).compactMap { key, name, value in
            words(value, "a configuration").map {
                ModelConfiguration(name: name, entities: $0, location: location(key))
            }
        }
    }

    /// The request that a property stands for: as in `fetches`, and with `userInfo`.
    func readFetchedProperty(_ key: Node, _ name: String, _ node: Node) -> FetchedProperty? {
        guard
            let fields = fields(of: node, known: Self.requestKeys + ["userInfo"], what: "a fetched property"),
            let request = request(key, name, fields, what: "a fetched property")
        else { return nil }
        return FetchedProperty(request).userInfo(fields["userInfo"].map(userInfo) ?? [:])
    }

    private func request(_ key: Node, _ name: String, _ fields: [String: Node], what: String) -> FetchTemplate? {
        guard let entity = fields["entity"].flatMap({ text($0, "entity") }) else {
            fault("\(what) names no entity; add 'entity: …'", key)
            return nil
        }
        var template = FetchTemplate(
            name: name, entity: entity, where: fields["where"].flatMap { text($0, "where") },
            sortedBy: fields["sort"].flatMap { words($0, "sort") } ?? [],
            limit: fields["limit"].flatMap { wholeNumber($0, "limit") }, location: location(fields["where"] ?? key))
        template.documentation = fields["documentation"].flatMap { text($0, "documentation") }
        return template
    }
}
