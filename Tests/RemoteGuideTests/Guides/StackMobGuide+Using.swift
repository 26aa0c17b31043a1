import Foundation
import Strata
import StrataStackMob

extension StackMobGuide {
    @MainActor static func open(path: String) throws -> StackMobStore {
        let client = try StackMobClient(publicKey: "7c1f0b6e-52d4-4b1e-9a36-0d6f2f0a9b55")
        let stack = try StackMobStore.open(model: GazetteerModel.model, client: client, location: .file(path: path))
        return stack
    }

    @MainActor static func using(_ container: PersistentContainer, _ stack: StackMobStore) async throws {
        let context = container.viewContext
        let cities = try await context.fetch(FetchRequest<City>())  // from the network, or else the mirror
        cities[0].population = 10_151_000
        try await context.save(options: RemoteOptions(savePolicy: .cacheOnly))  // saved here; the outbox waits
        try await stack.sync.synchronize()  // sent, merged property by property, and news taken in
    }
}
