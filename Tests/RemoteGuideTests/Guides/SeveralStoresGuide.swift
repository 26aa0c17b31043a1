import Strata
import StrataRemote

/// The examples of Documentation/SeveralStores.md with a server.
enum SeveralStoresGuide {
    static func open(
        _ backend: any RemoteBackend, _ folder: String, delivered: SQLiteStore.Options
    ) throws -> (PersistentContainer, RemoteStore?) {
        var options = RemoteStore.Options()
        options.savePolicy = .networkElseQueue
        let container = try PersistentContainer(
            ShopModel.self,
            stores: [
                PersistentStoreDescription(configuration: "Orders") { [options] (model) throws(StoreError) in
                    try RemoteStore.open(
                        model: model, backend: backend, location: .file(path: "\(folder)/orders.sqlite"),
                        options: options)
                },
                PersistentStoreDescription(
                    configuration: "Catalogue", at: .file(path: "\(folder)/catalogue.sqlite"), options: delivered),
                PersistentStoreDescription(at: .file(path: "\(folder)/drafts.sqlite")),
            ])
        let orders = container.store(forConfiguration: "Orders") as? RemoteStore
        return (container, orders)
    }

    static func save(_ context: ManagedObjectContext) async throws {
        try await context.save(options: OptionsByConfiguration(["Orders": RemoteOptions(savePolicy: .cacheOnly)]))
    }

    static func refer(_ order: Order, in context: ManagedObjectContext) async throws -> Order? {
        let draft = Draft(context: context, text: "two boxes", order: ObjectReference(order))
        try await context.save()
        let found = try await context.resolve(draft.order, options: nil)
        return found
    }
}
