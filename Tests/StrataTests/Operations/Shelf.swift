import Foundation
import Strata

/// A model with attributes of each kind that operations change, and of some that they do not.
enum Shelves: GeneratedModel {
    static let model = makeModel()
    static let classes: [ManagedObject.Type] = [Shelf.self]

    private static func makeModel() -> ManagedObjectModel {
        var shelf = Entity(name: "Shelf", location: nil)
        shelf.attributes = [
            Attribute("name", .string), Attribute("count", .integer64, default: .value(0)),
            Attribute("small", .integer16, optional: true), Attribute("amount", .decimal, optional: true),
            Attribute("ratio", .double, default: .value(0)), Attribute("tags", .array(.string)),
            Attribute("sizes", .array(.double), optional: true),
            Attribute("passing", .integer64, optional: true).transient(),
            Attribute("upper", .string, optional: true).derived(.uppercase("name")),
            Attribute("stock", .integer64, default: .value(10)).range(minimum: .integer(0), maximum: nil),
        ]
        do {
            return try ManagedObjectModel(name: "Shelves", entities: [shelf])
        } catch {
            fatalError("\(error)")
        }
    }
}

final class Shelf: ManagedObject {
    override class var entityName: String { "Shelf" }
    var name: String {
        get { _value(0) }
        set { _setValue(newValue, 0) }
    }
    var count: Int64 {
        get { _value(1) }
        set { _setValue(newValue, 1) }
    }
    var small: Int16? {
        get { _optionalValue(2) }
        set { _setOptionalValue(newValue, 2) }
    }
    var amount: Decimal? {
        get { _optionalValue(3) }
        set { _setOptionalValue(newValue, 3) }
    }
    var ratio: Double {
        get { _value(4) }
        set { _setValue(newValue, 4) }
    }
    var tags: [String] {
        get { _array(5) }
        set { _setArray(newValue, 5) }
    }
    var sizes: [Double]? {
        get { _optionalArray(6) }
        set { _setOptionalArray(newValue, 6) }
    }
    var stock: Int64 {
        get { _value(9) }
        set { _setValue(newValue, 9) }
    }
}

extension ObjectKeys where Object == Shelf {
    var name: AttributeKey<String> { AttributeKey(path, "name") }
    var count: AttributeKey<Int64> { AttributeKey(path, "count") }
    var small: AttributeKey<Int16?> { AttributeKey(path, "small") }
    var amount: AttributeKey<Decimal?> { AttributeKey(path, "amount") }
    var ratio: AttributeKey<Double> { AttributeKey(path, "ratio") }
    var tags: JSONListKey<String> { JSONListKey(path, "tags") }
    var sizes: JSONListKey<Double> { JSONListKey(path, "sizes") }
    var stock: AttributeKey<Int64> { AttributeKey(path, "stock") }
}

/// A file with one shelf, and containers on it that know nothing of one another, as processes do not.
final class ShelfFile {
    let containers: [PersistentContainer]
    private let folder: URL

    init(strangers: Int = 1) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-shelf-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appendingPathComponent("shelf.sqlite").path
        containers = try (0...strangers).map { _ in try PersistentContainer(Shelves.self, at: .file(path: path)) }
        let context = context()
        let shelf = Shelf(inserting: context)
        shelf.name = "first"
        try context.save()
    }

    deinit {
        for container in containers { container.close() }
        // In the system's temporary folder; a failure leaves litter there, no wrong result.
        try? FileManager.default.removeItem(at: folder)
    }

    func context(_ container: Int = 0, policy: MergePolicy = .error) -> ManagedObjectContext {
        let context = containers[container].newContext()
        context.mergePolicy = policy
        return context
    }

    /// The shelf as the file has it.
    func stored() throws -> Shelf { try context(containers.count - 1).shelf() }
}

extension ManagedObjectContext {
    func shelf() throws -> Shelf { try fetch(FetchRequest<Shelf>())[0] }
}
