import Foundation
import Strata

/// The model that the tests of traps work with: inheritance, ordered many-to-many, cascades in cycles and diamonds,
/// every rule of validation. Written by hand, as ``Library`` is.
enum Zoo: GeneratedModel {
    static let model = makeModel()
    static let classes: [ManagedObject.Type] = [
        Animal.self, Cat.self, Dog.self, Enclosure.self, Keeper.self, Trick.self, Node.self, Diary.self, Sample.self,
    ]

    private static func makeModel() -> ManagedObjectModel {
        do {
            return try ManagedObjectModel(name: "Zoo") {
                beings
                places
                things
            }
        } catch {
            fatalError("\(error)")
        }
    }

    @ModelBuilder private static var beings: [Entity] {
        Entity("Animal", abstract: true) {
            Attribute("name", .string).length(1...20)
            Attribute("weight", .double, default: .value(1.0)).range(0.0...1000.0)
            Attribute("mood", .string, optional: true).transient()
            Relationship("enclosure", to: "Enclosure", .optionalToOne, inverse: "animals")
            Relationship("friend", to: "Animal", .optionalToOne, inverse: "friend")
            Relationship("fans", to: "Keeper", .toMany, inverse: "favourites")
        }
        Entity("Cat", inherits: "Animal") {
            Attribute("lives", .integer16, default: .value(9)).range(0...9)
            Relationship("kittens", to: "Cat", .toMany, inverse: "mother", deleteRule: .cascade)
            Relationship("mother", to: "Cat", .optionalToOne, inverse: "kittens")
        }
        Entity("Dog", inherits: "Animal") {
            Attribute("chip", .string, optional: true).unique()
            Relationship("tricks", to: "Trick", .orderedToMany, inverse: "dogs")
        }
        Entity("Trick") {
            Attribute("title", .string)
            Relationship("dogs", to: "Dog", .orderedToMany, inverse: "tricks")
        }
    }

    @ModelBuilder private static var places: [Entity] {
        Entity("Enclosure") {
            Attribute("code", .string).matching("[A-Z]{2}-[0-9]+")
            Attribute(
                "place",
                .composite([
                    CompositeElement("street", .string, optional: true),
                    CompositeElement("number", .integer32, optional: true),
                ]),
                optional: true)
            Attribute("search", .string, optional: true).derived(.canonical("code"))
            Relationship("animals", to: "Animal", .toMany, inverse: "enclosure", deleteRule: .deny)
            Relationship("keepers", to: "Keeper", .toMany, inverse: "enclosures").count(0, 3)
            Relationship("wardens", to: "Keeper", .toMany, inverse: "watches").count(1, 2)
        }
        Entity("Keeper") {
            Attribute("keeperId", .string, optional: true).unique()
            Attribute("name", .string)
            Relationship("enclosures", to: "Enclosure", .toMany, inverse: "keepers")
            Relationship("favourites", to: "Animal", .orderedToMany, inverse: "fans")
            Relationship("watches", to: "Enclosure", .optionalToOne, inverse: "wardens")
            Relationship("diary", to: "Diary", .optionalToOne, inverse: "keeper", deleteRule: .cascade)
        }
        Entity("Diary") {
            Attribute("text", .string, default: .value(""))
            Relationship("keeper", to: "Keeper", .toOne, inverse: "diary")
        }
    }

    @ModelBuilder private static var things: [Entity] {
        Entity("Node") {
            Attribute("label", .string)
            Relationship("next", to: "Node", .optionalToOne, inverse: "previous", deleteRule: .cascade)
            Relationship("previous", to: "Node", .optionalToOne, inverse: "next", deleteRule: .cascade)
            Relationship("parts", to: "Node", .toMany, inverse: "wholes", deleteRule: .cascade)
            Relationship("wholes", to: "Node", .toMany, inverse: "parts")
            Relationship("locks", to: "Node", .toMany, inverse: "lockedBy", deleteRule: .deny)
            Relationship("lockedBy", to: "Node", .optionalToOne, inverse: "locks")
        }
        Entity("Sample") {
            Attribute("label", .string, default: .value(""))
            Attribute("decimal", .decimal, optional: true)
            Attribute("date", .date, optional: true)
            Attribute("double", .double, optional: true)
            Attribute("flag", .boolean, default: .value(false))
            Attribute("small", .integer16, default: .value(0))
            Attribute("uuid", .uuid, optional: true)
            Attribute("text", .string, optional: true)
        }
    }
}

