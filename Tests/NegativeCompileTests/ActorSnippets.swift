extension Snippet {
    /// Out of and into actors, the main actor among them.
    static let actorSnippets: [Snippet] = [
        Snippet(
            "viewContextOffMain", .types, expecting: "main actor-isolated property 'viewContext' can not be referenced",
            leak: """
                private func run(_ container: PersistentContainer) throws { use(try anyCity(container.viewContext)) }
                """,
            twin: """
                @MainActor private func run(_ container: PersistentContainer) throws { use(try anyCity(container.viewContext)) }
                """),
        Snippet(
            "viewContextAwaited", .types, expecting: "cannot exit main actor-isolated context",
            leak: """
                private func run(_ container: PersistentContainer) async throws {
                    let context = await container.viewContext
                    try context.save()
                }
                """,
            twin: """
                private func run(_ container: PersistentContainer) async throws {
                    try await MainActor.run { try container.viewContext.save() }
                }
                """),
        Snippet(
            "mainActorRunReturnsObject", .types, expecting: "does not conform to the 'Sendable' protocol",
            leak: """
                private func run(_ container: PersistentContainer) async throws {
                    let city = try await MainActor.run { try anyCity(container.viewContext) }
                    use(city)
                }
                """,
            twin: """
                private func run(_ container: PersistentContainer) async throws {
                    let city = try await MainActor.run { try anyCity(container.viewContext).frozen() }
                    use(city)
                }
                """),
        Snippet(
            "mainActorRunCapturesFetch", .flow, expecting: "risks causing data races",
            leak: """
                private func run(_ container: PersistentContainer) async throws {
                    let context = container.newContext()
                    let cities = try await context.fetch(FetchRequest<City>())
                    await MainActor.run { use(cities.count) }
                    try await context.save()
                }
                """,
            twin: """
                private func run(_ container: PersistentContainer) async throws {
                    let context = container.newContext()
                    let cities = try await context.fetch(FetchRequest<City>()).map { $0.frozen() }
                    await MainActor.run { use(cities.count) }
                    try await context.save()
                }
                """),
        Snippet(
            "actorReturnsObject", .flow, expecting: "non-Sendable 'City'",
            leak: """
                private actor Registry {
                    let context: ManagedObjectContext
                    init(_ container: PersistentContainer) { context = container.newContext() }
                    func first() throws -> City { try anyCity(context) }
                }
                private func run(_ registry: Registry) async throws { use(try await registry.first().name) }
                """,
            twin: """
                private actor Registry {
                    let context: ManagedObjectContext
                    init(_ container: PersistentContainer) { context = container.newContext() }
                    func first() throws -> FrozenObject<City> { try anyCity(context).frozen() }
                }
                private func run(_ registry: Registry) async throws { use(try await registry.first()["name"]) }
                """),
        Snippet(
            "actorPropertyRead", .types, expecting: "cannot exit actor-isolated context",
            leak: """
                private actor Registry {
                    let context: ManagedObjectContext
                    init(_ container: PersistentContainer) { context = container.newContext() }
                }
                private func run(_ registry: Registry) async throws { try await registry.context.save() }
                """,
            twin: """
                private actor Registry {
                    let context: ManagedObjectContext
                    init(_ container: PersistentContainer) { context = container.newContext() }
                    func save() throws { try context.save() }
                }
                private func run(_ registry: Registry) async throws { try await registry.save() }
                """),
        Snippet(
            "actorKeepsObject", .flow, expecting: "sending 'city' risks causing data races",
            leak: """
                private actor Registry {
                    var city: City?
                    func keep(_ city: City) { self.city = city }
                }
                @MainActor private func run(_ container: PersistentContainer, _ registry: Registry) async throws {
                    let city = try anyCity(container.viewContext)
                    await registry.keep(city)
                }
                """,
            twin: """
                private actor Registry {
                    var city: ObjectID?
                    func keep(_ city: ObjectID) { self.city = city }
                }
                @MainActor private func run(_ container: PersistentContainer, _ registry: Registry) async throws {
                    let city = try anyCity(container.viewContext)
                    await registry.keep(city.objectID)
                }
                """),
        Snippet(
            "actorKeepsContextInUse", .flow, expecting: "sending 'context' risks causing data races",
            leak: """
                private actor Registry {
                    var context: ManagedObjectContext?
                    func keep(_ context: sending ManagedObjectContext) { self.context = context }
                }
                private func run(_ container: PersistentContainer, _ registry: Registry) async throws {
                    let context = container.newContext()
                    let city = City(context, name: "mine")
                    await registry.keep(context)
                    city.name = "still mine?"
                }
                """,
            twin: """
                private actor Registry {
                    var context: ManagedObjectContext?
                    func keep(_ context: sending ManagedObjectContext) { self.context = context }
                }
                private func run(_ container: PersistentContainer, _ registry: Registry) async throws {
                    let context = container.newContext()
                    City(context, name: "mine").name = "given away with its context"
                    await registry.keep(context)
                }
                """),
        Snippet(
            "mainObjectToConcurrentFunction", .flow, expecting: "risks causing data races",
            leak: """
                @concurrent private func rename(_ city: City) async { city.name = "elsewhere" }
                @MainActor private func run(_ container: PersistentContainer) async throws {
                    await rename(try anyCity(container.viewContext))
                }
                """,
            twin: """
                nonisolated(nonsending) private func rename(_ city: City) async { city.name = "here" }
                @MainActor private func run(_ container: PersistentContainer) async throws {
                    await rename(try anyCity(container.viewContext))
                }
                """),
        Snippet(
            "globalActorObject", .flow, expecting: "risks causing data races",
            leak: """
                @globalActor private actor Importer { static let shared = Importer() }
                @Importer private func show(_ city: City) { use(city.name) }
                @MainActor private func run(_ container: PersistentContainer) async throws {
                    await show(try anyCity(container.viewContext))
                }
                """,
            twin: """
                @globalActor private actor Importer { static let shared = Importer() }
                @Importer private func show(_ city: FrozenObject<City>) { use(city["name"]) }
                @MainActor private func run(_ container: PersistentContainer) async throws {
                    await show(try anyCity(container.viewContext).frozen())
                }
                """),
    ]
}
