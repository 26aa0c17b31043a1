import Foundation
import Strata
import Testing

/// Rows that refer to an object which is deleted by a context that does not know these rows. The store clears the references, and
/// the rows get another version with that.
@Suite(.timeLimit(.minutes(10))) struct UnknownReferrerTests {
    private let file: LibraryFile
    /// It has the pupil, and is not notified of the delete.
    private let stale: ManagedObjectContext
    private let pupil: Author

    init() throws {
        file = try LibraryFile()
        stale = file.container.newContext()
        pupil = Author(stale, name: "pupil")
        try stale.save()
    }

    /// A context reads the pupils of a mentor, of whom there are none. Others make the pupil one. Then the context deletes the mentor.
    private func deleteMentor(beforeSave: () throws -> Void = {}) throws {
        let mentor = Author(stale, name: "mentor")
        try stale.save()
        let deleting = file.container.newContext()
        let same = try deleting.existingObject(Author.self, with: mentor.objectID)
        #expect(same.students.isEmpty)
        pupil.mentor = mentor
        try stale.save()
        try beforeSave()
        deleting.delete(same)
        try deleting.save()
    }

    @Test("A fetch that refreshes what it finds shows that the reference is gone")
    func refreshed() throws {
        try deleteMentor()
        var request = FetchRequest<Author>()
        request.refreshesRefetchedObjects = true
        #expect(try stale.fetch(request).map(\.name) == ["pupil"])
        #expect(pupil.mentor == nil)
        #expect(pupil.version == 3)
    }

    @Test("A context that was not notified of the delete saves over it only after a conflict")
    func conflict() throws {
        try deleteMentor()
        pupil.name = "other"
        let error = persistenceError { try stale.save() }
        guard case .conflicts(let conflicts)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(conflicts.map(\.objectID) == [pupil.objectID])
        stale.mergePolicy = .objectWinsByProperty
        try stale.save()
        #expect(pupil.mentor == nil)
        let reader = file.container.newContext()
        let saved = try reader.existingObject(Author.self, with: pupil.objectID)
        #expect(saved.name == "other" && saved.mentor == nil)
    }

    @Test("A context that merges the delete saves and deletes without a conflict", arguments: [false, true])
    @MainActor func merged(_ deletes: Bool) throws {
        let view = file.container.viewContext
        let same = try view.existingObject(Author.self, with: pupil.objectID)
        try deleteMentor {
            view.processPendingChanges()
            same.name = "other"
            if deletes { view.delete(same) }
        }
        view.processPendingChanges()
        #expect(same.mentor == nil)
        #expect(same.version == 3)
        try view.save()
        let names = try file.container.newContext().fetch(FetchRequest<Author>()).map(\.name)
        #expect(names == (deletes ? [] : ["other"]))
    }

    @Test("The deleting context has the new versions of what it has loaded")
    func deletingContext() throws {
        let deleting = file.container.newContext()
        let mentor = Author(stale, name: "mentor")
        try stale.save()
        let same = try deleting.existingObject(Author.self, with: mentor.objectID)
        #expect(same.students.isEmpty)
        pupil.mentor = mentor
        try stale.save()
        // It reads the row as it is now, and does not put it into the list that it has.
        let known = try deleting.existingObject(Author.self, with: pupil.objectID)
        #expect(known.version == 2)
        deleting.delete(same)
        try deleting.save()
        #expect(known.mentor == nil && known.version == 3)
        known.name = "other"
        try deleting.save()
        #expect(known.version == 4)
    }

    @Test("A live result of another container on the file shows what a fetch shows", arguments: [false, true])
    @MainActor func stranger(_ isEdited: Bool) throws {
        let view = try file.stranger().viewContext
        let request = FetchRequest<Author>(
            where: try FetchPredicate(format: "name != 'mentor' AND mentor == nil"), sortedBy: [FetchSort("name")])
        let list = try view.live(request)
        let listener = Listener(list.snapshot.ids)
        list.delegate = listener
        let same = try view.existingObject(Author.self, with: pupil.objectID)
        try deleteMentor {
            // Not at once where the thread that watches the file is reading it at this moment.
            while !list.isEmpty { view.processPendingChanges() }
            #expect(same.mentor?.name == "mentor")
            if isEdited { same.score = 7 }
        }
        while list.isEmpty { view.processPendingChanges() }
        #expect(list.map(\.objectID) == [same.objectID] && listener.ids == list.snapshot.ids)
        #expect(try view.fetch(request).map(\.objectID) == [same.objectID])
        #expect(same.mentor == nil)
        try view.save()
        let saved = try file.container.newContext().existingObject(Author.self, with: pupil.objectID)
        #expect(saved.mentor == nil && saved.score == (isEdited ? 7 : 0))
    }
}
