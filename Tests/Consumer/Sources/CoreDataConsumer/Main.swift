import Foundation
import Strata

/// Makes objects of the classes of a Core Data model, saves them, and reads them back in another context. Prints what the
/// test expects.
@main
struct CoreDataConsumer {
    static func main() throws {
        let container = try PersistentContainer(NotebookModel.self, at: .memory(name: nil))
        let context = container.newContext()
        let work = Tag(context: context, name: "work")
        let note = CDNote(context: context, title: "Café", rank: 4)
        note.notePath = "/notes/1"
        note.place = CDNote.Place(latitude: 44.5, name: "Bologna")
        note.style = NoteStyle(color: "red")
        note.addToTags(work)
        let photo = Attachment(context: context)
        photo.data = Data(repeating: 7, count: 3)
        note.addToAttachments(photo)
        note.addToAttachments(Attachment(context: context, name: "second"))
        _ = CDNote(context: context)
        try context.save()
        try read(container.newContext())
    }

    private static func read(_ context: ManagedObjectContext) throws {
        for note in try context.fetch(CDNote.fetchRanked(minimum: 2)) {
            print("note: \(note.title), \(note.searchTitle ?? "-"), \(note.rank ?? -1), \(note.notePath ?? "-")")
            print("place: \(note.place?.name ?? "-"), \(note.place?.latitude ?? 0); style: \(note.style?.color ?? "-")")
            print("attachments: \(note.attachments.map { "\($0.name ?? "-") \($0.data?.count ?? 0)" })")
            print("tags: \(note.tags.map(\.name))")
        }
        let titles = try context.fetch(FetchRequest<Document>()).map(\.title).sorted()
        print("documents: \(titles)")
        print("model: \(NotebookModel.model.name), \(NotebookModel.model.entities.count) entities")
    }
}
