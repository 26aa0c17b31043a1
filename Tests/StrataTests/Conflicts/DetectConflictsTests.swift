import Foundation
import Strata
import Testing

/// A save that depends on an object which it does not change.
@Suite struct DetectConflictsTests {
    let file: ZooFile
    let mine: ManagedObjectContext
    let theirs: ManagedObjectContext

    init() throws {
        file = try ZooFile()
        let setup = file.container.newContext()
        _ = Enclosure(setup, code: "AA-1")
        _ = Keeper(setup, name: "Ann")
        try setup.save()
        mine = file.container.newContext()
        // As another process would do it.
        theirs = try file.secondContainer().newContext()
    }

    private func home(_ context: ManagedObjectContext) throws -> Enclosure {
        try #require(try context.fetchFirst(FetchRequest<Enclosure>()))
    }

    private func keepers() throws -> [String] {
        // Each enclosure comes with a warden.
        let all = try file.container.newContext().fetch(FetchRequest<Keeper>(sortedBy: [FetchSort("name")])).map(\.name)
        return all.filter { !$0.hasPrefix("Warden") }
    }

    private func reason<R>(_ body: () throws -> R) -> MergeConflict.Reason? {
        guard case .conflicts(let conflicts)? = persistenceError(body), conflicts.count == 1 else { return nil }
        return conflicts[0].reason
    }

    @Test("An object that nobody changed is no conflict, and the save leaves its version alone")
    func unchanged() throws {
        let home = try home(mine)
        let version = home.version
        try mine.detectConflicts(for: home)
        _ = Keeper(mine, name: "Bob")
        let (statements, _) = try file.statements { try mine.save() }
        #expect(statements.filter { $0.hasPrefix("UPDATE") }.isEmpty)
        #expect(try keepers() == ["Ann", "Bob"])
        #expect(home.version == version)
    }

    @Test("An object that others changed is a conflict under the policy error, until it is refreshed")
    func changed() throws {
        let here = try home(mine)
        try home(theirs).code = "BB-1"
        try theirs.save()
        try mine.detectConflicts(for: here)
        _ = Keeper(mine, name: "Bob")
        #expect(reason { try mine.save() } == .changedInStore)
        #expect(try keepers() == ["Ann"])
        #expect(mine.hasChanges)
        try mine.refresh(here)
        try mine.save()
        #expect(try keepers() == ["Ann", "Bob"])
    }

    @Test("Under another policy the object takes what others saved, and the save goes on")
    func policies() throws {
        mine.mergePolicy = .objectWinsByProperty
        let here = try home(mine)
        try home(theirs).code = "BB-1"
        try theirs.save()
        try mine.detectConflicts(for: here)
        _ = Keeper(mine, name: "Bob")
        try mine.save()
        #expect(here.code == "BB-1")
        #expect(try keepers() == ["Ann", "Bob"])
    }

    @Test("An object that others deleted is a conflict under the policy error, and missing under others")
    func deleted() throws {
        let here = try home(mine)
        theirs.delete(try home(theirs))
        try theirs.save()
        try mine.detectConflicts(for: here)
        _ = Keeper(mine, name: "Bob")
        #expect(reason { try mine.save() } == .deletedInStore)
        mine.mergePolicy = .storeWinsByProperty
        try mine.save()
        #expect(here.isMissing)
        #expect(try keepers() == ["Ann", "Bob"])
    }

    @Test("A mark is gone after the save and after a rollback")
    func forgotten() throws {
        let here = try home(mine)
        try mine.detectConflicts(for: here)
        _ = Keeper(mine, name: "Bob")
        try mine.save()
        try mine.detectConflicts(for: here)
        mine.rollback()
        try home(theirs).code = "BB-1"
        try theirs.save()
        _ = Keeper(mine, name: "Cid")
        try mine.save()
        #expect(try keepers() == ["Ann", "Bob", "Cid"])
    }

    @Test("An object whose relationship changes here, and not its row, is checked as well")
    func relationshipOnly() throws {
        let here = try home(mine)
        let ann = try #require(
            try mine.fetchFirst(FetchRequest<Keeper>(where: try FetchPredicate(format: "name == %@", "Ann"))))
        try home(theirs).code = "BB-1"
        try theirs.save()
        here.keepers = [ann]
        try mine.detectConflicts(for: here)
        #expect(reason { try mine.save() } == .changedInStore)
        mine.mergePolicy = .objectWinsByProperty
        try mine.save()
        #expect(here.code == "BB-1" && here.keepers == [ann])
    }

    @Test("A child hands its marks to the parent, which checks them against the store")
    func child() throws {
        let child = mine.makeChild()
        let here = try #require(try child.fetchFirst(FetchRequest<Enclosure>()))
        try child.detectConflicts(for: here)
        _ = Keeper(child, name: "Bob")
        try child.save()
        try home(theirs).code = "BB-1"
        try theirs.save()
        #expect(reason { try mine.save() } == .changedInStore)
        mine.mergePolicy = .objectWinsByProperty
        try mine.save()
        #expect(try keepers() == ["Ann", "Bob"])
    }

    @Test("An asynchronous save checks, too")
    func asynchronous() async throws {
        let here = try home(mine)
        try home(theirs).code = "BB-1"
        try await theirs.save()
        try mine.detectConflicts(for: here)
        _ = Keeper(mine, name: "Bob")
        await #expect(throws: PersistenceError.self) { try await mine.save() }
        try mine.refresh(here)
        try await mine.save()
        #expect(try keepers() == ["Ann", "Bob"])
    }

    @Test("An object of another context is refused, a fault is read, and a new object needs no check")
    func objects() throws {
        guard case .objectNotFound? = persistenceError({ try mine.detectConflicts(for: try home(theirs)) }) else {
            Issue.record("no error")
            return
        }
        var request = FetchRequest<Enclosure>()
        request.returnsObjectsAsFaults = true
        let fault = try mine.fetch(request)[0]
        try mine.detectConflicts(for: fault)
        #expect(!fault.isFault)
        try mine.detectConflicts(for: Keeper(mine, name: "Bob"))
        try mine.save()
        #expect(try keepers() == ["Ann", "Bob"])
    }
}
