import Foundation
import SeededRandom
import Strata
import StrataStore
import Testing

/// Edits at random, by several contexts on one file. After each the live results are what a fetch finds, and the differences
/// that they told lead from the old list to the new one.
///
/// A second run also looks at all values after each edit, and compares what has changed with the properties that the
/// differences name. To look at them fills faults, so the first run does not.
///
/// `STRATA_LIVE_EDITS=1000000` runs so many; `STRATA_SEED` takes another seed.
@Suite struct LiveRandomTests {
    private static let environment = ProcessInfo.processInfo.environment

    /// The next ones are made in a new file, with the next seed.
    private static let editsOfAWorld = 1_000

    @Test(
        "After each of many random edits a live result is what a fetch finds, and its differences are exact",
        arguments: [false, true])
    func random(comparesValues: Bool) throws {
        let seed = RunSeed.value()
        let edits = Self.environment["STRATA_LIVE_EDITS"].flatMap(Int.init) ?? 300
        print("live results: STRATA_SEED=\(seed), \(edits) edits")
        var steps = 0
        // The two cases make different edits.
        let offset: UInt64 = comparesValues ? 1 : 0
        for start in stride(from: 0, to: edits, by: Self.editsOfAWorld) {
            let seed = seed &+ UInt64(2 * start / Self.editsOfAWorld)
            let world = try LiveWorld(seed: seed &+ offset, comparesValues: comparesValues)
            for edit in 0..<min(Self.editsOfAWorld, edits - start) {
                world.edit()
                try world.check("edit \(edit), STRATA_SEED=\(seed)")
            }
            steps += world.steps
        }
        print("live results: \(steps) steps of lists\(comparesValues ? ", with values" : "")")
        #expect(steps > edits / 10, "too few edits changed anything")
    }
}

private final class LiveWorld {
    private struct Watched {
        let name: String
        let context: ManagedObjectContext
        let results: FetchedResults<ManagedObject>
        let listener: Listener
    }

    private let file: LibraryFile
    private let context: ManagedObjectContext
    private let other: ManagedObjectContext
    private let child: ManagedObjectContext
    private var random: SplitMix64
    private var watched: [Watched] = []
    private var log: [String] = []
    private static let logged = ProcessInfo.processInfo.environment["STRATA_LIVE_LOG"].flatMap(Int.init) ?? 6
    private(set) var steps = 0
    /// What the contexts of lists showed at the last check; nil if values are not compared.
    private var shown: [ObjectIdentifier: ShownValues]?

    init(seed: UInt64, comparesValues: Bool) throws {
        random = SplitMix64(seed: seed)
        file = try LibraryFile()
        context = file.container.newContext(automaticallyMergesChanges: true)
        other = file.container.newContext(automaticallyMergesChanges: true)
        context.mergePolicy = .objectWinsByProperty
        other.mergePolicy = .objectWinsByProperty
        for index in 0..<8 {
            let author = Author(context, name: "n\(index % 4)")
            author.score = Int64(index)
            for number in 0..<4 {
                let book = Book(context, title: "t\(number)", author: author)
                book.pages = Int32(number * 25)
            }
        }
        for label in ["a", "b", "c"] { _ = Tag(context, label: label) }
        try context.save()
        child = context.makeChild()
        try watch()
        if comparesValues { shown = try showAll() }
    }

    private func showAll() throws -> [ObjectIdentifier: ShownValues] {
        [ObjectIdentifier(context): try ShownValues(context), ObjectIdentifier(child): try ShownValues(child)]
    }

