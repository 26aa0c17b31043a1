#if Server
    import Foundation
    import Strata
    import StrataStackMob

    /// Somebody with a store of his own that mirrors the server's.
    @MainActor
    final class Traveller {
        let name: String
        let line = PhoneLine()
        let stack: StackMobStore
        let container: PersistentContainer

        /// - Parameters:
        ///   - host: The server's address, with its port.
        ///   - file: Where the mirror is made.
        init(_ name: String, model: ManagedObjectModel, host: String, file: String, log: StatementLog) throws {
            self.name = name
            var configuration = try StackMobConfiguration(publicKey: "7c1f0b6e-52d4-4b1e-9a36-0d6f2f0a9b55")
            configuration.dialect.host = host
            configuration.dialect.usesExtensions = true
            configuration.sessionStorage = MemorySessionStorage()
            configuration.transport = line
            var options = RemoteStore.Options()
            options.fetchPolicy = .cacheOnly
            options.savePolicy = .cacheOnly
            options.sync.firstDelay = 0.01
            options.sync.retries = 1
            options.mirror.trace = { [log] in log.record(sql: $0.sql, seconds: $0.duration, rows: $0.rows) }
            stack = try StackMobStore.open(
                model: model, client: StackMobClient(configuration), location: .file(path: file), options: options)
            container = try PersistentContainer(store: stack.remote)
        }

        var context: ManagedObjectContext { container.viewContext }

        /// The city with the given name.
        func city(_ name: String) throws -> ManagedObject {
            let found = try context.fetch(
                FetchRequest<ManagedObject>(entity: "City", where: try FetchPredicate(format: "name == %@", name)))
            guard let city = found.first else { throw GazetteerError.unexpected("\(self.name) does not have \(name)") }
            return city
        }

        /// Everything that he has, one line for each city, in the order of their keys.
        func everything() throws -> [String] {
            let fresh = container.newContext()
            let cities = try fresh.fetch(FetchRequest<ManagedObject>(entity: "City", sortedBy: [FetchSort("cityId")]))
            return cities.map { city in
                Self.line(
                    id: city["cityId"] as? String, name: city["name"] as? String,
                    population: city["population"] as? Int64, note: city["note"] as? String)
            }
        }

        /// A city as a line to compare.
        static func line(id: String?, name: String?, population: Int64?, note: String?) -> String {
            "\(id ?? "?") \(name ?? "?") \(population.map(String.init) ?? "?") \(note ?? "-")"
        }
    }
#endif
