#if canImport(SwiftUI)
    import SwiftUI

    /// A live result for a SwiftUI view: the view is shown again when the result changes.
    ///
    ///     import SwiftUI
    ///
    ///     struct CityList: View {
    ///         @LiveObjects(City.where { $0.population > 100_000 }.sorted(by: City.keys.name.ascending)) var cities
    ///
    ///         var body: some View { List(cities) { Text($0.name) } }
    ///     }
    ///     let list = CityList().environment(\.persistentContainer, container)
    ///
    /// The container comes from the environment; the fetch uses its `viewContext`.
    @MainActor
    @propertyWrapper
    public struct LiveObjects<Object: ManagedObject>: DynamicProperty {
        /// Keeps the result for as long as the view is there.
        @MainActor
        private final class Keeper {
            var results: FetchedResults<Object>?
            var failure: PersistenceError?
        }

        @Environment(\.persistentContainer) private var container
        @State private var keeper = Keeper()
        private let request: FetchRequest<Object>
        private let sectionKey: (any PredicateOperand)?

        /// Shows the objects of a request.
        public init(_ request: FetchRequest<Object>, sectionedBy sectionKey: (any PredicateOperand)? = nil) {
            self.request = request
            self.sectionKey = sectionKey
        }

        /// The objects in their order.
        public var wrappedValue: [Object] { projectedValue.map(Array.init) ?? [] }

        /// The result itself, for its sections and updates; nil if there is no container, or the fetch failed.
        public var projectedValue: FetchedResults<Object>? {
            guard let context = container?.viewContext else { return nil }
            if let known = keeper.results, known.context === context { return known }
            do throws(PersistenceError) {
                keeper.results = try context.live(request, sectionedBy: sectionKey)
                keeper.failure = nil
            } catch {
                keeper.failure = error
            }
            return keeper.results
        }

        /// Why there are no objects, if the fetch failed.
        public var failure: PersistenceError? { keeper.failure ?? keeper.results?.failure }
    }

    extension EnvironmentValues {
        private struct ContainerKey: EnvironmentKey {
            static let defaultValue: PersistentContainer? = nil
        }

        /// The container whose `viewContext` the live results of views come from.
        public var persistentContainer: PersistentContainer? {
            get { self[ContainerKey.self] }
            set { self[ContainerKey.self] = newValue }
        }
    }
#endif
