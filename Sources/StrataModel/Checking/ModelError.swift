/// One fault of a model: where it is, what is wrong, and what to do.
///
///     let faults = ManagedObjectModel.faults(in: [Entity("City") { Attribute("name", .string).range(0...) }])
///     for fault in faults {
///         print(fault.entity ?? "-", fault.property ?? "-", fault.message)
///     }
///
/// ``entity`` and ``property`` are nil where a fault concerns the model or an entity as a whole. A message about
/// an unknown name suggests the most similar known one. The ``description`` is a line as compilers print it, so that
/// editors and build logs open the ``location``.
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

/// All faults of a model that cannot be created.
///
///     do {
///         _ = try ManagedObjectModel(name: "Atlas") {
///             Entity("City") { Attribute("name", .string, default: .value(5)) }
///         }
///     } catch {
///         for fault in error.faults { print(fault.message) }  // the default 5 is of type integer, not string
///     }
///
/// Creating a model checks all declarations in one pass and throws this error with everything that is wrong, in the
/// order of the declarations. Mistakes that follow from another one are left out. With the build plug-in, a model file
/// is checked by the build, and ``GeneratedModel/model`` does not throw.
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
