import Foundation
import Strata
import StrataStore
import StrataTesting

/// A model for two stores: places, which an application delivers, and what its user does there. The entities of the two
/// are mixed, so that no store has them at the positions that the model gives them.
enum Travel: GeneratedModel {
    static let model = makeModel()
    static let classes: [ManagedObject.Type] = [
        Traveller.self, Region.self, Visit.self, Spot.self, Town.self, Village.self, Label.self,
    ]

    private static func makeModel() -> ManagedObjectModel {
        do {
            return try ManagedObjectModel(
                name: "Travel", configurations: [ModelConfiguration("Places", ["Region", "Spot", "Town", "Village"])]
            ) {
                entities
            }
        } catch {
            fatalError("\(error)")
        }
    }

    @ModelBuilder static var entities: [Entity] {
        Entity("Traveller") {
            Attribute("name", .string)
            Relationship("visits", to: "Visit", .orderedToMany, inverse: "traveller", deleteRule: .cascade)
        }
        Entity("Region") {
            Attribute("code", .string).unique()
            Attribute("about", .binary, optional: true).externalStorage()
            Relationship("spots", to: "Spot", .toMany, inverse: "region", deleteRule: .cascade)
            FetchedProperty("visits", of: "Visit", where: "regionCode == $FETCH_SOURCE.code", sortedBy: "note")
        }
        Entity("Visit") {
            Attribute("note", .string)
            Attribute("stars", .integer64, default: .value(0))
            Attribute("spot", .uri, optional: true).references("Spot")
            Attribute("regionCode", .string, optional: true)
            Relationship("traveller", to: "Traveller", .optionalToOne, inverse: "visits")
            Relationship("labels", to: "Label", .toMany, inverse: "visits")
        }
        Entity("Spot", abstract: true) {
            Attribute("name", .string)
            Attribute("population", .integer64, default: .value(0))
            Relationship("region", to: "Region", .optionalToOne, inverse: "spots")
        }
        Entity("Town", inherits: "Spot") { Attribute("mayor", .string, optional: true) }
        Entity("Village", inherits: "Spot") {}
        Entity("Label") {
            Attribute("text", .string).unique()
            Relationship("visits", to: "Visit", .toMany, inverse: "labels")
        }
    }
}

final class Traveller: ManagedObject {
    override class var entityName: String { "Traveller" }
    var name: String {
        get { _value(0) }
        set { _setValue(newValue, 0) }
    }
    var visits: [Visit] {
        get { _orderedToMany(0) }
        set { _setOrderedToMany(newValue, 0) }
    }
    convenience init(_ context: ManagedObjectContext, _ name: String) {
        self.init(inserting: context)
        self.name = name
    }
}

final class Region: ManagedObject {
    override class var entityName: String { "Region" }
    var code: String {
        get { _value(0) }
        set { _setValue(newValue, 0) }
    }
    var about: Data? {
        get { _optionalValue(1) }
        set { _setOptionalValue(newValue, 1) }
    }
    var spots: Set<Spot> {
        get { _toMany(0) }
        set { _setToMany(newValue, 0) }
    }
    var visits: [Visit] { _fetched("visits") }
    convenience init(_ context: ManagedObjectContext, _ code: String) {
        self.init(inserting: context)
        self.code = code
    }
}

final class Visit: ManagedObject {
    override class var entityName: String { "Visit" }
    var note: String {
        get { _value(0) }
        set { _setValue(newValue, 0) }
    }
    var stars: Int64 {
        get { _value(1) }
        set { _setValue(newValue, 1) }
    }
    var spot: ObjectReference<Spot>? {
        get { _optionalValue(2) }
        set { _setOptionalValue(newValue, 2) }
    }
    var regionCode: String? {
        get { _optionalValue(3) }
        set { _setOptionalValue(newValue, 3) }
    }
    var traveller: Traveller? {
        get { _optionalToOne(4) }
        set { _setToOne(newValue, 4) }
    }
    var labels: Set<Label> {
        get { _toMany(0) }
        set { _setToMany(newValue, 0) }
    }
    convenience init(_ context: ManagedObjectContext, _ note: String, _ spot: Spot? = nil) {
        self.init(inserting: context)
        self.note = note
        self.spot = spot.map(ObjectReference.init)
    }
}

