extension Snippet {
    /// Out of and into the closures of background contexts.
    static let backgroundSnippets: [Snippet] = [
        Snippet(
            "childReturnsObject", .types, expecting: "does not conform to the 'Sendable' protocol",
            leak: """
                @MainActor private func run(_ container: PersistentContainer) async throws {
                    let child = container.viewContext.makeBackgroundChild()
                    let city = try await child.perform { try anyCity($0) }
                    use(city)
                }
                """,
            twin: """
                @MainActor private func run(_ container: PersistentContainer) async throws {
                    let child = container.viewContext.makeBackgroundChild()
                    let city = try await child.perform { try anyCity($0).frozen() }
                    use(city)
                }
                """),
        Snippet(
            "childCapturesParentObject", .types, expecting: "capture of 'city' with non-Sendable type 'City'",
            leak: """
                @MainActor private func run(_ container: PersistentContainer) async throws {
                    let city = try anyCity(container.viewContext)
                    let child = container.viewContext.makeBackgroundChild()
                    await child.perform { _ in city.name = "Lima" }
                }
                """,
            twin: """
                @MainActor private func run(_ container: PersistentContainer) async throws {
                    let id = try anyCity(container.viewContext).objectID
                    let child = container.viewContext.makeBackgroundChild()
                    try await child.perform { try $0.existingObject(City.self, with: id).name = "Lima" }
                }
                """),
        Snippet(
            "childOfTask", .types, expecting: "cannot be called from outside of the actor",
            leak: """
                private func run(_ container: PersistentContainer) async throws {
                    let context = container.newContext()
                    use(context.makeBackgroundChild())
                }
                """,
            twin: """
                private actor Owner {
                    let context: ManagedObjectContext
                    init(_ container: PersistentContainer) { context = container.newContext() }
                    func run() { use(context.makeBackgroundChild()) }
                }
                """),
        Snippet(
            "performReturnsObject", .types, expecting: "does not conform to the 'Sendable' protocol",
            leak: """
                private func run(_ background: BackgroundContext) async throws {
                    let city = try await background.perform { try anyCity($0) }
                    use(city)
                }
                """,
            twin: """
                private func run(_ background: BackgroundContext) async throws {
                    let name = try await background.perform { try anyCity($0).name }
                    use(name)
                }
                """),
        Snippet(
            "performReturnsFetch", .types, expecting: "does not conform to the 'Sendable' protocol",
            leak: """
                private func run(_ background: BackgroundContext) async throws {
                    let cities = try await background.perform { try $0.fetch(FetchRequest<City>()) }
                    use(cities.count)
                }
                """,
            twin: """
                private func run(_ background: BackgroundContext) async throws {
                    let cities = try await background.perform { try $0.fetch(FetchRequest<City>()).map { $0.frozen() } }
                    use(cities.count)
                }
                """),
        Snippet(
            "performReturnsMembers", .types, expecting: "does not conform to the 'Sendable' protocol",
            leak: """
                private func run(_ background: BackgroundContext) async throws {
                    use(try await background.perform { try anyCity($0).sisters })
                }
                """,
            twin: """
                private func run(_ background: BackgroundContext) async throws {
                    use(try await background.perform { try anyCity($0).sisters.map(\\.objectID) })
                }
                """),
        Snippet(
            "performReturnsContext", .types, expecting: "does not conform to the 'Sendable' protocol",
            leak: """
                private func run(_ background: BackgroundContext) async {
                    let context = await background.perform { $0 }
                    use(context)
                }
                """,
            twin: """
                private func run(_ background: BackgroundContext) async {
                    let name = await background.perform { $0.name }
                    use(name as Any)
                }
                """),
        Snippet(
            "performReturnsClosure", .types, expecting: "does not conform to the 'Sendable' protocol",
            leak: """
                private func run(_ background: BackgroundContext) async throws {
                    let read: () -> String = try await background.perform { context in
                        let city = try anyCity(context)
                        return { city.name }
                    }
                    use(read())
                }
                """,
            twin: """
                private func run(_ background: BackgroundContext) async throws {
                    let read: @Sendable () -> String = try await background.perform { context in
                        let name = try anyCity(context).name
                        return { name }
                    }
                    use(read())
                }
                """),
        Snippet(
            "performCapturesObject", .types,
            expecting: "capture of 'city' with non-Sendable type 'City' in a '@Sendable' closure",
            leak: """
                @MainActor private func run(_ container: PersistentContainer, _ background: BackgroundContext) async throws {
                    let city = try anyCity(container.viewContext)
                    try await background.perform { context in
                        city.name = "elsewhere"
                        try context.save()
                    }
                }
                """,
            twin: """
                @MainActor private func run(_ container: PersistentContainer, _ background: BackgroundContext) async throws {
                    let id = try anyCity(container.viewContext).objectID
                    try await background.perform { context in
                        try context.existingObject(City.self, with: id).name = "elsewhere"
                        try context.save()
                    }
                }
                """),
        Snippet(
            "performCapturesContext", .types,
            expecting: "capture of 'own' with non-Sendable type 'ManagedObjectContext' in a '@Sendable' closure",
            leak: """
                private func run(_ container: PersistentContainer, _ background: BackgroundContext) async throws {
                    let own = container.newContext()
                    try await background.perform { _ in try own.save() }
                }
                """,
            twin: """
                private func run(_ container: PersistentContainer, _ background: BackgroundContext) async throws {
                    try await background.perform { _ in try container.newContext().save() }
                }
                """),
        Snippet(
            "performAndWaitReturnsObject", .types, expecting: "does not conform to the 'Sendable' protocol",
            leak: """
                private func run(_ background: BackgroundContext) throws {
                    let city = try background.performAndWait { try anyCity($0) }
                    use(city)
                }
                """,
            twin: """
                private func run(_ background: BackgroundContext) throws {
                    let city = try background.performAndWait { try anyCity($0).frozen() }
                    use(city)
                }
                """),
        Snippet(
            "performAndWaitAssignsOutside", .types,
            expecting: "mutation of captured var 'leaked' in concurrently-executing code",
            leak: """
                private func run(_ background: BackgroundContext) throws {
                    var leaked: City?
                    try background.performAndWait { leaked = try anyCity($0) }
                    use(leaked as Any)
                }
                """,
            twin: """
                private func run(_ background: BackgroundContext) throws {
                    let id: ObjectID
                    id = try background.performAndWait { try anyCity($0).objectID }
                    use(id)
                }
                """),
        Snippet(
            "performAndWaitAppendsOutside", .types,
            expecting: "mutation of captured var 'names' in concurrently-executing code",
            leak: """
                private func run(_ background: BackgroundContext) throws {
                    var names: [City] = []
                    try background.performAndWait { names.append(try anyCity($0)) }
                    use(names)
                }
                """,
            twin: """
                private func run(_ background: BackgroundContext) throws {
                    var names: [String] = []
                    names.append(try background.performAndWait { try anyCity($0).name })
                    use(names)
                }
                """),
        Snippet(
            "backgroundTaskReturnsObject", .types, expecting: "does not conform to the 'Sendable' protocol",
            leak: """
                private func run(_ container: PersistentContainer) async throws {
                    use(try await container.performBackgroundTask { try anyCity($0) })
                }
                """,
            twin: """
                private func run(_ container: PersistentContainer) async throws {
                    use(try await container.performBackgroundTask { try anyCity($0).frozen() })
                }
                """),
        // Of an error type that does not say `Sendable` itself, the compiler only warns.
        Snippet(
            "errorCarriesObject", .types, expecting: "has non-Sendable type 'City'",
            leak: """
                private struct Refused: Error, Sendable { let city: City }
                private func run(_ background: BackgroundContext) async throws {
                    try await background.perform { throw Refused(city: try anyCity($0)) }
                }
                """,
            twin: """
                private struct Refused: Error, Sendable { let city: ObjectID }
                private func run(_ background: BackgroundContext) async throws {
                    try await background.perform { throw Refused(city: try anyCity($0).objectID) }
                }
                """),
    ]
}