/// What hooks of the zoo's objects report to. Tests run in parallel, so each container's objects find theirs through
/// the context's name.
final class HookLog {
    var lines: [String] = []
    /// Runs in `willSave` and other hooks, by the name of the hook.
    var actions: [String: (ManagedObject) throws -> Void] = [:]

    /// The log of the objects of the current task; nil if nothing listens.
    @TaskLocal static var current: Box?

    struct Box: @unchecked Sendable {
        // Guarded by the test, which uses it from the one task that set it.
        let log: HookLog
    }

    static func note(_ hook: String, _ object: ManagedObject) {
        guard let log = current?.log else { return }
        log.lines.append("\(hook) \(object.entity.name)")
        do { try log.actions[hook]?(object) } catch { fatalError("only validators may throw: \(error)") }
    }

    static func validate(_ hook: String, _ object: ManagedObject) throws {
        guard let log = current?.log else { return }
        log.lines.append("\(hook) \(object.entity.name)")
        try log.actions[hook]?(object)
    }

    /// Runs a test with a log of its own.
    static func listening<R>(_ body: (HookLog) throws -> R) rethrows -> R {
        let log = HookLog()
        return try $current.withValue(Box(log: log)) { try body(log) }
    }

    /// The lines since the last time.
    func take() -> [String] {
        defer { lines = [] }
        return lines
    }
}

/// An object whose hooks report.
class Being: ManagedObject {
    override func awakeFromInsert() { HookLog.note("awakeFromInsert", self) }
    override func awakeFromFetch() { HookLog.note("awakeFromFetch", self) }
    override func willSave() { HookLog.note("willSave", self) }
    override func didSave() { HookLog.note("didSave", self) }
    override func prepareForDeletion() { HookLog.note("prepareForDeletion", self) }
    override func willTurnIntoFault() { HookLog.note("willTurnIntoFault", self) }
    override func didTurnIntoFault() { HookLog.note("didTurnIntoFault", self) }
    override func validateForInsert() throws { try HookLog.validate("validateForInsert", self) }
    override func validateForUpdate() throws { try HookLog.validate("validateForUpdate", self) }
    override func validateForDelete() throws { try HookLog.validate("validateForDelete", self) }
}

class Animal: Being {
    override class var entityName: String { "Animal" }
    final var name: String {
        get { _value(0) }
        set { _setValue(newValue, 0) }
    }
    final var weight: Double {
        get { _value(1) }
        set { _setValue(newValue, 1) }
    }
    final var mood: String? {
        get { _optionalValue(2) }
        set { _setOptionalValue(newValue, 2) }
    }
    final var enclosure: Enclosure? {
        get { _optionalToOne(3) }
        set { _setToOne(newValue, 3) }
    }
    final var friend: Animal? {
        get { _optionalToOne(4) }
        set { _setToOne(newValue, 4) }
    }
    final var fans: Set<Keeper> {
        get { _toMany(0) }
        set { _setToMany(newValue, 0) }
    }
}

class Cat: Animal {
    override class var entityName: String { "Cat" }
    final var lives: Int16 {
        get { _value(5) }
        set { _setValue(newValue, 5) }
    }
    final var mother: Cat? {
        get { _optionalToOne(6) }
        set { _setToOne(newValue, 6) }
    }
    final var kittens: Set<Cat> {
        get { _toMany(1) }
        set { _setToMany(newValue, 1) }
    }
    convenience init(_ context: ManagedObjectContext, name: String, enclosure: Enclosure? = nil) {
        self.init(inserting: context)
        self.name = name
        self.enclosure = enclosure
    }
}

class Dog: Animal {
    override class var entityName: String { "Dog" }
    final var chip: String? {
        get { _optionalValue(5) }
        set { _setOptionalValue(newValue, 5) }
    }
    final var tricks: [Trick] {
        get { _orderedToMany(1) }
        set { _setOrderedToMany(newValue, 1) }
    }
    convenience init(_ context: ManagedObjectContext, name: String, enclosure: Enclosure? = nil) {
        self.init(inserting: context)
        self.name = name
        self.enclosure = enclosure
    }
}

class Trick: Being {
    override class var entityName: String { "Trick" }
    final var title: String {
        get { _value(0) }
        set { _setValue(newValue, 0) }
    }
    final var dogs: [Dog] {
        get { _orderedToMany(0) }
        set { _setOrderedToMany(newValue, 0) }
    }
    convenience init(_ context: ManagedObjectContext, title: String) {
        self.init(inserting: context)
        self.title = title
    }
}

