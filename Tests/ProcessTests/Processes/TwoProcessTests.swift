import CrashModels
import Foundation
import Strata
import Testing

/// Two processes write one store at the same time.
@Suite struct TwoProcessTests {
    @Test func keysNeverMeetAndNothingIsLost() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "two-\(UUID().uuidString).sqlite")
        defer {
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path.path + suffix) }
        }
        let store = try SQLiteStore.open(model: CrashModels.first(), location: .file(path: path.path), options: .init())
        let container = try PersistentContainer(store: store)
        defer { container.close() }
        let context = container.newContext()

        // All three draw keys in turn, since an insert takes its key when it is made, and then save at about the same
        // time.
        let probes = try [Probe(store: path, count: 3000), Probe(store: path, count: 3000)]
        for number in 0..<3000 {
            let object = try context.insert(entityNamed: "Item")
            object["itemId"] = "own-\(number)"
            object["title"] = "of the test's own process"
            object["amount"] = Int64(number)
            object["weight"] = 1.0
        }
        try context.save()
        for probe in probes { #expect(probe.end() == 0) }
        #expect(try context.count(FetchRequest<ManagedObject>(entity: "Item")) == 9000)
        let keys = try context.fetchIDs(FetchRequest<ManagedObject>(entity: "Item")).map(\.key)
        #expect(Set(keys).count == 9000)
        #expect(try store.integrityReport().isSound)
    }
}
