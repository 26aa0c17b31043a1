/// A model with its classes, as generated code defines it.
public protocol GeneratedModel {
    /// The model.
    static var model: ManagedObjectModel { get }
    /// The classes of the entities.
    static var classes: [ManagedObject.Type] { get }
}