class Spot: ManagedObject {
    override class var entityName: String { "Spot" }
    final var name: String {
        get { _value(0) }
        set { _setValue(newValue, 0) }
    }
    final var population: Int64 {
        get { _value(1) }
        set { _setValue(newValue, 1) }
    }
    final var region: Region? {
        get { _optionalToOne(2) }
        set { _setToOne(newValue, 2) }
    }
    /// How often `didSave` ran.
    final var saves = 0
    override func didSave() { saves += 1 }
    convenience init(_ context: ManagedObjectContext, _ name: String, _ region: Region? = nil) {
        self.init(inserting: context)
        self.name = name
        self.region = region
    }
}

final class Town: Spot {
    override class var entityName: String { "Town" }
    var mayor: String? {
        get { _optionalValue(3) }
        set { _setOptionalValue(newValue, 3) }
    }
}

final class Village: Spot {
    override class var entityName: String { "Village" }
}

final class Label: ManagedObject {
    override class var entityName: String { "Label" }
    var text: String {
        get { _value(0) }
        set { _setValue(newValue, 0) }
    }
    var visits: Set<Visit> {
        get { _toMany(0) }
        set { _setToMany(newValue, 0) }
    }
    convenience init(_ context: ManagedObjectContext, _ text: String) {
        self.init(inserting: context)
        self.text = text
    }
}

extension ObjectKeys where Object == Visit {
    var note: AttributeKey<String> { AttributeKey(path, "note") }
    var stars: AttributeKey<Int64> { AttributeKey(path, "stars") }
    var spot: AttributeKey<ObjectReference<Spot>?> { AttributeKey(path, "spot") }
}

extension ObjectKeys where Object: Spot {
    var name: AttributeKey<String> { AttributeKey(path, "name") }
    var population: AttributeKey<Int64> { AttributeKey(path, "population") }
}

/// Places in one file and visits in another, removed with this object. Either can be made to fail.
final class TravelFiles {
    let container: PersistentContainer
    let places: FaultInjectingStore
    let visits: FaultInjectingStore
    let folder: URL
    private let statements = Guarded<[String]>([])

    var placesPath: String { folder.appendingPathComponent("places.sqlite").path }
    var visitsPath: String { folder.appendingPathComponent("visits.sqlite").path }

    /// - Parameter options: How both are opened.
    init(_ options: SQLiteStore.Options = SQLiteStore.Options()) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-travel-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        let opened = Guarded<[FaultInjectingStore]>([])
        var options = options
        let statements = statements
        options.externalStorageThreshold = 100
        options.trace = { trace in statements.withLock { $0.append(trace.sql) } }
        let traced = options
        func file(_ configuration: String?, _ name: String) -> PersistentStoreDescription {
            let path = folder.appendingPathComponent(name).path
            return PersistentStoreDescription(configuration: configuration) { (model) throws(StoreError) in
                let store = FaultInjectingStore(
                    try SQLiteStore.open(model: model, location: .file(path: path), options: traced))
                opened.withLock { $0.append(store) }
                return store
            }
        }
        container = try PersistentContainer(
            Travel.self, stores: [file("Places", "places.sqlite"), file(nil, "visits.sqlite")])
        let stores = opened.withLock(\.self)
        (places, visits) = (stores[0], stores[1])
    }

    deinit {
        container.close()
        // In the system's temporary folder; a failure leaves litter there, no wrong result.
        try? FileManager.default.removeItem(at: folder)
    }

    /// The statements of a closure.
    func statements<R>(_ body: () throws -> R) rethrows -> [String] {
        statements.withLock { $0 = [] }
        _ = try body()
        return statements.withLock { $0.filter { !$0.hasPrefix("PRAGMA") } }
    }

    /// Both files without anything around the stores.
    func descriptions(
        _ places: SQLiteStore.Options = .init(), _ visits: SQLiteStore.Options = .init()
    ) -> [PersistentStoreDescription] {
        [
            PersistentStoreDescription(configuration: "Places", at: .file(path: placesPath), options: places),
            PersistentStoreDescription(at: .file(path: visitsPath), options: visits),
        ]
    }

    /// A container on the same files, which is a stranger to the first one, as another process is.
    func stranger() throws -> PersistentContainer { try PersistentContainer(Travel.self, stores: descriptions()) }
}