    private func watch() throws {
        func add(
            _ name: String, _ request: FetchRequest<ManagedObject>, by section: String? = nil,
            in context: ManagedObjectContext
        ) throws {
            let key = section.map { ValueExpression<String?>(.keyPath($0.split(separator: ".").map(String.init))) }
            let results = try context.live(request, sectionedBy: key)
            let listener = Listener(results.snapshot.ids)
            results.delegate = listener
            watched.append(Watched(name: name, context: context, results: results, listener: listener))
        }
        func books(_ format: String?, _ sorts: String...) throws -> FetchRequest<ManagedObject> {
            FetchRequest(
                entity: "Book", where: try format.map { try FetchPredicate(format: $0) },
                sortedBy: try sorts.map { try FetchSort(format: $0) })
        }
        func authors(_ format: String?, _ sorts: String...) throws -> FetchRequest<ManagedObject> {
            FetchRequest(
                entity: "Author", where: try format.map { try FetchPredicate(format: $0) },
                sortedBy: try sorts.map { try FetchSort(format: $0) })
        }
        try add("pages", try books("pages > 40", "-pages", "title"), in: context)
        try add("by author", try books(nil, "author.name", "title"), by: "author.name", in: context)
        try add("by pages", try books("title != 't1'", "pages"), by: "pages", in: context)
        try add("any", try authors("ANY books.pages > 60", "name"), in: context)
        try add("all", try authors("ALL books.pages > 20", "name"), in: context)
        try add("count", try authors("books.@count >= 3", "-score"), in: context)
        try add("sum", try authors("books.@sum.pages > 100", "name[c]"), in: context)
        try add(
            "subquery",
            try authors("SUBQUERY(books, $b, $b.pages > 40 AND ANY $b.tags.label == 'a').@count > 0", "name"),
            in: context)
        try add("tags", try books("ANY tags.label == 'a'", "title"), in: context)
        try add(
            "mentor", try authors("mentor.name == 'n1' OR mentor.mentor.score > 3", "mentor.name", "name"), in: context)
        try add("author of book", try books("author.mentor.name == 'n2'", "title"), in: context)
        try add("no author", try books("author == nil OR fan != nil", "title"), in: context)
        try add("limit", try books(nil, "-pages", "title").limit(5), in: context)
        try add("window", try books("pages >= 25", "title").limit(7).offset(4), in: context)
        try add("offset", try books(nil, "pages").offset(10), in: context)
        try add("child", try books("pages > 20", "title"), in: child)
        try add("child by author", try books(nil, "author.name", "pages"), by: "author.name", in: child)
        try add("child any", try authors("ANY books.pages > 60", "name"), in: child)
    }

    // MARK: Edits

    func edit() {
        let which = random.below(10)
        let context = which < 5 ? context : which < 8 ? other : child
        let name = which < 5 ? "own" : which < 8 ? "other" : "child"
        do {
            try edit(context, name)
        } catch {
            // A rule of the model or a conflict: the edit is given up.
            log.append("\(name) failed: \(error)")
            context.rollback()
        }
    }

    private func edit(_ context: ManagedObjectContext, _ name: String) throws {
        let books = try context.fetch(FetchRequest<Book>(sortedBy: [FetchSort("title")]))
        let authors = try context.fetch(FetchRequest<Author>(sortedBy: [FetchSort("name")]))
        let tags = try context.fetch(FetchRequest<Tag>())
        let kind = random.below(20)
        log.append("\(name) \(kind)")
        switch kind {
        case 0, 1:
            guard books.count < 60 else { break }
            let book = Book(context, title: "t\(random.below(6))", author: pick(authors))
            book.pages = Int32(random.below(100))
        case 2:
            guard authors.count < 20 else { break }
            let author = Author(context, name: "n\(random.below(6))")
            author.mentor = pick(authors)
        case 3, 4: pick(books)?.pages = Int32(random.below(100))
        case 5: pick(books)?.title = "t\(random.below(6))"
        case 6: pick(authors)?.name = "n\(random.below(6))"
        case 7: pick(authors)?.score = Int64(random.below(10))
        case 8, 9: pick(books)?.author = random.oneIn(5) ? nil : pick(authors)
        case 10: pick(authors)?.mentor = pick(authors)
        case 11:
            if let book = pick(books), let tag = pick(tags) { book.tags.formSymmetricDifference([tag]) }
        case 12: pick(tags)?.label = ["a", "b", "c"][random.below(3)]
        case 13:
            if let book = pick(books), random.oneIn(2) || books.count > 40 { context.delete(book) }
        case 14:
            if let author = pick(authors), authors.count > 6, random.oneIn(3) { context.delete(author) }
        case 15:
            if let author = pick(authors), let book = pick(books) {
                author.favourites = random.oneIn(2) ? [] : [book]
            }
        case 16: if random.oneIn(4) { context.rollback() }
        case 17:
            if let book = pick(books), !book.isInserted {
                try context.refresh(book, mergingChanges: random.oneIn(2))
            }
        default: try context.save()
        }
        if name == "other", random.oneIn(2) { try context.save() }
    }

