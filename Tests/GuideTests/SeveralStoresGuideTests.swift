import Foundation
import Strata
import StrataStore
import StrataTesting
import Testing

@Suite struct SeveralStoresGuideTests {
    @Test("The examples about several stores run")
    func examples() async throws {
        let file = try GuideFile()
        let folder = URL(fileURLWithPath: file.path).deletingLastPathComponent().path
        // The app delivers the places.
        var options = SQLiteStore.Options()
        options.history = .on(keeping: .days(7))
        let stores = [
            PersistentStoreDescription(
                configuration: "Places", at: .file(path: "\(folder)/places.sqlite"), options: options),
            PersistentStoreDescription(at: .file(path: "\(folder)/visits.sqlite")),
        ]
        let maker = try PersistentContainer(TravelModel.self, stores: stores)
        let places = maker.newContext()
        let region = Region(context: places, code: "PE", name: "Peru")
        Town(context: places, name: "Lima", region: region)
        try await places.save()
        maker.close()

        let container = try SeveralStoresGuide.open(folder)
        defer { container.close() }
        let context = container.newContext()
        let lima = try #require(try await context.fetchFirst(FetchRequest<Town>()))
        let (town, visits) = try await SeveralStoresGuide.refer(lima, in: context)
        #expect(town === lima && visits.map(\.note) == ["warm"])
        try SeveralStoresGuide.show(visits, context)
        visits[0].regionCode = "PE"
        try await SeveralStoresGuide.save(context)
        #expect(lima.region?.visits == visits)
        let transactions = try await SeveralStoresGuide.each(container, folder)
        #expect(transactions?.last?.changes.count == 2)
        // The delivered file is read-only.
        lima.population = 1
        await #expect(throws: PersistenceError.self) { try await SeveralStoresGuide.save(context) }
    }

    @Test("The example about a save that is half done completes it")
    func halfDone() async throws {
        let failing = Guarded<FaultInjectingStore?>(nil)
        let visits = PersistentStoreDescription { (model) throws(StoreError) in
            let store = FaultInjectingStore(try SQLiteStore.open(model: model, location: .memory(name: nil)))
            failing.withLock { $0 = store }
            return store
        }
        let container = try PersistentContainer(
            TravelModel.self, stores: [SeveralStoresGuide.description(), visits])
        defer { container.close() }
        let context = container.newContext()
        let lima = Town(context: context, name: "Lima")
        _ = Visit(context: context, note: "warm", town: ObjectReference(lima))
        let opened = failing.withLock(\.self)
        let store = try #require(opened)
        let failures = Guarded(1)
        store.fail { operation in
            guard operation == .commit else { return nil }
            return failures.withLock { left in
                left -= 1
                return left >= 0 ? .locked(path: "visits.sqlite") : nil
            }
        }
        try await SeveralStoresGuide.save(context)
        #expect(!context.hasChanges && store.calls(.commit) == 2)
        #expect(try await container.newContext().count(FetchRequest<Visit>()) == 1)
    }
}
