import Foundation
import Strata
import Testing

/// `awakeFromFetch`, called for every object whose row is read, whichever code reads it.
@Suite struct AwakeningTests {
    @Test("Objects that are loaded while another one wakes wake up, too, each once")
    func nested() throws {
        let file = try ZooFile()
        let seed = file.container.newContext()
        let cat = Cat(inserting: seed)
        cat.name = "Mitzi"
        let enclosure = Enclosure(seed, code: "AA-1")
        cat.enclosure = enclosure
        let keeper = Keeper(inserting: seed)
        keeper.name = "Ann"
        enclosure.keepers = [keeper]
        let warden = Keeper(inserting: seed)
        warden.name = "Ben"
        enclosure.wardens = [warden]
        try seed.save()
        HookLog.listening { log in
            var codes: [String] = []
            // A context does not keep objects alive.
            var kept: [ManagedObject] = []
            log.actions["awakeFromFetch"] = { object in
                kept.append(object)
                // Each reads the next: an attribute of a target, then members of a relationship.
                if let cat = object as? Cat { codes.append(cat.enclosure?.code ?? "-") }
                if let enclosure = object as? Enclosure { codes += enclosure.keepers.map(\.name) }
            }
            let context = file.container.newContext()
            let read = try? context.fetchFirst(FetchRequest<Cat>())
            #expect(read?.name == "Mitzi")
            let lines = log.take().filter { $0.hasPrefix("awakeFromFetch") }.sorted()
            #expect(lines == ["awakeFromFetch Cat", "awakeFromFetch Enclosure", "awakeFromFetch Keeper"])
            #expect(codes.sorted() == ["AA-1", "Ann"])
            log.actions = [:]
            _ = read?.enclosure?.keepers.first?.name
            #expect(log.take().isEmpty && kept.count == 3)
        }
    }
}