class Enclosure: Being {
    override class var entityName: String { "Enclosure" }
    final var code: String {
        get { _value(0) }
        set { _setValue(newValue, 0) }
    }
    final var search: String? { _optionalValue(3) }
    final var animals: Set<Animal> {
        get { _toMany(0) }
        set { _setToMany(newValue, 0) }
    }
    final var keepers: Set<Keeper> {
        get { _toMany(1) }
        set { _setToMany(newValue, 1) }
    }
    final var wardens: Set<Keeper> {
        get { _toMany(2) }
        set { _setToMany(newValue, 2) }
    }
    final func addAnimals(_ animals: some Sequence<Animal>) { _add(animals.map { $0 as ManagedObject }, 0) }
    final func removeAnimals(_ animals: some Sequence<Animal>) { _remove(animals.map { $0 as ManagedObject }, 0) }
    final func addKeepers(_ keepers: some Sequence<Keeper>) { _add(keepers.map { $0 as ManagedObject }, 1) }
    final func removeKeepers(_ keepers: some Sequence<Keeper>) { _remove(keepers.map { $0 as ManagedObject }, 1) }

    /// With a warden, whom every enclosure must have.
    convenience init(_ context: ManagedObjectContext, code: String) {
        self.init(inserting: context)
        self.code = code
        wardens = [Keeper(context, name: "Warden of \(code)")]
    }
}

class Keeper: Being {
    override class var entityName: String { "Keeper" }
    final var keeperId: String? {
        get { _optionalValue(0) }
        set { _setOptionalValue(newValue, 0) }
    }
    final var name: String {
        get { _value(1) }
        set { _setValue(newValue, 1) }
    }
    final var watches: Enclosure? {
        get { _optionalToOne(2) }
        set { _setToOne(newValue, 2) }
    }
    final var diary: Diary? {
        get { _optionalToOne(3) }
        set { _setToOne(newValue, 3) }
    }
    final var enclosures: Set<Enclosure> {
        get { _toMany(0) }
        set { _setToMany(newValue, 0) }
    }
    final var favourites: [Animal] {
        get { _orderedToMany(1) }
        set { _setOrderedToMany(newValue, 1) }
    }
    convenience init(_ context: ManagedObjectContext, name: String) {
        self.init(inserting: context)
        self.name = name
    }
}

class Diary: Being {
    override class var entityName: String { "Diary" }
    final var text: String {
        get { _value(0) }
        set { _setValue(newValue, 0) }
    }
    final var keeper: Keeper {
        get { _toOne(1) }
        set { _setToOne(newValue, 1) }
    }
}

class Node: Being {
    override class var entityName: String { "Node" }
    final var label: String {
        get { _value(0) }
        set { _setValue(newValue, 0) }
    }
    final var next: Node? {
        get { _optionalToOne(1) }
        set { _setToOne(newValue, 1) }
    }
    final var previous: Node? {
        get { _optionalToOne(2) }
        set { _setToOne(newValue, 2) }
    }
    final var lockedBy: Node? {
        get { _optionalToOne(3) }
        set { _setToOne(newValue, 3) }
    }
    final var parts: Set<Node> {
        get { _toMany(0) }
        set { _setToMany(newValue, 0) }
    }
    final var wholes: Set<Node> {
        get { _toMany(1) }
        set { _setToMany(newValue, 1) }
    }
    final var locks: Set<Node> {
        get { _toMany(2) }
        set { _setToMany(newValue, 2) }
    }
    convenience init(_ context: ManagedObjectContext, _ label: String) {
        self.init(inserting: context)
        self.label = label
    }
}

class Sample: Being {
    override class var entityName: String { "Sample" }
    final var label: String {
        get { _value(0) }
        set { _setValue(newValue, 0) }
    }
    final var decimal: Decimal? {
        get { _optionalValue(1) }
        set { _setOptionalValue(newValue, 1) }
    }
    final var date: Date? {
        get { _optionalValue(2) }
        set { _setOptionalValue(newValue, 2) }
    }
    final var double: Double? {
        get { _optionalValue(3) }
        set { _setOptionalValue(newValue, 3) }
    }
    final var flag: Bool {
        get { _value(4) }
        set { _setValue(newValue, 4) }
    }
    final var small: Int16 {
        get { _value(5) }
        set { _setValue(newValue, 5) }
    }
    final var uuid: UUID? {
        get { _optionalValue(6) }
        set { _setOptionalValue(newValue, 6) }
    }
    final var text: String? {
        get { _optionalValue(7) }
        set { _setOptionalValue(newValue, 7) }
    }
    convenience init(_ context: ManagedObjectContext, _ label: String) {
        self.init(inserting: context)
        self.label = label
    }
}
