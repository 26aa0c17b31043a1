import Foundation
import Strata
import StrataCoreData

/// The examples of Documentation/ComingFromCoreData.md.
enum ComingFromCoreDataGuide {
    static func code(_ container: PersistentContainer, print: (Bool) -> Void) async throws -> (
        typed: [City], formatted: Int
    ) {
        let context = container.newContext()
        let peru = Country(context: context, countryId: "PE", name: "Peru")
        let lima = City(
            context: context, cityId: "lima", name: "Lima",
            position: GeoPoint(latitude: -12.05, longitude: -77.04),
            country: peru)
        try await context.save()
        print(peru.cities.contains(lima))  // true: the inverse is set

        lima.population = 10_000_000
        try await context.save()
        let typed = City.where { $0.country.name == "Peru" && $0.population > 1_000_000 }
        let formatted = FetchRequest<City>(
            where: try FetchPredicate(format: "country.name == %@ AND population > %d", "Peru", 1_000_000))
        let cities = try await context.fetch(typed)
        return (cities, try await context.count(formatted))
    }

    static func background(_ container: PersistentContainer) async throws {
        try await container.performBackgroundTask { context in
            for city in try context.fetch(FetchRequest<City>()) { city.population += 1 }
            try context.save()
        }
    }

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

    static func add(_ title: String, toStoreAt path: String) throws {
        var options = CoreDataStore.Options()
        options.isReadOnly = false
        let store = try CoreDataStore.open(path: path, as: NotebookModel.model, options: options)
        let context = try PersistentContainer(store: store, classes: NotebookModel.classes).newContext()
        let folder = try context.fetchFirst(Folder.where { $0.name == "Work" })
        _ = Note(context: context, title: title, folder: folder)
        try context.save()
        for problem in try CoreDataStore.check(at: path) { print(problem) }
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
