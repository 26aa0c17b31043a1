import Strata
import StrataModelFiles
import StrataStackMob
import StrataRemoteTesting

#if Server
    import StrataServer
#endif

/// The examples of the landing pages, `Sources/*/*.docc`.
enum CatalogGuide {
    static func strata(_ path: String) async throws {
        let container = try PersistentContainer(GazetteerModel.self, at: .file(path: path))
        let context = container.newContext()
        let peru = Country(context: context, countryId: "PE", name: "Peru")
        City(context: context, name: "Lima", population: 10_092_000, country: peru)
        try await context.save()
        for city in try await context.fetch(City.where { $0.population > 1_000_000 }) {
            print(city.name, "in", city.country.name)
        }
    }

    static func remote(_ backend: any RemoteBackend, _ path: String) async throws -> PersistentContainer {
        let store = try RemoteStore.open(model: GazetteerModel.model, backend: backend, location: .file(path: path))
        let container = try PersistentContainer(store: store, classes: GazetteerModel.classes)
        try await store.sync.synchronize()
        return container
    }

    static func stackMob(_ key: String, _ path: String) throws -> PersistentContainer {
        let client = try StackMobClient(publicKey: key)
        let stack = try StackMobStore.open(model: GazetteerModel.model, client: client, location: .file(path: path))
        let container = try PersistentContainer(store: stack.remote, classes: GazetteerModel.classes)
        return container
    }

    static func counting(_ container: PersistentContainer, _ context: ManagedObjectContext) throws {
        try expectStatements(1, in: container) {
            try context.fetch(City.where { $0.population > 1_000_000 })
        }
    }

    static func testing(_ model: ManagedObjectModel) throws -> RemoteStore {
        let server = MemoryBackend()
        let store = try RemoteStore.open(model: model, backend: server, location: .memory(name: nil))
        return store
    }

    static func modelFiles() throws -> ManagedObjectModel {
        let model = try ModelFile.read(path: "Models/Gazetteer.strata.yaml").model()
        return model
    }

    #if Server
        static func server() async throws {
            let server = try DataServer(folder: "data", model: GazetteerModel.model)
            try await HTTPService(server, port: 8080).run()
        }
    #endif
}
