import Foundation
import Strata
import Testing

/// What an application hears about values in the file that are not values of their attributes.
@Suite struct DamagedReportTests {
    let file: MagazineFile

    init() throws {
        file = try MagazineFile()
        let context = file.container.newContext()
        let article = Article(context: context, title: "A", layout: Layout(theme: "dark"))
        article.section = .news
        article.notes = Notes(text: "x")
        try context.save()
    }

    @Test("A damaged value is reported once, with what the store holds, and a save of another property leaves it alone")
    func reports() throws {
        try file.shell("UPDATE article SET section = 'gossip', status = 'lost', layout = '{', notes = '[1]'")
        let context = file.container.newContext()
        var reports: [String] = []
        context.onFaultError = { error, object in
            guard case .damagedValue(let damage) = error else { return reports.append("\(error)") }
            reports.append("\(damage.entity).\(damage.property) of \(object.objectID.key): \(damage.content)")
        }
        let article = try #require(try context.fetch(FetchRequest<Article>()).first)
        for _ in 0..<2 {
            #expect(
                article.section == nil && article.status == .draft && article.layout.theme == "" && article.notes == nil
            )
        }
        let key = article.objectID.key
        #expect(
            reports
                == [
                    #"Article.section of \(key): "gossip""#, #"Article.status of \(key): "lost""#,
                    #"Article.layout of \(key): "{""#, #"Article.notes of \(key): "[1]""#,
                ].map { $0.replacingOccurrences(of: "\\(key)", with: "\(key)") })
        guard case .damagedValue? = context.lastFaultError else {
            Testing.Issue.record("\(String(describing: context.lastFaultError))")
            return
        }
        context.mergePolicy = .overwrite
        article.title = "B"
        try context.save()
        #expect(try file.shell("SELECT section, status, layout, notes, title FROM article") == ["gossip|lost|{|[1]|B"])
        #expect(reports.count == 4)
        article.section = .sports
        try context.save()
        #expect(try file.shell("SELECT section FROM article") == ["sport"])
    }

    @Test("Access by name reports numbers out of range and text that is not a URI")
    func keyedAccess() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "damaged-\(UUID().uuidString).sqlite").path
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        let model = try ManagedObjectModel(name: "Damaged") {
            Entity("Thing") {
                Attribute("small", .integer16, optional: true)
                Attribute("link", .uri, optional: true)
                Attribute("title", .string, optional: true)
            }
        }
        let container = try PersistentContainer(model: model, at: .file(path: path))
        let writer = container.newContext()
        let thing = try writer.insert(entityNamed: "Thing")
        thing["title"] = "x"
        try writer.save()
        try MagazineFile.shell(
            path, "UPDATE thing SET small = 70000, link = 'http://[', title = 'fine'")
        let context = container.newContext()
        var properties: [String] = []
        context.onFaultError = { error, _ in
            if case .damagedValue(let damage) = error { properties.append(damage.property) }
        }
        let object = try #require(try context.fetch(FetchRequest<ManagedObject>(entity: "Thing")).first)
        for name in ["small", "link", "title", "small"] { _ = try object.value(forKey: name) }
        #expect(properties == ["small", "link"])
        object["title"] = "other"
        try context.save()
        #expect(
            try MagazineFile.shell(path, "SELECT small, link, title FROM thing")
                == ["70000|http://[|other"])
        container.close()
    }
}
