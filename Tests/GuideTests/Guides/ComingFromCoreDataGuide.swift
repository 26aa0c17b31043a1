// The examples of Documentation/ComingFromCoreData.md, compiled and run by GuideTests.
import Foundation
import Strata
import StrataCoreData

enum ComingFromCoreDataGuide {
    static func titles(in path: String) throws -> [String] {
        let store = try CoreDataStore.open(path: path)
        let context = try PersistentContainer(store: store).newContext()
        let request = FetchRequest<ManagedObject>(
            entity: "Note", where: try FetchPredicate(format: "folder.name == 'Work'"))
        return try context.fetch(request).compactMap { $0["title"] as? String }
    }

    static func open(_ path: String, model: String) throws -> PersistentContainer {
        let store = try CoreDataStore.open(path: path, model: .file(path: model), as: NotebookModel.model)
        return try PersistentContainer(store: store, classes: NotebookModel.classes)
    }

    static func export(_ path: String, to destination: String) throws -> CoreDataExportReport {
        var options = CoreDataStore.ExportOptions()
        options.onProgress = { print(Int($0.fraction * 100), "%", $0.text) }
        let report = try CoreDataStore.export(path: path, to: destination, as: NotebookModel.model, options: options)
        for problem in report.problems { print(problem) }
        return report
    }

    static func container(folder: URL) throws -> PersistentContainer {
        let old = folder.appending(path: "Notebook.sqlite").path
        let new = folder.appending(path: "notebook.strata.sqlite").path
        if !FileManager.default.fileExists(atPath: new), FileManager.default.fileExists(atPath: old) {
            let report = try CoreDataStore.export(path: old, to: new, as: NotebookModel.model)
            for problem in report.problems { print(problem) }
        }
        return try PersistentContainer(NotebookModel.self, at: .file(path: new))
    }

    static func add(_ title: String, to folder: Folder, in context: ManagedObjectContext) throws -> Note {
        let note = Note(context: context, title: title, folder: folder)
        try context.save()
        return note
    }

    static func recent(_ context: ManagedObjectContext, since date: Date) throws -> [Note] {
        try context.fetch(Note.where { $0.changedAt > date }.sorted(by: Note.keys.title.ascending))
    }

    static func touchAll(_ container: PersistentContainer) async throws {
        try await container.performBackgroundTask { context in
            for note in try context.fetch(FetchRequest<Note>()) { note.changedAt = .now }
            try context.save()
        }
    }
}
