import Foundation
import Hummingbird
import HummingbirdTesting
import Strata
import Testing

@testable import live_cities

/// What a reader is sent.
@Suite(.timeLimit(.minutes(2))) struct EventTests {
    private func names(_ list: LiveList, after edits: @Sendable () async throws -> Void) async throws -> [PageUpdate] {
        var found: [PageUpdate] = []
        for try await event in await list.events() {
            found.append(try JSONDecoder().decode(PageUpdate.self, from: event))
            if found.count == 1 { try await edits() } else { break }
        }
        return found
    }

    @Test("A reader gets the whole list, then only what another process changes")
    func difference() async throws {
        let store = try SampleStore(["Tokyo": 30, "Delhi": 20, "Lima": 10])
        let list = try await LiveList(store.container(), top: 2)
        let found = try await names(list) {
            let status = try await runProgram("edit", store.path, "--city", "Lima", "--population", "25")
            #expect(status == 0)
        }
        #expect(found.first?.all?.map(\.name) == ["Tokyo", "Delhi"])
        #expect(found.last?.all == nil)
        #expect(found.last?.deletes == [1])
        #expect(found.last?.updates == [])
        #expect(
            found.last?.inserts == [
                .init(to: 1, row: .init(id: "2", name: "Lima", country: "Somewhere", population: 25))
            ])
    }

    @Test("A city that changes places is a move")
    func move() async throws {
        let store = try SampleStore(["Tokyo": 30, "Delhi": 20, "Lima": 10])
        let list = try await LiveList(store.container(), top: 40)
        let editor = try Editor(.file(path: store.path))
        let found = try await names(list) {
            let isFound = try await editor.set(40, of: "Lima")
            #expect(isFound)
        }
        #expect(found.last?.moves.map { [$0.from, $0.to] } == [[2, 0]])
        #expect(found.last?.moves.first?.row.population == 40)
        #expect(found.last?.updates == [])
    }

    @Test("Random edits stay among the largest cities, and are saved")
    func randomEdit() async throws {
        let store = try SampleStore(["Tokyo": 3000, "Delhi": 2000, "Lima": 10])
        let text = try await Editor(.file(path: store.path)).editOne(amongLargest: 2)
        #expect(text.hasPrefix("Tokyo: 3000 → ") || text.hasPrefix("Delhi: 2000 → "))
        let populations = try await store.container().read { context in
            try context.fetch(FetchRequest<City>(sortedBy: [City.keys.cityId.ascending])).map(\.population)
        }
        #expect(populations != [3000, 2000, 10] && populations[2] == 10)
    }

    @Test("A city that does not exist is an error")
    func unknown() async throws {
        let store = try SampleStore(["Tokyo": 1])
        let status = try await runProgram("edit", store.path, "--city", "Atlantis", "--population", "1")
        #expect(status != 0)
    }

    @Test("The page is HTML, and the stream has the type that browsers ask for")
    func types() async throws {
        let store = try SampleStore(["Tokyo": 1])
        let list = try await LiveList(store.container(), top: 5)
        try await Application(router: routes(list)).test(.live) { client in
            try await client.execute(uri: "/", method: .get) { response in
                #expect(response.headers[.contentType] == "text/html; charset=utf-8")
                #expect(String(buffer: response.body).contains("EventSource"))
            }
        }
    }
}
