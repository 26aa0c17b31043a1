import Foundation
import Strata

/// The largest cities, kept up to date by a live result on the main actor. All readers of the page share it.
@MainActor
final class LiveList {
    private let cities: FetchedResults<City>

    init(_ container: PersistentContainer, top: Int) throws {
        // The name decides among equal populations, so that the order is always the same.
        let request = FetchRequest<City>(
            sortedBy: [City.keys.population.descending, City.keys.name.ascending], limit: top)
        // `viewContext` merges what other contexts and other processes commit.
        cities = try container.viewContext.live(request)
    }

    /// The whole list first, then each difference. A reader who is slow gets one difference for all that it missed.
    func events() -> AsyncThrowingStream<Data, any Error> {
        let reader = Reader(cities.updates.makeAsyncIterator())
        return AsyncThrowingStream { try await self.next(reader) }
    }

    private func next(_ reader: Reader) async throws -> Data? {
        var updates = reader.updates
        defer { reader.updates = updates }
        return try await updates.next(isolation: #isolation).map(event)
    }

    /// What one reader has seen.
    @MainActor
    private final class Reader {
        var updates: ResultsUpdates.AsyncIterator

        init(_ updates: ResultsUpdates.AsyncIterator) { self.updates = updates }
    }

    /// One update as JSON.
    private func event(_ update: ResultsUpdate) throws -> Data {
        var page = PageUpdate()
        if update.isInitial {
            page.all = update.snapshot.compactMap(row)
        } else {
            let difference = update.difference
            page.deletes = difference.deletes.map(\.from.index)
            page.inserts = difference.inserts.compactMap { one in row(one.id).map { .init(to: one.to.index, row: $0) } }
            page.moves = difference.moves.compactMap { one in
                row(one.id).map { .init(from: one.from.index, to: one.to.index, row: $0) }
            }
            page.updates = difference.updates.compactMap { one in row(one.id).map { .init(to: one.to.index, row: $0) } }
        }
        return try JSONEncoder().encode(page)
    }

    /// What the page shows of a city; nil if it has been deleted since.
    private func row(_ id: ObjectID) -> PageUpdate.Row? {
        guard let city = try? cities.context.existingObject(City.self, with: id) else { return nil }
        return .init(id: city.cityId, name: city.name, country: city.country.name, population: city.population)
    }
}
