#if Server
    import Foundation
    import Strata
    import StrataRemote

    /// Somebody with a store of his own that mirrors the server's.
    @MainActor
    final class Traveller {
        let name: String
        let line = PhoneLine()
        let remote: RemoteStore
        let container: PersistentContainer

        /// - Parameters:
        ///   - dialect: The protocol.
        ///   - host: The server's address, with its port.
        ///   - file: Where the mirror is made.
        init(
            _ name: String, model: ManagedObjectModel, dialect: OnlineDialect, host: String, file: String,
            log: StatementLog
        ) throws {
            self.name = name
            var options = RemoteStore.Options()
            options.fetchPolicy = .cacheOnly
            options.savePolicy = .cacheOnly
            options.sync.firstDelay = 0.01
            options.sync.retries = 1
            options.mirror.trace = { [log] in log.record(sql: $0.sql, seconds: $0.duration, rows: $0.rows) }
            remote = try RemoteStore.open(
                model: model, backend: try dialect.backend(for: model, host: host, transport: line),
                location: .file(path: file), options: options)
            container = try PersistentContainer(store: remote)
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

        /// Sets where a city is.
        func place(_ city: ManagedObject, latitude: Double, longitude: Double) {
            if city.entity.attribute(named: "position") != nil {
                city["position"] = GeoPoint(latitude: latitude, longitude: longitude)
            } else {
                city["latitude"] = latitude
                city["longitude"] = longitude
            }
        }

        /// Everything that the server has, one line for each city.
        func everythingAtServer() async throws -> [String] {
            guard let entity = remote.model.entity(named: "City") else { return [] }
            var query = RemoteQuery(entity: entity)
            var lines: [String] = []
            while true {
                guard case .page(let page) = try await remote.backend.perform(.query(query), options: .init()) else {
                    throw GazetteerError.unexpected("the server answered a query without cities")
                }
                for record in page.records {
                    func value(_ name: String) -> Value {
                        if case .value(let value)? = record.values[name] { value } else { .null }
                    }
                    func text(_ name: String) -> String? {
                        if case .string(let text) = value(name) { text } else { nil }
                    }
                    var population: Int64?
                    if case .integer(let number) = value("population") { population = number }
                    lines.append(
                        Self.line(id: record.id, name: text("name"), population: population, note: text("note")))
                }
                guard page.hasMore, let next = page.next, next != query.cursor else { return lines }
                query.cursor = next
            }
        }

        /// A city as a line to compare.
        static func line(id: String?, name: String?, population: Int64?, note: String?) -> String {
            "\(id ?? "?") \(name ?? "?") \(population.map(String.init) ?? "?") \(note ?? "-")"
        }
    }
#endif
