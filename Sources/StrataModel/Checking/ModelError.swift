/// One fault of a model.
public struct ModelFault: Sendable, Hashable, CustomStringConvertible {
    /// The entity, if the fault belongs to one.
    public var entity: String?
    /// The property, if the fault belongs to one.
    public var property: String?
    /// What is wrong and what to do.
    public var message: String
    /// Where the fault is.
    public var location: SourceLocation?

    /// Describes a fault.
    public init(entity: String? = nil, property: String? = nil, message: String, location: SourceLocation? = nil) {
        self.entity = entity
        self.property = property
        self.message = message
        self.location = location
    }

    /// The fault on one line, as compilers print theirs: `file:line:column: error: Entity.property: message`.
    public var description: String {
        let subject = [entity, property].compactMap(\.self).joined(separator: ".")
        let text = subject.isEmpty ? message : "\(subject): \(message)"
        return location.map { "\($0): error: \(text)" } ?? "error: \(text)"
    }
}

/// All faults of a model.
public struct ModelError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the model.
    public var model: String
    /// The faults, in the order of the declarations.
    public var faults: [ModelFault]

    /// Collects faults.
    public init(model: String, faults: [ModelFault]) {
        self.model = model
        self.faults = faults
    }

    /// The faults, one per line.
    public var description: String { faults.map(\.description).joined(separator: "\n") }
}
