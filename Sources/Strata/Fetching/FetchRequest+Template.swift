extension ManagedObjectModel {
    /// A request that the model declares under a name, with values in place of its variables.
    ///
    ///     let request: FetchRequest<City> = try model.fetchRequest(
    ///         fromTemplateNamed: "largeCities", substitutionVariables: ["minimum": 100_000])
    /// - Parameters:
    ///   - name: The name of the template; see ``fetchTemplates``.
    ///   - variables: A value for each `$variable` of the template; nil for no value.
    /// - Throws: A ``FetchTemplateError`` for a name that the model does not have, and for variables that are missing or
    ///   that the template does not know.
    public func fetchRequest<Object: ManagedObject>(
        fromTemplateNamed name: String, substitutionVariables variables: [String: (any PredicateArgument)?] = [:]
    ) throws(FetchTemplateError) -> FetchRequest<Object> {
        guard let template = fetchRequestTemplate(named: name) else {
            throw .unknownTemplate(name: name, model: self.name, known: fetchTemplates.map(\.name))
        }
        let needed = Set(template.variables)
        let missing = needed.subtracting(variables.keys).sorted()
        guard missing.isEmpty else { throw .missingVariables(template: name, variables: missing) }
        let unknown = Set(variables.keys).subtracting(needed).sorted()
        guard unknown.isEmpty else {
            throw .unknownVariables(template: name, variables: unknown, known: template.variables)
        }
        let values = variables.mapValues { $0?.predicateArgument ?? .null }
        return FetchRequest(
            entity: template.entity, where: template.condition?.withVariables(values),
            sortedBy: template.order.map { $0.withVariables(values) }, limit: template.limit)
    }

    /// A request that generated code asks for: name and variables are those of the model that it was generated from.
    public func _fetchRequest<Object: ManagedObject>(
        _ name: String, _ variables: [String: (any PredicateArgument)?]
    ) -> FetchRequest<Object> {
        do throws(FetchTemplateError) {
            return try fetchRequest(fromTemplateNamed: name, substitutionVariables: variables)
        } catch {
            fatalError("a generated fetch is out of step with its model; generate it again: \(error)")
        }
    }
}

/// An error of a request that the model declares: the name is unknown, or the variables do not match.
///
///     do {
///         let request: FetchRequest<City> = try model.fetchRequest(fromTemplateNamed: "largeCities")
///         print(try context.count(request))
///     } catch let error as FetchTemplateError {
///         print(error)  // the fetch largeCities needs values for $minimum; nil is a value, too
///     }
///
/// `ManagedObjectModel.fetchRequest(fromTemplateNamed:substitutionVariables:)` throws it. The functions that the generator
/// writes for the same requests, such as `City.fetchLargeCities(minimum:)`, cannot fail, because the compiler checks name and
/// variables. ``description`` suggests the nearest name, or lists the variables.
public enum FetchTemplateError: Error, Sendable, Hashable {
    /// The model has no fetch template with this name.
    case unknownTemplate(name: String, model: String, known: [String])
    /// Variables of the template got no value.
    case missingVariables(template: String, variables: [String])
    /// Values were given for variables that the template does not have.
    case unknownVariables(template: String, variables: [String], known: [String])
}

extension FetchTemplateError: CustomStringConvertible {
    /// What happened and what to do.
    public var description: String {
        func list(_ names: [String]) -> String { names.map { "$\($0)" }.joined(separator: ", ") }
        switch self {
        case .unknownTemplate(let name, let model, let known):
            let suggestion = Spelling.suggestion(for: name, in: known)
            let others = known.isEmpty ? "; it has none" : "; it has \(known.joined(separator: ", "))"
            return "the model \(model) has no fetch named \(name)" + (suggestion.isEmpty ? others : suggestion)
        case .missingVariables(let template, let variables):
            return "the fetch \(template) needs values for \(list(variables)); nil is a value, too"
        case .unknownVariables(let template, let variables, let known):
            return "the fetch \(template) has no \(list(variables)); "
                + (known.isEmpty ? "it takes no values" : "it has \(list(known))")
        }
    }
}
