public import StrataModel
import StrataQuery
import Yams

/// A fetch request with a name that a model file declares. Generated classes have a function for each.
public struct FetchTemplate: Sendable, Hashable {
    /// The name, in lowerCamelCase: `largeCities`.
    public var name: String
    /// The entity whose objects it asks for.
    public var entity: String
    /// The condition in the format language, with `$variables`; nil for all objects.
    public var predicate: String?
    /// The order: names of properties or paths, with `-` before those that descend.
    public var sorts: [String] = []
    /// The greatest number of objects; nil for all.
    public var limit: Int?
    /// What it is for; the comment of the generated function.
    public var documentation: String?
    /// Where it is declared.
    public var location: SourceLocation?

    /// Declares a template for all objects of an entity.
    public init(name: String, entity: String, location: SourceLocation? = nil) {
        self.name = name
        self.entity = entity
        self.location = location
    }

    /// The `$variables` of the condition that have no value yet, in alphabetical order.
    var variables: [String] {
        guard let predicate, let tree = try? FetchPredicate(format: predicate) else { return [] }
        return tree.freeVariables.sorted()
    }

    /// What is wrong with the template, by a model without faults.
    func faults(in model: ManagedObjectModel) -> [ModelFault] {
        func fault(_ reason: String) -> ModelFault {
            ModelFault(entity: entity, message: "the fetch \(name): \(reason)", location: location)
        }
        guard let description = model.entity(named: entity) else {
            let advice = Spelling.suggestion(for: entity, in: model.entities.map(\.name))
            return [fault("the model has no entity \(entity)\(advice)")]
        }
        var faults: [ModelFault] = []
        if let predicate {
            do throws(PredicateParseError) {
                let tree = try FetchPredicate(format: predicate)
                for path in tree.keyPaths {
                    if let reason = model.fault(inPath: path, from: description, takesCollections: true) {
                        faults.append(fault(reason))
                    }
                }
            } catch {
                faults.append(fault("\(error)"))
            }
        }
        for sort in sorts {
            let path = sort.drop { $0 == "-" }.split(separator: ".").map(String.init)
            if let reason = model.fault(inPath: path, from: description, takesCollections: false) {
                faults.append(fault(reason))
            }
        }
        if let limit, limit < 0 { faults.append(fault("the limit must not be negative")) }
        return faults
    }
}

extension ModelFileReader {
    /// A mapping of names to `{entity: City, where: population >= $minimum, sort: [-population], limit: 10}`.
    func readFetches(_ node: Node) -> [FetchTemplate] {
        (entries(of: node, what: "'fetches'") ?? []).compactMap { key, name, value in
            let known = ["entity", "where", "sort", "limit", "documentation"]
            guard let fields = fields(of: value, known: known, what: "a fetch") else { return nil }
            guard let entity = fields["entity"].flatMap({ text($0, "entity") }) else {
                fault("the fetch \(name) names no entity; add 'entity: …'", key)
                return nil
            }
            guard name.first?.isLowercase == true, name.allSatisfy({ $0.isLetter || $0.isNumber }) else {
                fault("the name of a fetch begins with a small letter and has letters and digits only", key)
                return nil
            }
            var template = FetchTemplate(name: name, entity: entity, location: location(fields["where"] ?? key))
            template.predicate = fields["where"].flatMap { text($0, "where") }
            template.sorts = fields["sort"].flatMap { words($0, "sort") } ?? []
            template.limit = fields["limit"].flatMap { wholeNumber($0, "limit") }
            template.documentation = fields["documentation"].flatMap { text($0, "documentation") }
            return template
        }
    }
}
