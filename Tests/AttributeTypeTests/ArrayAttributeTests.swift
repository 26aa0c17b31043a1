import Foundation
import Strata
import Testing

/// Attributes whose values are arrays.
@Suite struct ArrayAttributeTests {
    let file: MagazineFile
    let context: ManagedObjectContext

    init() throws {
        file = try MagazineFile()
        context = file.container.newContext()
    }

    @discardableResult
    private func photo(_ name: String, _ tags: [String] = []) -> Photo {
        let photo = Photo(context: context, name: name)
        photo.tags = tags
        return photo
    }

    private func names(_ condition: (PhotoKeys) -> FetchPredicate) throws -> [String] {
        try names(Photo.where(condition))
    }

    /// The names of the photos for which a condition holds, before a save and after it: in memory and in SQL.
    private func names(_ request: FetchRequest<Photo>) throws -> [String] {
        let request = request.sorted(by: Photo.keys.name.ascending)
        let unsaved = try context.fetch(request).map(\.name)
        try context.save()
        let saved = try file.container.newContext().fetch(request).map(\.name)
        #expect(unsaved == saved)
        return saved
    }

    @Test("An array attribute is a Swift array, which begins empty or as the model says, and is kept as JSON")
    func values() throws {
        let photo = photo("Llama")
        #expect(photo.tags == [] && photo.ratings == nil && photo.sizes == [640, 1280] && photo.marks == nil)
        photo.tags = ["wool", "a \"big\" one", "", "wool"]
        photo.ratings = [4.5, -0.25, 1e300]
        photo.marks = [true, false]
        photo.sizes.append(320)
        try context.save()
        #expect(
            try file.shell("SELECT tags, sizes, marks FROM photo") == [
                #"["wool","a \"big\" one","","wool"]|[640,1280,320]|[true,false]"#
            ])
        let read = try #require(try file.container.newContext().fetchFirst(FetchRequest<Photo>()))
        #expect(read.tags == ["wool", "a \"big\" one", "", "wool"] && read.ratings == [4.5, -0.25, 1e300])
        #expect(read.marks == [true, false] && read.sizes == [640, 1280, 320])
    }

    @Test("Conditions look at the elements of arrays, in memory and in SQL")
    func conditions() throws {
        photo("A", ["red", "green"]).ratings = [1, 4.5]
        photo("B", ["reddish"]).ratings = []
        photo("C").sizes = [1]
        #expect(try names { $0.tags.contains("red") } == ["A"])
        #expect(try names { !$0.tags.contains("red") } == ["B", "C"])
        #expect(try names { $0.tags.contains(anyOf: ["green", "reddish"]) } == ["A", "B"])
        #expect(try names { $0.tags.contains(allOf: ["green", "red"]) } == ["A"])
        #expect(try names { $0.tags.contains(allOf: []) } == ["A", "B", "C"])
        #expect(try names { $0.tags.contains(anyOf: []) } == [])
        #expect(try names { $0.tags.isEmpty } == ["C"])
        #expect(try names { $0.ratings.isEmpty } == ["B", "C"])
        #expect(try names { $0.ratings == nil } == ["C"])
        #expect(try names { $0.tags.count == 2 } == ["A"])
        #expect(try names { $0.sizes.contains(1) } == ["C"])
        #expect(try names { $0.ratings.contains(4.5) } == ["A"])
        func format(_ text: String, _ arguments: Value...) throws -> [String] {
            try names(FetchRequest(where: try FetchPredicate(format: text, arguments: arguments)))
        }
        #expect(try format("ANY tags BEGINSWITH 'red'") == ["A", "B"])
        #expect(try format("'red' IN tags") == ["A"])
        #expect(try format("tags CONTAINS %@", "red") == ["A"])
        #expect(try format("ANY ratings > 4") == ["A"])
        #expect(try format("tags[0] == 'red'") == ["A"])
        #expect(try format("tags.@count == 0") == ["C"])
        #expect(try names(FetchRequest(predicate: #Predicate<Photo> { $0.tags.contains("red") })) == ["A"])
    }

    @Test("Access by name, dictionaries and JSON take arrays, and refuse other elements")
    func interchange() throws {
        let photo = photo("A")
        try photo.setValue(["x", "y"], forKey: "tags")
        #expect(try photo.value(forKey: "tags") as? [String] == ["x", "y"])
        #expect(try photo.value(forKey: "sizes") as? [Int] == [640, 1280])
        #expect(throws: PersistenceError.self) { try photo.setValue([1], forKey: "tags") }
        #expect(throws: PersistenceError.self) { try photo.setValue("x", forKey: "tags") }
        #expect(throws: PersistenceError.self) { try photo.setValue([Value.null], forKey: "tags") }
        #expect(photo.tags == ["x", "y"])
        try context.save()
        let rows: [[String: Any?]] = [["name": "A", "tags": ["z"], "ratings": [1, 2.5]], ["name": "B", "tags": []]]
        let result = try context.upsert(rows, into: Photo.self, by: Photo.keys.name)
        #expect(result.updated == [photo] && photo.tags == ["z"] && photo.ratings == [1, 2.5])
        #expect(throws: (any Error).self) {
            try context.upsert([["name": "C", "tags": [7]]], into: Photo.self, by: Photo.keys.name)
        }
        let json = #"[{"name":"A","tags":["z","w"],"sizes":[1,2],"marks":[true]}]"#
        try context.upsert(json: Data(json.utf8), into: Photo.self, by: "name")
        #expect(photo.tags == ["z", "w"] && photo.sizes == [1, 2] && photo.marks == [true])
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(
            String(decoding: try encoder.encode(photo), as: UTF8.self)
                == #"{"marks":[true],"name":"A","ratings":[1,2.5],"sizes":[1,2],"tags":["z","w"]}"#)
    }

    @Test("A save refuses elements that JSON cannot hold, and arrays that are too long")
    func validation() throws {
        let photo = photo("A")
        photo.ratings = [1, .nan]
        #expect(photo.ratings?.last?.isNaN == true)
        #expect(throws: PersistenceError.self) { try context.save() }
        photo.ratings = [.infinity]
        #expect(photo.ratings == [.infinity])
        #expect(throws: PersistenceError.self) { try context.save() }
        photo.ratings = [1]
        photo.sizes = [1, 2, 3, 4, 5]
        do {
            try context.save()
            Testing.Issue.record("five elements were accepted")
        } catch {
            #expect("\(error)".contains("sizes") && "\(error)".contains("at most 4"))
        }
        photo.sizes = []
        try context.save()
        #expect(try file.shell("SELECT sizes, ratings FROM photo") == ["[]|[1.0]"])
    }

    @Test("What another program wrote that is not an array of the type reads as empty, is reported, and is kept")
    func damage() throws {
        for damage in [#"{"a":1}"#, "[1]", "[", #"["a",null]"#] {
            let file = try MagazineFile()
            let context = file.container.newContext()
            Photo(context: context, name: "A").tags = ["x"]
            try context.save()
            try file.shell("UPDATE photo SET tags = '\(damage)', ratings = '\(damage)x'")
            let reader = file.container.newContext()
            var reports: [String] = []
            reader.onFaultError = { error, _ in
                if case .damagedValue(let value) = error { reports.append(value.property) }
            }
            let read = try #require(try reader.fetchFirst(FetchRequest<Photo>()))
            #expect(read.tags == [] && read.ratings == nil && read.tags == [])
            #expect(reports == ["tags", "ratings"], "\(damage)")
            reader.mergePolicy = .overwrite
            read.marks = [true]
            try reader.save()
            #expect(try file.shell("SELECT tags FROM photo") == [damage])
        }
    }

    @Test("Operations take the generated keys of arrays and numbers, and refuse damaged values")
    func operations() throws {
        let photo = photo("A", ["x"])
        try context.save()
        try photo.addUnique(["x", "y"], to: \.tags)
        try photo.add([1.5], to: \.ratings)
        try photo.remove([640], from: \.sizes)
        try photo.add([true], to: \.marks)
        try context.save()
        #expect(
            try file.shell("SELECT tags, ratings, sizes, marks FROM photo")
                == [#"["x","y"]|[1.5]|[1280]|[true]"#])
        let article = Article(inserting: context)
        try article.increment(\.wordCount, by: 3)
        try article.increment(\.page)
        #expect(article.wordCount == 3 && article.page == 1)
        #expect(throws: PersistenceError.self) { try article.add(["a"], to: "status") }
        for damage in [#"{"a":1}"#, "[1]", "["] {
            let file = try MagazineFile()
            let writer = file.container.newContext()
            Photo(context: writer, name: "A").tags = ["x"]
            try writer.save()
            try file.shell("UPDATE photo SET tags = '\(damage)'")
            let reader = file.container.newContext()
            let read = try #require(try reader.fetchFirst(FetchRequest<Photo>()))
            #expect(throws: PersistenceError.self, "\(damage)") { try read.add(["z"], to: \.tags) }
            #expect(!reader.hasChanges)
        }
    }
}
