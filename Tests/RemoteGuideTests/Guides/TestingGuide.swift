import Foundation
import Strata
import StrataRemoteTesting
import StrataTesting
import Synchronization
import Testing

/// The examples of Documentation/Testing.md.
@Suite struct CityTests {
    let container: PersistentContainer

    init() throws { container = try PersistentContainer(GazetteerModel.self, at: .memory(name: nil)) }

    @Test func aCityNeedsAName() async throws {
        let context = container.newContext()
        let peru = Country(context: context, countryId: "PE", name: "Peru")
        City(context: context, name: "", country: peru)
        let error = await #expect(throws: PersistenceError.self) { try await context.save() }
        #expect(error?.description.contains("name") == true)
    }
}

final class StatementCounter: Sendable {
    private let counter = Mutex(0)
    var options: SQLiteStore.Options {
        var options = SQLiteStore.Options()
        options.trace = { [self] _ in counter.withLock { $0 += 1 } }
        return options
    }
    func count(_ body: () async throws -> Void) async rethrows -> Int {
        counter.withLock { $0 = 0 }
        try await body()
        return counter.withLock { $0 }
    }
}

enum TestingGuide {
    static func fill(_ context: ManagedObjectContext, _ json: Data) throws {
        try context.upsert(json: json, into: City.self, by: City.keys.cityId)
        try context.save()
    }

    static func migrating(_ path: String) throws {
        let plan = try SQLiteStore.migrationPlan(for: path, to: GazetteerModel.model)
        #expect(plan.steps.allSatisfy { $0.risk == .safe })
    }

    static func trying(_ versions: [ManagedObjectModel], _ stages: [MigrationStage]) async throws {
        let trial = MigrationTrial(versions: versions, stages: stages, answers: ["Contact.name": .accept])
        try await trial.run(making: { context in
            try context.insert(entityNamed: "Contact")["name"] = "Ada Lovelace"
        }) { migrated in
            let context = migrated.container.newContext()
            let contact = try await context.fetchFirst(FetchRequest<ManagedObject>(entity: "Contact"))
            #expect(contact?["lastName"] as? String == "Lovelace")
            #expect(migrated.report.steps.allSatisfy { $0.risk != .impossible })
        }
    }

    static func counting(_ path: String) async throws {
        let counter = StatementCounter()
        let container = try PersistentContainer(
            GazetteerModel.self, at: .file(path: path), options: counter.options)
        let context = container.newContext()
        let statements = try await counter.count {
            for city in try await context.fetch(FetchRequest<City>()) { _ = city.country.name }
        }
        #expect(statements <= 2)
    }

    static func failing() throws {
        let store = FaultInjectingStore(
            try SQLiteStore.open(model: GazetteerModel.model, location: .memory(name: nil)))
        let container = try PersistentContainer(store: store, classes: GazetteerModel.classes)
        let context = container.newContext()
        Country(context: context, countryId: "PE", name: "Peru")

        store.fail([.commit], with: .diskFull(path: "travel.sqlite"))
        #expect(throws: PersistenceError.self) { try context.save() }
        store.recover()
        try context.save()
    }

    static func synchronizing() async throws -> RemoteStore {
        let server = MemoryBackend()
        var options = RemoteStore.Options()
        options.savePolicy = .cacheOnly
        let phone = try RemoteStore.open(
            model: GazetteerModel.model, backend: server, location: .memory(name: nil), options: options)
        let tablet = try RemoteStore.open(
            model: GazetteerModel.model, backend: server, location: .memory(name: nil), options: options)

        let context = try PersistentContainer(store: phone, classes: GazetteerModel.classes).newContext()
        Country(context: context, countryId: "PE", name: "Peru")
        try await context.save()
        try await phone.sync.synchronize()

        try await tablet.sync.synchronize()
        return tablet
    }
}
