extension FetchTemplate {
    /// Declares a request under a name.
    /// - Parameters:
    ///   - name: The name, in lowerCamelCase.
    ///   - entity: The entity whose objects it asks for.
    ///   - predicate: The condition in the format language, with `$variables`; nil for all objects.
    ///   - sorts: Criteria of the order; see ``FetchSort/init(format:)``.
    ///   - limit: The maximum number of objects; nil for all.
    public init(
        _ name: String, of entity: String, where predicate: String? = nil, sortedBy sorts: String...,
        limit: Int? = nil, file: String = #fileID, line: Int = #line, column: Int = #column
    ) {
        self.init(
            name: name, entity: entity, where: predicate, sortedBy: sorts, limit: limit,
            location: SourceLocation(file: file, line: line, column: column))
    }

    /// Declares a request under a name, at a given place; see ``init(_:of:where:sortedBy:limit:file:line:column:)``.
    public init(
        name: String, entity: String, where predicate: String?, sortedBy sorts: [String], limit: Int?,
        location: SourceLocation?
    ) {
        self.init(
            name: name, entity: entity, predicate: predicate, sorts: sorts, limit: limit, location: location,
            content: ReadFetch(predicate, sorts))
    }

    /// The condition, with its variables; nil for all objects, and for a text that is not a condition.
    public var condition: FetchPredicate? { read.predicate }
    /// The order, with its variables, as far as the texts can be read.
    public var order: [FetchSort] { read.sorts }

    private var read: ReadFetch {
        guard let read = content as? ReadFetch else {
            fatalError("a template is made by an initializer of StrataQuery; make \(name) by one")
        }
        return read
    }
}

extension FetchedProperty {
    /// Declares a property; see ``FetchTemplate/init(_:of:where:sortedBy:limit:file:line:column:)``.
    public init(
        _ name: String, of entity: String, where predicate: String? = nil, sortedBy sorts: String...,
        limit: Int? = nil, file: String = #fileID, line: Int = #line, column: Int = #column
    ) {
        self.init(
            FetchTemplate(
                name: name, entity: entity, where: predicate, sortedBy: sorts, limit: limit,
                location: SourceLocation(file: file, line: line, column: column)))
    }
}

/// The texts of a template, read.
private struct ReadFetch: FetchContent {
    private(set) var predicate: FetchPredicate?
    private(set) var sorts: [FetchSort] = []
    private var errors: [String] = []

    init(_ predicate: String?, _ sorts: [String]) {
        if let predicate {
            do throws(PredicateParseError) {
                self.predicate = try FetchPredicate(format: predicate)
            } catch {
                errors.append("\(error)")
            }
        }
        for sort in sorts {
            do throws(PredicateParseError) {
                self.sorts.append(try FetchSort(format: sort))
            } catch {
                errors.append("the order by \(sort): \(error)")
            }
        }
    }

    var variables: Set<String> {
        sorts.reduce(into: predicate?.freeVariables ?? []) { $0.formUnion($1.expression.freeVariables) }
    }

    private func keyPaths(from variable: String?) -> [[String]] {
        (predicate?.keyPaths(from: variable) ?? []) + sorts.flatMap { $0.expression.keyPaths(from: variable) }
    }

    func faults(
        of entity: EntityDescription, for property: (owner: EntityDescription, property: FetchedProperty)?,
        in model: ManagedObjectModel
    ) -> [String] {
        var faults = errors
        for path in predicate?.keyPaths ?? [] {
            if let reason = model.fault(inPath: path, from: entity, takesCollections: true) { faults.append(reason) }
        }
        for sort in sorts {
            if let reason = model.fault(inOrder: sort, from: entity) { faults.append(reason) }
        }
        if let property { faults += self.faults(of: property.property, owner: property.owner, in: model) }
        return faults
    }

    /// What is wrong with the variables of a fetched property.
    private func faults(
        of property: FetchedProperty, owner: EntityDescription, in model: ManagedObjectModel
    ) -> [String] {
        let known = [FetchedProperty.sourceVariable, FetchedProperty.propertyVariable]
        var faults = variables.subtracting(known).sorted().map { name in
            "$\(name) has no value; a fetched property knows $\(known[0]) and $\(known[1])"
                + Spelling.suggestion(for: name, in: known)
        }
        for path in keyPaths(from: FetchedProperty.sourceVariable) {
            if let reason = model.fault(inPath: path, from: owner, takesCollections: true, isStored: false) {
                faults.append("$\(FetchedProperty.sourceVariable): \(reason)")
            }
        }
        for path in keyPaths(from: FetchedProperty.propertyVariable) {
            let isKnown =
                path == ["name"] || path.count == 2 && path[0] == "userInfo" && property.userInfo[path[1]] != nil
            if !isKnown {
                faults.append(
                    "$\(FetchedProperty.propertyVariable).\(path.joined(separator: ".")): there are name, and userInfo "
                        + "with the keys that the property has")
            }
        }
        return faults
    }
}
