/// A model together with its generated classes, to open a container with.
///
///     let container = try PersistentContainer(GazetteerModel.self, at: .file(path: "gazetteer.sqlite"))
///     print(GazetteerModel.model.entities.map(\.name))
///
/// The generator writes an enumeration that conforms for each model file: `gazetteer.strata.yaml` with `model: Gazetteer` gives
/// `GazetteerModel`. Pass it to an initializer of ``PersistentContainer``; use its ``model`` where a store or a test needs only
/// the model. If you declare a model in Swift, there is no such type, and you pass the ``ManagedObjectModel`` itself and your
/// classes.
public protocol GeneratedModel {
    /// The checked model.
    static var model: ManagedObjectModel { get }
    /// The classes of the entities, in the order of the model file.
    static var classes: [ManagedObject.Type] { get }
}
