extension Snippet {
    /// Into places that everybody can reach.
    static let storageSnippets: [Snippet] = [
        Snippet(
            "globalLet", .types, expecting: "is not concurrency-safe because non-'Sendable' type",
            leak: "private let lastCity: City? = nil\n",
            twin: "@MainActor private let lastCity: City? = nil\n"),
        Snippet(
            "globalVar", .types,
            expecting: "is not concurrency-safe because it is nonisolated global shared mutable state",
            leak: "private var lastContext: ManagedObjectContext?\n",
            twin: "@MainActor private var lastContext: ManagedObjectContext?\n"),
        Snippet(
            "staticProperty", .types, expecting: "is not concurrency-safe because non-'Sendable' type",
            leak: "private enum Cache { static let cities: [ObjectID: City] = [:] }\n",
            twin: "private enum Cache { static let cities: [ObjectID: FrozenObject<City>] = [:] }\n"),
        Snippet(
            "taskLocal", .types, expecting: "is not concurrency-safe because",
            leak: "private enum taskLocalScope { @TaskLocal static var city: City? }\n",
            twin: "private enum taskLocalScope { @TaskLocal static var city: ObjectID? }\n"),
        Snippet(
            "sendableStruct", .types, expecting: "has non-Sendable type 'City'",
            leak: "private struct Row: Sendable { let city: City }\n",
            twin: "private struct Row: Sendable { let city: FrozenObject<City> }\n"),
        Snippet(
            "sendableEnum", .types, expecting: "has non-Sendable type 'City'",
            leak: "private enum Choice: Sendable { case none, city(City) }\n",
            twin: "private enum Choice: Sendable { case none, city(ObjectID) }\n"),
        Snippet(
            "sendableClass", .types, expecting: "has non-Sendable type 'ManagedObjectContext'",
            leak: """
                private final class Service: Sendable {
                    let context: ManagedObjectContext
                    init(_ container: PersistentContainer) { context = container.newContext() }
                }
                """,
            twin: """
                private final class Service: Sendable {
                    let context: BackgroundContext
                    init(_ container: PersistentContainer) { context = container.newBackgroundContext() }
                }
                """),
        Snippet(
            "sendableSubclass", .types, expecting: "cannot inherit from another class",
            leak: "private final class Town: ManagedObject, Sendable {}\n",
            twin: "private final class Town: ManagedObject {}\n"),
        Snippet(
            "mutex", .flow, expecting: "cannot be main actor-isolated at end of function",
            leak: """
                private let cache = Mutex<City?>(nil)
                @MainActor private func run(_ container: PersistentContainer) throws {
                    let city = try anyCity(container.viewContext)
                    cache.withLock { $0 = city }
                }
                """,
            twin: """
                private let cache = Mutex<ObjectID?>(nil)
                @MainActor private func run(_ container: PersistentContainer) throws {
                    let city = try anyCity(container.viewContext).objectID
                    cache.withLock { $0 = city }
                }
                """),
        Snippet(
            "rowBatchBuilder", .flow, expecting: "used after consume",
            leak: """
                private func publish() -> RowBatch {
                    var builder = RowBatchBuilder()
                    var copy = builder
                    copy.addHeader(entityIndex: 0, key: 1, version: 1)
                    return builder.finish()
                }
                """,
            twin: """
                private func publish() -> RowBatch {
                    var builder = RowBatchBuilder()
                    builder.addHeader(entityIndex: 0, key: 1, version: 1)
                    return builder.finish()
                }
                """),
        Snippet(
            "genericSendable", .types, expecting: "does not conform to the 'Sendable' protocol",
            leak: """
                private func send(_ value: some Sendable) {}
                private func run(_ context: ManagedObjectContext) throws { send(try anyCity(context)) }
                """,
            twin: """
                private func send(_ value: some Sendable) {}
                private func run(_ context: ManagedObjectContext) throws {
                    send(try anyCity(context).frozen())
                    send(FetchRequest<City>())
                }
                """),
    ]
}
