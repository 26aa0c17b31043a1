import Foundation
import Strata
import Testing

/// An object that comes back, because the policy prefers a change of it to a delete by others.
@Suite struct ComingBackTests {
    @Test(
        "Both ends of a one-to-one relationship agree, even if the partner was changed and not read again",
        arguments: [MergePolicy.objectWinsByProperty, .overwrite])
    func oneToOne(policy: MergePolicy) throws {
        let file = try LibraryFile()
        let setup = file.container.newContext()
        let author = Author(setup, name: "Ann")
        let passport = Passport(setup, number: "1")
        try setup.save()
        // Deletes the author without knowing of the passport, which the delete rule would delete as well.
        let deleting = file.container.newContext()
        deleting.mergePolicy = .overwrite
        deleting.delete(try deleting.existingObject(Author.self, with: author.objectID))
        passport.owner = author
        try setup.save()
        let changing = file.container.newContext()
        changing.mergePolicy = policy
        try changing.existingObject(Author.self, with: author.objectID).name = "Bea"
        try changing.existingObject(Passport.self, with: passport.objectID).number = "2"
        try deleting.save()
        try changing.save()

        let fresh = file.container.newContext()
        let back = try fresh.existingObject(Author.self, with: author.objectID)
        let other = try fresh.existingObject(Passport.self, with: passport.objectID)
        #expect(back.name == "Bea" && other.number == "2")
        #expect(back.passport == other && other.owner == back)
    }
}
