import Foundation
import SeededRandom
import Strata
import Testing

/// Random edits with history on. From every fifth token, what history says must lead from the state at that token to the last one.
///
/// `STRATA_RUNS=1000` tries so many seeds, from `STRATA_SEED` on.
@Suite(.recordsHistory) struct HistoryRandomTests {
    /// By object what it keeps: attributes, to-one relationships, members by pairs, ordered members.
    private typealias State = [ObjectID: [String: String]]

    @Test("History replayed from any token leads to what the store has", arguments: RunSeed.seeds(4))
    func replay(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let file = try HistoryFile()
        let second = try file.open()
        defer { second.close() }
        var states: [(token: HistoryToken, state: State)] = [
            (try file.container.currentHistoryToken(), [:])
        ]
        for _ in 0..<40 {
            let container = random.oneIn(3) ? second : file.container
            if random.oneIn(4) { try bulk(container, &random) } else { try edit(container, &random) }
            states.append((try file.container.currentHistoryToken(), try state(file.container)))
        }
        let last = try #require(states.last).state
        for (index, (token, before)) in states.enumerated() where index.isMultiple(of: 5) {
            var replayed = before
            for change in try file.container.history(after: token).flatMap(\.changes) {
                let id = try #require(change.objectID)
                switch change.kind {
                case .inserted:
                    #expect(replayed[id] == nil, "seed \(seed), step \(index): \(id) inserted twice")
                    replayed[id] = last[id] ?? [:]
                case .deleted:
                    #expect(replayed[id] != nil, "seed \(seed), step \(index): \(id) deleted twice")
                    replayed[id] = nil
                case .updated:
                    #expect(replayed[id] != nil, "seed \(seed), step \(index): \(id) updated, and not there")
                    for name in change.properties { replayed[id]?[name] = last[id]?[name] }
                }
            }
            #expect(replayed == last, "seed \(seed), from step \(index)")
        }
        for (before, after) in zip(states, states.dropFirst()) {
            guard before.token != after.token else {
                #expect(before.state == after.state, "seed \(seed): a change without a transaction")
                continue
            }
            try compare(before.state, after.state, try file.container.history(after: before.token, limit: 1), seed)
        }
    }

    /// One transaction says what is different, and nothing else; orders may be written without being different.
    private func compare(_ before: State, _ after: State, _ told: [HistoryTransaction], _ seed: UInt64) throws {
        let changes = told.flatMap(\.changes)
        var expected: [ObjectID: Set<String>] = [:]
        for (id, values) in after {
            guard let old = before[id], old != values else { continue }
            expected[id] = Set(values.keys.filter { values[$0] != old[$0] })
        }
        var found: [ObjectID: Set<String>] = [:]
        for change in changes where change.kind == .updated {
            let id = try #require(change.objectID)
            found[id] = Set(change.properties)
        }
        for (id, properties) in found {
            let real = expected[id] ?? []
            #expect(properties.subtracting(real).isSubset(of: ["favourites"]), "seed \(seed): \(id)")
            #expect(real.isSubset(of: properties), "seed \(seed): \(id)")
        }
        #expect(Set(expected.keys).isSubset(of: Set(found.keys)), "seed \(seed)")
        let inserted = Set(changes.filter { $0.kind == .inserted }.compactMap(\.objectID))
        let deleted = Set(changes.filter { $0.kind == .deleted }.compactMap(\.objectID))
        #expect(inserted == Set(after.keys).subtracting(before.keys), "seed \(seed)")
        #expect(deleted == Set(before.keys).subtracting(after.keys), "seed \(seed)")
    }

    // MARK: Edits

    private func edit(_ container: PersistentContainer, _ random: inout SplitMix64) throws {
        let context = container.newContext()
        context.mergePolicy = .objectWinsByProperty
        for _ in 0..<(1 + random.below(6)) {
            let authors = try context.fetch(FetchRequest<Author>(sortedBy: [FetchSort("name")]))
            let books = try context.fetch(FetchRequest<Book>(sortedBy: [FetchSort("title")]))
            let tags = try context.fetch(FetchRequest<Tag>(sortedBy: [FetchSort("label")]))
            let name = "\(random.next() % 1_000_000)"
            switch random.below(12) {
            case 0: _ = Author(context, name: name)
            case 1, 2: _ = Book(context, title: name, author: random.pick(authors))
            case 3: _ = Tag(context, label: name)
            case 4: random.pick(books)?.pages = Int32(random.below(5))
            case 5: random.pick(authors)?.score = Int64(random.below(3))
            case 6: random.pick(books)?.author = random.pick(authors)
            case 7: random.pick(authors)?.mentor = random.pick(authors)
            case 8:
                guard let book = random.pick(books), let tag = random.pick(tags) else { continue }
                if book.tags.contains(tag) { book.tags.remove(tag) } else { book.tags.insert(tag) }
            case 9:
                guard let author = random.pick(authors) else { continue }
                author.favourites = Array(books.shuffled(using: &random).prefix(random.below(4)))
            case 10: if let author = random.pick(authors) { context.delete(author) }
            default: if let book = random.pick(books) { context.delete(book) }
            }
        }
        try context.save()
    }

    private func bulk(_ container: PersistentContainer, _ random: inout SplitMix64) throws {
        let context = container.newContext()
        let pages = Int32(random.below(5))
        switch random.below(3) {
        case 0:
            let request = FetchRequest<Book>(where: try FetchPredicate(format: "pages < %d", Int(pages)))
            try context.update(request) { $0.pages += 1 }
        case 1:
            try context.insertAll(Tag.self, from: 0..<3) { tag, number in tag.label = .value("bulk \(number)") }
        default:
            try context.deleteAll(FetchRequest<Book>(where: try FetchPredicate(format: "pages == %d", Int(pages))))
        }
    }

    // MARK: The state

    private func state(_ container: PersistentContainer) throws -> State {
        let context = container.newContext()
        func name(_ object: ManagedObject?) -> String { object?.objectID.description ?? "-" }
        var result: State = [:]
        for author in try context.fetch(FetchRequest<Author>()) {
            result[author.objectID] = [
                "name": author.name, "score": "\(author.score)", "mentor": name(author.mentor),
                "favourites": author.favourites.map(name).joined(separator: " "),
            ]
        }
        for book in try context.fetch(FetchRequest<Book>()) {
            result[book.objectID] = [
                "title": book.title, "pages": "\(book.pages)", "author": name(book.author), "fan": name(book.fan),
                "tags": book.tags.map(name).sorted().joined(separator: " "),
            ]
        }
        for tag in try context.fetch(FetchRequest<Tag>()) {
            result[tag.objectID] = [
                "label": tag.label, "books": tag.books.map(name).sorted().joined(separator: " "),
            ]
        }
        return result
    }
}
