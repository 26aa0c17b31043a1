import Foundation
import Strata
import StrataCoreData
import Testing

/// The examples of the guide for those who come from Core Data, on a store in Core Data's format.
@Suite struct ComingFromCoreDataTests {
    private let folder: URL
    private let store: NotebookStore

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "strata-guide-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        store = try NotebookStore(folder: folder)
    }

    @Test("A store of Core Data is read where it stands")
    func reading() throws {
        #expect(try ComingFromCoreDataGuide.titles(in: store.path) == ["Report"])
        let context = try ComingFromCoreDataGuide.open(store.path, model: store.model).newContext()
        let home = try #require(try context.fetchFirst(Folder.where { $0.name == "Home" }))
        #expect(home.notes.map(\.title) == ["Milk", "Bread"])
        #expect(home.notes[0].keywords == ["shop", "food"] && home.notes[1].keywords == nil)
    }

    @Test("A store is written where it is")
    func writing() throws {
        try ComingFromCoreDataGuide.add("Budget", toStoreAt: store.path)
        #expect(try Set(ComingFromCoreDataGuide.titles(in: store.path)) == ["Report", "Budget"])
    }

    @Test("A store is exported for the model of the app")
    func exporting() throws {
        let target = folder.appending(path: "new.sqlite").path
        let report = try ComingFromCoreDataGuide.export(store.path, to: target)
        #expect(report.isComplete, "\(report.problems)")
        #expect(report.entities.reduce(0) { $0 + $1.written } == 5)
    }

    @Test("The app works with what its users had")
    func porting() async throws {
        let container = try ComingFromCoreDataGuide.container(folder: folder)
        let context = container.newContext()
        let home = try #require(try await context.fetchFirst(Folder.where { $0.name == "Home" }))
        let note = try ComingFromCoreDataGuide.add("Eggs", to: home, in: context)
        #expect(home.notes.map(\.title) == ["Milk", "Bread", "Eggs"] && note.objectID.key > 3)
        let date = Date(timeIntervalSinceReferenceDate: 650_000_000)
        #expect(try ComingFromCoreDataGuide.recent(context, since: date).map(\.title) == ["Milk"])
        try await ComingFromCoreDataGuide.touchAll(container)
        let later = try ComingFromCoreDataGuide.container(folder: folder).newContext()
        #expect(try ComingFromCoreDataGuide.recent(later, since: date).count == 4)
    }
}
