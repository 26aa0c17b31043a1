import Foundation
import StrataRemoteTesting
import Testing

@testable import travel

/// Two travellers and a server in memory.
@Suite struct JournalTests {
    private func journal(_ server: MemoryBackend) throws -> Journal {
        let store = try RemoteStore.open(
            model: GazetteerModel.model, backend: server, location: .memory(name: nil), options: Journal.options)
        return try Journal(store)
    }

    @Test("What one traveller saves offline, another one has after both synchronize")
    func synchronizing() async throws {
        let server = MemoryBackend()
        let ana = try journal(server)
        try await ana.add("Lima", country: "PE", population: 10_092_000)
        try await ana.add("Cusco", country: "PE", population: 428_450)
        try await ana.visit("Lima", note: "Stay for the food.")
        #expect(try ana.waiting() == 4)
        #expect(server.records.isEmpty)
        try await ana.sync.synchronize()
        #expect(try ana.waiting() == 0)

        let ben = try journal(server)
        try await ben.sync.synchronize()
        let lines = try await ben.lines()
        #expect(lines.count == 3)
        #expect(lines.first == "Lima, PE: 10092000")
        #expect(lines[1].hasSuffix("Stay for the food."))
        #expect(lines.last == "Cusco, PE: 428450")
    }

    @Test("Changes of two travellers to one city are merged")
    func merging() async throws {
        let server = MemoryBackend()
        let ana = try journal(server)
        try await ana.add("Lima", country: "PE", population: 1)
        try await ana.sync.synchronize()
        let ben = try journal(server)
        try await ben.sync.synchronize()

        try await ana.add("Lima", country: "PE", population: 2)
        try await ben.visit("Lima", note: "Mind the traffic.")
        for journal in [ana, ben, ana] { try await journal.sync.synchronize() }
        #expect(try await ana.lines() == ben.lines())
        #expect(try await ana.lines().count == 2)
    }

    @Test("A visit to an unknown city is refused with advice")
    func unknownCity() async throws {
        let journal = try journal(MemoryBackend())
        let error = await #expect(throws: JournalError.self) { try await journal.visit("Atlantis", note: "") }
        #expect(error?.description.contains("travel add") == true)
        #expect(try journal.waiting() == 0)
    }
}
