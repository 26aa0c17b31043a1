/// A way to let an object or a context out of its isolation, or a condition that means nothing, and the right way to do
/// the same.
struct Snippet: Sendable {
    /// When the compiler finds the leak: while checking types, or in the later passes that follow values through the
    /// code. The later passes run only over code whose types are right, so that the two kinds are compiled apart.
    enum Phase: Sendable { case types, flow }

    let name: String
    let phase: Phase
    /// A part of the error that the compiler must report.
    let expected: String
    /// Must not compile.
    let leak: String
    /// Must compile.
    let twin: String

    init(_ name: String, _ phase: Phase, expecting expected: String, leak: String, twin: String) {
        self.name = name
        self.phase = phase
        self.expected = expected
        self.leak = leak
        self.twin = twin
    }

    /// What all snippets begin with.
    static let imports = "import Foundation\nimport Strata\nimport StrataStore\nimport Synchronization\n\n"

    /// The classes of objects that they try to leak, with typed keys.
    static let prelude = """
        import Strata

        class City: ManagedObject {
            override class var entityName: String { "City" }
            final var name: String {
                get { _value(0) }
                set { _setValue(newValue, 0) }
            }
            final var sisters: Set<City> {
                get { _toMany(0) }
                set { _setToMany(newValue, 0) }
            }
            convenience init(_ context: ManagedObjectContext, name: String) {
                self.init(inserting: context)
                self.name = name
            }
        }

        class Country: ManagedObject {}

        extension ObjectKeys where Object: City {
            var name: AttributeKey<String> { AttributeKey(path, "name") }
            var population: AttributeKey<Int64> { AttributeKey(path, "population") }
        }

        struct CityKeys: EntityKeys {
            typealias Object = City
            let path: TypedPath
            init(path: TypedPath = []) { self.path = path }
            var name: AttributeKey<String> { AttributeKey(path, "name") }
            var population: AttributeKey<Int64> { AttributeKey(path, "population") }
            var latitude: AttributeKey<Double> { AttributeKey(path, "latitude") }
            var isPort: AttributeKey<Bool> { AttributeKey(path, "isPort") }
            var position: AttributeKey<GeoPoint?> { AttributeKey(path, "position") }
            var aliases: AttributeKey<[String]?> { AttributeKey(path, "aliases") }
            var country: ToOneKey<CountryKeys> { ToOneKey(path, "country") }
            var sisters: ToManyKey<CityKeys> { ToManyKey(path, "sisters") }
        }

        struct CountryKeys: EntityKeys {
            typealias Object = Country
            let path: TypedPath
            init(path: TypedPath = []) { self.path = path }
            var code: AttributeKey<String> { AttributeKey(path, "code") }
            var cities: ToManyKey<CityKeys> { ToManyKey(path, "cities") }
        }

        extension ManagedObjectProtocol where Self: City {
            static func `where`<Condition: PredicateConvertible>(
                _ condition: (CityKeys) -> Condition
            ) -> FetchRequest<Self> { FetchRequest(where: condition(CityKeys()).predicate) }
        }

        func anyCity(_ context: ManagedObjectContext) throws -> City { try context.fetch(FetchRequest<City>())[0] }

        func use(_ value: Any) {}

        """

    static let all = backgroundSnippets + actorSnippets + taskSnippets + storageSnippets + predicateSnippets
}
