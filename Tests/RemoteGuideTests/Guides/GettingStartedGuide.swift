import Foundation
import Strata
import StrataStackMob
import StrataStore
import Testing

/// The code of Documentation/GettingStarted.md, without what the app's `main.swift` does.
// What a reader's app prints goes to the test that runs it.
private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
    Printed.add(items.map { "\($0)" }.joined(separator: separator))
}

/// What the steps print.
enum Printed {
    private static let lines = Guarded([String]())

    static func add(_ line: String) { lines.withLock { $0.append(line) } }
    /// The lines since the last call.
    static func take() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    /// Waits until something is printed, a minute at most: next to compilers, a task may start late.
    static func wait() async throws {
        for _ in 0..<600 where lines.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(100)) }
    }
}

func addPeru(_ container: PersistentContainer) async throws {
    let context = container.newContext()
    let peru = Country(context: context, countryId: "PE", name: "Peru")
    City(context: context, name: "Lima", population: 10_092_000, country: peru)
    City(context: context, name: "Cusco", population: 428_450, country: peru)
    try await context.save()
}

func printLargeCities(_ container: PersistentContainer) async throws {
    let context = container.newContext()
    let request = City.where { $0.population > 100_000 && $0.country.countryId == "PE" }
        .sorted(by: City.keys.population.descending)
    for city in try await context.fetch(request) {
        print(city.name, "in", city.country.name)
    }
    print(try await context.count(request), "large cities")
}

func renameCusco(_ container: PersistentContainer) async throws {
    let context = container.newContext()
    guard let cusco = try await context.fetchFirst(City.where { $0.name == "Cusco" }) else { return }
    cusco.name = "Qosqo"
    try await context.save()

    cusco.name = ""
    do {
        try await context.save()
    } catch {
        print(error)
        context.rollback()
    }
    print(cusco.name)
}

func importCities(_ json: Data, _ container: PersistentContainer) async throws {
    let (new, changed) = try await container.write { context in
        let result = try context.upsert(json: json, into: City.self, by: City.keys.cityId)
        return (result.inserted.count, result.updated.count)
    }
    print(new, "new,", changed, "changed")
}

@MainActor
func watchCities(_ container: PersistentContainer) async throws {
    let request = City.where { $0.population > 1_000_000 }.sorted(by: City.keys.name.ascending)
    let cities = try container.viewContext.live(request)
    for try await _ in cities.updates {
        print(cities.map(\.name))
    }
}

func recordVisit(to name: String, note: String, _ container: PersistentContainer) async throws {
    try await container.write { context in
        guard let city = try context.fetchFirst(City.where { $0.name == name }) else { return }
        Visit(context: context, note: note, city: city)
    }
}

@Test func largeCitiesAreFound() throws {
    let container = try PersistentContainer(GazetteerModel.self, at: .memory(name: nil))
    let context = container.newContext()
    let peru = Country(context: context, countryId: "PE", name: "Peru")
    City(context: context, name: "Lima", population: 10_092_000, country: peru)
    City(context: context, name: "Nauta", population: 30_000, country: peru)
    try context.save()

    let large = try context.fetch(City.where { $0.population > 100_000 })
    #expect(large.map(\.name) == ["Lima"])
}

func openShared(_ path: String, server: String) throws -> (PersistentContainer, SyncEngine) {
    var configuration = try StackMobConfiguration(publicKey: "7c1f0b6e-52d4-4b1e-9a36-0d6f2f0a9b55")
    configuration.dialect.host = server
    configuration.dialect.usesExtensions = true  // strata-server offers more than StackMob did
    var options = RemoteStore.Options()
    options.fetchPolicy = .cacheOnly  // fetches read the mirror
    options.savePolicy = .cacheOnly  // saves go to the mirror, and wait there to be sent
    let stack = try StackMobStore.open(
        model: GazetteerModel.model, client: StackMobClient(configuration), location: .file(path: path),
        options: options)
    let container = try PersistentContainer(store: stack.remote, classes: GazetteerModel.classes)
    return (container, stack.sync)
}

func share(_ container: PersistentContainer, _ sync: SyncEngine) async throws {
    try await addPeru(container)  // works without a network
    try await recordVisit(to: "Lima", note: "Stay for the food.", container)

    let report = try await sync.synchronize()
    print(report.results.count, "sent,", report.received, "received")
}

/// The lines of the app's `main.swift`, and the same model in Swift.
enum GettingStartedGuide {
    static func main(_ path: String) async throws {
        let container = try PersistentContainer(GazetteerModel.self, at: .file(path: path))
        try await addPeru(container)

        try await printLargeCities(container)

        try await renameCusco(container)

        let json = """
            [{"cityId": "3947322", "name": "Arequipa", "population": 1008290, "country": {"countryId": "PE"}},
             {"cityId": "3451190", "name": "Rio", "population": 6747815, "country": {"countryId": "BR", "name": "Brazil"}}]
            """
        try await importCities(Data(json.utf8), container)
    }

    static func path() -> String {
        let path = "travel.sqlite"
        return path
    }

    static func watching(_ container: PersistentContainer) async throws {
        let watching = Task { try await watchCities(container) }

        try await Printed.wait()
        watching.cancel()
    }

    static func visiting(_ container: PersistentContainer) async throws {
        try await recordVisit(to: "Lima", note: "Mind the traffic.", container)
    }

    static func sharing() async throws {
        let (shared, sync) = try openShared("shared.sqlite", server: "localhost:8080")
        try await share(shared, sync)
    }

    static func declared() throws -> ManagedObjectModel {
        let model = try ManagedObjectModel(name: "Gazetteer") {
            Entity("Country") {
                Attribute("countryId", .string).unique()
                Attribute("name", .string)
                Relationship("cities", to: "City", .toMany, inverse: "country", deleteRule: .cascade)
            }
            Entity("City") {
                Attribute("cityId", .string, default: .newUUID).unique()
                Attribute("name", .string).length(1...).indexed()
                Attribute("population", .integer64, default: .value(0)).range(0...)
                Relationship("country", to: "Country", .toOne, inverse: "cities")
            }
        }
        return model
    }
}
