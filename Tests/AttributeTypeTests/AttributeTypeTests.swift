import Foundation
import Strata
import Testing

/// `Int`, enumerations and `Codable` types as an application uses them.
@Suite struct AttributeTypeTests {
    let file: MagazineFile
    let context: ManagedObjectContext

    init() throws {
        file = try MagazineFile()
        context = file.container.newContext()
    }

    @discardableResult
    private func article(_ title: String, _ theme: String = "plain") -> Article {
        Article(context: context, title: title, layout: Layout(theme: theme))
    }

    /// The titles of the articles for which a condition holds, before a save and after it: in memory and in SQL.
    private func titles(_ condition: (ArticleKeys) -> FetchPredicate) throws -> [String] {
        let request = Article.where(condition).sorted(by: Article.keys.title.ascending)
        let unsaved = try context.fetch(request).map(\.title)
        try context.save()
        let saved = try file.container.newContext().fetch(request).map(\.title)
        #expect(unsaved == saved)
        return saved
    }

    @Test("Conditions compare enumerations with cases and look into JSON")
    func tenLines() throws {
        let article = article("Llamas", "dark")
        article.wordCount = 1200
        article.status = .live
        article.layout.margin = Margin(left: 2, right: 3)
        article.notes = Notes(text: "Check the names", rating: 4.5)
        self.article("Alpacas")
        #expect(try titles { $0.status == .live && $0.layout.theme == "dark" && $0.wordCount > 1000 } == ["Llamas"])
        #expect(
            try titles { $0.layout.margin.right == 3 && $0.notes.json("rating", as: Double.self) > 4 } == ["Llamas"])
    }

    @Test("A whole number of the type integer is an Int in Swift and has 64 bits in the store")
    func integers() throws {
        let article = article("Long")
        #expect(article.wordCount == 0 && article.page == nil)
        article.wordCount = Int.max
        article.page = Int.min
        #expect(try titles { $0.wordCount == Int.max && $0.page < 0 } == ["Long"])
        #expect(try titles { $0.wordCount.isIn([1, Int.max]) } == ["Long"])
        #expect(try titles { $0.page + 1 > 0 } == [])
        let read = try #require(try file.container.newContext().fetch(Article.where { $0.wordCount > 1 }).first)
        #expect(read.wordCount == Int.max && read.page == Int.min)
        #expect(try read.value(forKey: "wordCount") as? Int == Int.max)
        #expect(throws: PersistenceError.self) { try article.setValue("many", forKey: "wordCount") }
    }

    // MARK: Enumerations

    @Test("An enumeration is read and written by its cases, and the store keeps raw values")
    func cases() throws {
        let article = article("Goats")
        #expect(article.status == .draft && article.priority == nil && article.section == nil)
        article.status = .withdrawn
        article.priority = .high
        article.section = .sports
        article.mark = Article.Mark(kind: .culture, place: 3)
        try context.save()
        #expect(
            try file.shell("SELECT status, priority, section, mark_kind FROM article") == [
                "withdrawn|10|sport|culture"
            ])
        let reader = file.container.newContext()
        let read = try #require(try reader.fetch(Article.where { $0.priority == .high }).first)
        #expect(read.status == .withdrawn && read.section == .sports && read.mark?.kind == .culture)
        #expect(try read.value(forKey: "section", as: Section.self) == .sports)
        try read.setValue(Section.news, forKey: "section")
        #expect(read.section == .news)
    }

    @Test("Conditions on enumerations: equality, lists, nil, raw values, elements of composites, text formats")
    func enumerationConditions() throws {
        let first = article("A")
        first.section = .sports
        first.mark = Article.Mark(kind: .news, place: nil)
        article("B").priority = .low
        #expect(try titles { $0.section == .sports } == ["A"])
        #expect(try titles { $0.section != .sports } == ["B"])
        #expect(try titles { $0.section == nil } == ["B"])
        #expect(try titles { $0.section.isIn([.sports, .culture]) } == ["A"])
        #expect(try titles { $0.status == .draft && $0.mark.kind == .news } == ["A"])
        #expect(try titles { $0.section.rawValue.hasPrefix("sp") } == ["A"])
        #expect(try titles { $0.priority.rawValue < 0 } == ["B"])
        let format = try FetchPredicate(format: "section == %@ AND status == 'draft'", Section.sports)
        #expect(try titles { _ in format } == ["A"])
    }

    @Test("Foundation's predicates compare enumerations and look into JSON")
    func foundationPredicates() throws {
        let article = article("A", "dark")
        article.section = .sports
        article.layout.margin = Margin(left: 1, right: 2)
        article.notes = Notes(text: "x", rating: 3)
        self.article("B", "plain")
        let status = Status.draft
        let section: Section? = .sports
        for predicate in [
            #Predicate<Article> { $0.status == status && $0.section == section },
            #Predicate<Article> { $0.section?.rawValue == "sport" },
            #Predicate<Article> { $0.layout.theme == "dark" },
            #Predicate<Article> { $0.layout.margin?.right == 2 },
            #Predicate<Article> { ($0.notes?.rating ?? 0) > 2 },
        ] {
            let condition = try FetchPredicate(predicate)
            #expect(try titles { _ in condition } == ["A"])
        }
        #expect(throws: UnreadablePredicateError.self) {
            try FetchPredicate(#Predicate<Article> { $0.notes?.isUrgent == true })
        }
    }

    @Test("A raw value that no case has is damaged: it reads as nil or the zero value and is kept")
    func unknownRawValues() throws {
        article("A").section = .news
        try context.save()
        try file.shell("UPDATE article SET section = 'gossip', status = 'lost'")
        let context = file.container.newContext()
        let article = try #require(try context.fetch(FetchRequest<Article>()).first)
        #expect(article.section == nil || article.section == .news)
        #expect(article.status == .draft)
        article.title = "B"
        try context.save()
        #expect(try file.shell("SELECT section, status, title FROM article") == ["gossip|lost|B"])
        #expect(try context.fetch(Article.where { $0.section.rawValue == "gossip" }).count == 1)
    }

    @Test("A raw value that no case has is refused by a save")
    func savingUnknownRawValues() throws {
        let article = article("A")
        try article.setValue("lost", forKey: "status")
        #expect {
            try context.save()
        } throws: { error in
            guard case .validation(let error)? = error as? PersistenceError else { return false }
            return error.failures.map(\.rule) == [.enumeration] && error.failures.first?.property == "status"
        }
        article.status = .live
        try context.save()
    }

    // MARK: JSON

    @Test("A Codable value is kept as JSON text and read again")
    func codable() throws {
        let article = article("A", "dark")
        article.layout.tags = ["x", "y"]
        article.layout.scale = 1.5
        article.notes = Notes(text: "q\"uoted\n", authors: [.init(name: "Inca")], keywords: ["wool"])
        try context.save()
        #expect(
            try file.shell("SELECT layout FROM article") == [
                #"{"scale":1.5,"tags":["x","y"],"theme":"dark"}"#
            ])
        #expect(try file.shell("SELECT json_extract(notes, '$.authors[0].name') FROM article") == ["Inca"])
        let reader = file.container.newContext()
        let read = try #require(try reader.fetch(FetchRequest<Article>()).first)
        #expect(read.layout == Layout(theme: "dark", scale: 1.5, tags: ["x", "y"]))
        #expect(read.notes == article.notes)
        #expect(try read.value(forKey: "notes", as: Notes.self) == article.notes)
        #expect(
            try read.value(forKey: "layout") as? [String: Value] == [
                "scale": 1.5, "tags": ["x", "y"], "theme": "dark",
            ])
        try read.setValue(Layout(theme: "light"), forKey: "layout")
        try read.setValue(nil, forKey: "notes")
        #expect(read.layout.theme == "light" && read.notes == nil)
        #expect(throws: PersistenceError.self) {
            try read.setValue(Date(), forKey: "layout")
            try read.setValue(Value.date(Date()), forKey: "layout")
        }
    }

    @Test("Conditions on members: text, numbers, truth values, nil, arrays, enumerations, paths given by name")
    func memberConditions() throws {
        let first = article("A", "dark")
        first.layout.columns = 3
        first.layout.isWide = true
        first.layout.tags = ["urgent", "x"]
        first.notes = Notes(text: "Check", rating: 2, section: .sports, authors: [.init(name: "Inca")], keywords: ["a"])
        article("B", "Plain").layout.scale = 0.5
        #expect(try titles { $0.layout.theme.hasPrefix("DA", [.caseInsensitive]) } == ["A"])
        #expect(try titles { $0.layout.theme.isIn(["Plain", "x"]) } == ["B"])
        #expect(try titles { $0.layout.columns >= 3 } == ["A"])
        #expect(try titles { $0.layout.columns == nil } == ["B"])
        #expect(try titles { $0.layout.scale.isBetween(0.1...0.5) } == ["B"])
        #expect(try titles { $0.layout.isWide == true } == ["A"])
        #expect(try titles { $0.layout.isWide != true } == ["B"])
        #expect(try titles { $0.layout.tags.contains("urgent") } == ["A"])
        #expect(try titles { $0.layout.tags.contains("urg") } == [])
        #expect(try titles { $0.layout.tags.count == 2 } == ["A"])
        #expect(try titles { $0.layout.columns * 2 == 6 } == ["A"])
        #expect(try titles { $0.layout.margin == nil } == ["A", "B"])
        #expect(try titles { $0.notes == nil } == ["B"])
        #expect(try titles { $0.notes.json("section", as: Section.self) == .sports } == ["A"])
        #expect(try titles { $0.notes.jsonList("keywords", of: String.self).contains("a") } == ["A"])
        #expect(try titles { $0.notes.json("text", "length", as: Int.self) == 5 } == [])
        #expect(try titles { _ in try! FetchPredicate(format: "notes.authors[0].name == 'Inca'") } == ["A"])
        #expect(try titles { _ in try! FetchPredicate(format: "layout.theme > 3 OR layout.tags == 'x'") } == [])
    }

    @Test("Objects are ordered by members, those without before all, and members are fetched as values")
    func orderAndValues() throws {
        article("A", "b").layout.columns = 2
        article("B", "a").layout.columns = 10
        article("C", "c")
        for _ in 0..<2 {
            let sorted = try context.fetch(FetchRequest<Article>().sorted(by: Article.keys.layout.columns.ascending))
            #expect(sorted.map(\.title) == ["C", "A", "B"])
            let themes = try context.fetch(FetchRequest<Article>().sorted(by: Article.keys.layout.theme.descending))
                .map(\.title)
            #expect(themes == ["C", "A", "B"])
            try context.save()
        }
    }

    @Test("Conditions on the members of relationships look into their JSON")
    func relationships() throws {
        let issue = Issue(context: context, number: 7)
        let article = article("A", "dark")
        article.issue = issue
        self.article("B").issue = Issue(context: context, number: 8)
        try context.save()
        let dark = Issue.where { $0.articles.any { $0.layout.theme == "dark" && $0.status == .draft } }
        #expect(try file.container.newContext().fetch(dark).map(\.number) == [7])
        #expect(try titles { $0.issue.number == 7 } == ["A"])
        let any = FetchRequest<Issue>(where: try FetchPredicate(format: "ANY articles.layout.theme == 'dark'"))
        #expect(try context.fetch(any).map(\.number) == [7])
    }

    @Test("Text that is not JSON, or not of the type, reads as nil or the zero value and is kept")
    func damagedJSON() throws {
        article("A", "dark").notes = Notes(text: "x")
        try context.save()
        for text in ["{", "", "[1,2", "12", "{\"text\": 7}", "{\"theme\": \"dark\"} x"] {
            try file.shell("UPDATE article SET layout = '\(text)', notes = '\(text)'")
            let context = file.container.newContext()
            let article = try #require(try context.fetch(FetchRequest<Article>()).first)
            #expect(article.notes == nil && article.layout.theme == "")
            article.wordCount += 1
            try context.save()
            #expect(try file.shell("SELECT layout, notes FROM article") == ["\(text)|\(text)"])
            #expect(try context.fetch(Article.where { $0.layout.theme == "dark" }) == [])
        }
        try file.shell("UPDATE article SET layout = '{\"theme\":\"new\",\"more\":[1]}'")
        let article = try #require(
            try file.container.newContext().fetch(Article.where { $0.layout.theme == "new" }).first)
        #expect(article.layout == Layout(theme: "new"))
    }

    @Test("TERNARY of a member of JSON and a plain value compares like each of them")
    func choices() throws {
        let first = article("A", "dark")
        first.layout.columns = 3
        first.wordCount = 7
        article("B", "plain").wordCount = 12
        for (format, expected) in [
            ("TERNARY(wordCount > 10, layout.columns, wordCount) == 7", ["A"]),
            ("TERNARY(wordCount > 10, layout.theme, title) == 'plain'", ["B"]),
            ("TERNARY(wordCount > 10, layout.theme, title) IN {'A', 'plain'}", ["A", "B"]),
            ("TERNARY(wordCount > 10, layout.columns, nil) == nil", ["A", "B"]),
            ("TERNARY(wordCount < 10, layout.columns, wordCount) > 5", ["B"]),
            ("TERNARY(wordCount < 10, layout.columns, wordCount) == TERNARY(wordCount < 10, 3, layout.columns)", ["A"]),
            ("NOT (TERNARY(wordCount > 10, layout.theme, title) BEGINSWITH 'pl')", ["A"]),
            ("TERNARY(wordCount > 10, layout.theme, wordCount) != 7", ["B"]),
        ] as [(String, [String])] {
            let condition = try FetchPredicate(format: format)
            #expect(try titles { _ in condition } == expected, "\(format)")
        }
    }
}