    /// One of some objects, named in the log.
    private func pick<Object: ManagedObject>(_ objects: [Object]) -> Object? {
        let object = random.pick(objects)
        log[log.count - 1] += object.map { " \($0.objectID)" } ?? " nothing"
        return object
    }

    // MARK: Checks

    func check(_ place: String) throws {
        context.processPendingChanges()
        child.processPendingChanges()
        // The child's boundary may have read what creates a boundary from its parent.
        context.processPendingChanges()
        let before = shown
        if before != nil { shown = try showAll() }
        for item in watched {
            let results = item.results
            let first = item.listener.idsAtLastTake
            let updates = item.listener.take()
            steps += updates.count
            var circumstances: String { "\(item.name), \(place); last edits: \(log.suffix(Self.logged))" }
            #expect(results.failure == nil, "\(circumstances)")
            let ids = results.snapshot.ids
            var request = results.request
            if let key = results.sectionKey, request.sorts.first?.expression != key {
                request.sorts.insert(FetchSort(key), at: 0)
            }
            let fresh = try item.context.fetchIDs(request)
            let odd = Set(ids).symmetricDifference(fresh).map { describe($0, item.context) }
            try #require(ids == fresh, "differs from a fetch: \(odd.sorted()) \(circumstances)")
            try #require(item.listener.ids == ids, "differences do not lead there: \(circumstances)")
            try #require(results.map(\.objectID) == ids, "objects differ from the snapshot: \(circumstances)")
            for update in updates { try checkShape(update, circumstances) }
            let owner = ObjectIdentifier(item.context)
            if let before = before?[owner], let now = shown?[owner] {
                try now.check(
                    updates, from: first, to: ids, since: before, circumstances)
            }
            if let key = results.sectionKey, case .keyPath(let path) = key.node {
                var expected: [Value] = []
                var counts: [Int] = []
                for object in results {
                    let value = value(of: object, path)
                    if let last = expected.last, ValueComparison.areEqual(last, value) {
                        counts[counts.count - 1] += 1
                    } else {
                        expected.append(value)
                        counts.append(1)
                    }
                }
                try #require(results.sections.map(\.range.count) == counts, "sections: \(circumstances)")
            }
        }
    }

    /// An object as a context shows it, and as the store has it.
    private func describe(_ id: ObjectID, _ context: ManagedObjectContext) -> String {
        func show(_ context: ManagedObjectContext) -> String {
            guard let object = try? context.existingObject(ManagedObject.self, with: id) else { return "none" }
            let values = object.committedValues().sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            var text = "\(values) + \(object.changedValues())\(object.isDeleted ? " deleted" : "")"
            if let author = object as? Author {
                text +=
                    " books \(author.books.map { "\($0.objectID) of \($0.pages) pages\($0.hasChanges ? "*" : "")" })"
            }
            if let book = object as? Book, let fan = book.fan {
                text += " fan \(fan.isDeleted) \(fan.isMissing) \(fan.favourites.contains(book))"
            }
            return text
        }
        return "\(id): \(show(context)); parent: \(context.parent.map(show) ?? "none"); stored: "
            + show(file.container.newContext())
    }

    private func value(of object: ManagedObject, _ path: [String]) -> Value {
        switch object {
        case let book as Book:
            path == ["pages"] ? .integer(Int64(book.pages)) : book.author.map { .string($0.name) } ?? .null
        default: .null
        }
    }

    /// A difference names each position once, and nothing twice.
    private func checkShape(_ update: ResultsUpdate, _ place: String) throws {
        let difference = update.difference
        #expect(!difference.isEmpty, "an empty step: \(place)")
        let from = difference.deletes.map(\.from.index) + difference.moves.map(\.from.index)
        let to = difference.inserts.map(\.to.index) + difference.moves.map(\.to.index)
        #expect(Set(from).count == from.count && Set(to).count == to.count, "a position twice: \(place)")
        let kept = Set(difference.moves.map(\.id) + difference.updates.map(\.id))
        #expect(kept.count == difference.moves.count + difference.updates.count, "an object twice: \(place)")
        let sections = update.previous.sections.count - difference.deletedSections.count
        #expect(sections + difference.insertedSections.count == update.snapshot.sections.count, "sections: \(place)")
    }
}
