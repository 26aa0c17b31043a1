extension Snippet {
    /// Into tasks, groups, queues and streams.
    static let taskSnippets: [Snippet] = [
        Snippet(
            "detachedTask", .flow, expecting: "risks causing data races",
            leak: """
                @MainActor private func run(_ container: PersistentContainer) throws {
                    let city = try anyCity(container.viewContext)
                    Task.detached { use(city.name) }
                }
                """,
            twin: """
                @MainActor private func run(_ container: PersistentContainer) throws {
                    let city = try anyCity(container.viewContext).frozen()
                    Task.detached { use(city["name"]) }
                }
                """),
        Snippet(
            "taskWhileContextIsUsed", .flow, expecting: "risks causing data races",
            leak: """
                private func run(_ container: PersistentContainer) throws {
                    let context = container.newContext()
                    Task { try context.save() }
                    try context.save()
                }
                """,
            twin: """
                private func run(_ container: PersistentContainer) throws {
                    let context = container.newContext()
                    try context.save()
                    Task { try context.save() }
                }
                """),
        Snippet(
            "taskFromActor", .flow, expecting: "risks causing data races",
            leak: """
                private actor Registry {
                    let context: ManagedObjectContext
                    init(_ container: PersistentContainer) { context = container.newContext() }
                    func later() throws {
                        let city = try anyCity(context)
                        Task.detached { use(city.name) }
                    }
                }
                """,
            twin: """
                private actor Registry {
                    let context: ManagedObjectContext
                    init(_ container: PersistentContainer) { context = container.newContext() }
                    func later() throws {
                        let city = try anyCity(context)
                        Task {
                            use(city.name)
                            try self.context.save()
                        }
                    }
                }
                """),
        Snippet(
            "asyncLet", .flow, expecting: "risks causing data races",
            leak: """
                @MainActor private func run(_ container: PersistentContainer) async throws {
                    let city = try anyCity(container.viewContext)
                    async let name = city.name
                    use(await name)
                }
                """,
            twin: """
                @MainActor private func run(_ container: PersistentContainer) async throws {
                    let city = try anyCity(container.viewContext).frozen()
                    async let name = city["name"]
                    use(await name)
                }
                """),
        Snippet(
            "taskGroup", .flow, expecting: "risks causing data races",
            leak: """
                private func run(_ container: PersistentContainer) async throws {
                    let context = container.newContext()
                    let cities = try await context.fetch(FetchRequest<City>())
                    await withTaskGroup(of: Void.self) { group in
                        for city in cities { group.addTask { use(city.name) } }
                    }
                    try await context.save()
                }
                """,
            twin: """
                private func run(_ container: PersistentContainer) async throws {
                    let context = container.newContext()
                    let cities = try await context.fetch(FetchRequest<City>()).map { $0.frozen() }
                    await withTaskGroup(of: Void.self) { group in
                        for city in cities { group.addTask { use(city["name"]) } }
                    }
                    try await context.save()
                }
                """),
        Snippet(
            "taskGroupResult", .types, expecting: "does not conform to the 'Sendable' protocol",
            leak: """
                private func run(_ container: PersistentContainer) async throws {
                    try await withThrowingTaskGroup(of: City.self) { group in
                        group.addTask { try anyCity(container.newContext()) }
                        for try await city in group { use(city.name) }
                    }
                }
                """,
            twin: """
                private func run(_ container: PersistentContainer) async throws {
                    try await withThrowingTaskGroup(of: ObjectID.self) { group in
                        group.addTask { try anyCity(container.newContext()).objectID }
                        for try await city in group { use(city.key) }
                    }
                }
                """),
        Snippet(
            "taskResult", .types, expecting: "does not conform to the 'Sendable' protocol",
            leak: """
                private func run(_ container: PersistentContainer) async throws {
                    let task = Task { try anyCity(container.newContext()) }
                    use(try await task.value)
                }
                """,
            twin: """
                private func run(_ container: PersistentContainer) async throws {
                    let task = Task { try anyCity(container.newContext()).name }
                    use(try await task.value)
                }
                """),
        Snippet(
            "memberSet", .flow, expecting: "risks causing data races",
            leak: """
                @MainActor private func run(_ container: PersistentContainer) throws {
                    let sisters = try anyCity(container.viewContext).sisters
                    Task.detached { use(sisters.count) }
                }
                """,
            twin: """
                @MainActor private func run(_ container: PersistentContainer) throws {
                    let sisters = try anyCity(container.viewContext).sisters.map(\\.objectID)
                    Task.detached { use(sisters.count) }
                }
                """),
        Snippet(
            "childContext", .flow, expecting: "risks causing data races",
            leak: """
                private func run(_ container: PersistentContainer) throws {
                    let context = container.newContext()
                    let child = context.makeChild()
                    Task.detached { try child.save() }
                    try context.save()
                }
                """,
            twin: """
                private func run(_ container: PersistentContainer) throws {
                    let context = container.newContext()
                    let child = context.makeChild()
                    Task.detached {
                        try child.save()
                        try context.save()
                    }
                }
                """),
        Snippet(
            "objectThroughItsContext", .flow, expecting: "risks causing data races",
            leak: """
                private func run(_ container: PersistentContainer) throws {
                    let city = City(container.newContext(), name: "x")
                    let context = city.context
                    Task.detached { try context?.save() }
                    city.name = "y"
                }
                """,
            twin: """
                private func run(_ container: PersistentContainer) throws {
                    let city = City(container.newContext(), name: "x")
                    Task.detached { try city.context?.save() }
                }
                """),
        Snippet(
            "sendableClosure", .types,
            expecting: "capture of 'city' with non-Sendable type 'City' in a '@Sendable' closure",
            leak: """
                private func run(_ context: ManagedObjectContext) throws -> @Sendable () -> String {
                    let city = try anyCity(context)
                    return { city.name }
                }
                """,
            twin: """
                private func run(_ context: ManagedObjectContext) throws -> () -> String {
                    let city = try anyCity(context)
                    return { city.name }
                }
                """),
        Snippet(
            "dispatchQueue", .types,
            expecting: "capture of 'city' with non-Sendable type 'City' in a '@Sendable' closure",
            leak: """
                private func run(_ context: ManagedObjectContext) throws {
                    let city = try anyCity(context)
                    DispatchQueue.global().async { use(city.name) }
                }
                """,
            twin: """
                private func run(_ context: ManagedObjectContext) throws {
                    let name = try anyCity(context).name
                    DispatchQueue.global().async { use(name) }
                }
                """),
        Snippet(
            "asyncStream", .types, expecting: "capture of 'stream' with non-Sendable type 'AsyncStream<City>'",
            leak: """
                private func run(_ context: ManagedObjectContext) throws {
                    let (stream, continuation) = AsyncStream<City>.makeStream()
                    let read: @Sendable () async -> Void = { for await city in stream { use(city.name) } }
                    continuation.yield(try anyCity(context))
                    use(read)
                }
                """,
            twin: """
                private func run(_ context: ManagedObjectContext) throws {
                    let (stream, continuation) = AsyncStream<ObjectID>.makeStream()
                    let read: @Sendable () async -> Void = { for await id in stream { use(id) } }
                    continuation.yield(try anyCity(context).objectID)
                    use(read)
                }
                """),
        Snippet(
            "asyncStreamYield", .flow, expecting: "risks causing data races",
            leak: """
                @MainActor private func run(_ container: PersistentContainer, _ continuation: AsyncStream<City>.Continuation) throws {
                    let city = try anyCity(container.viewContext)
                    continuation.yield(city)
                    city.name = "both"
                }
                """,
            twin: """
                @MainActor private func run(
                    _ container: PersistentContainer, _ continuation: AsyncStream<FrozenObject<City>>.Continuation
                ) throws {
                    let city = try anyCity(container.viewContext)
                    continuation.yield(city.frozen())
                    city.name = "mine"
                }
                """),
    ]
}
