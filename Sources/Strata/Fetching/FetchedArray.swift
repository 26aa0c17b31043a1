import StrataStore

/// The result of ``ManagedObjectContext/fetchLazily(_:batchSize:)``: objects whose rows are read a page at a time, when
/// you access them.
///
///     let cities = try context.fetchLazily(FetchRequest<City>(sortedBy: [City.keys.name.ascending]), batchSize: 50)
///     print(cities.count)          // no row has been read
///     print(cities[10_000].name)   // reads 50
///
/// **It is a snapshot.** The fetch determines the objects and their places, which do not change later: a changed object
/// stays in its place, and new objects do not appear. Objects deleted since then stay in the array with
/// ``ManagedObject/isDeleted`` true; if others deleted one, that is known once its row has been looked for. The values
/// are those of the context's objects, always the newest that it has.
///
/// **It holds little.** The most recently used pages stay in memory. Objects of other pages are released, with their
/// rows, unless your code holds them. Each place returns the same object while it is in memory.
///
/// It keeps its context, and lives where the context lives. A store that fails while a page is read is reported as for
/// any other fault; see ``ManagedObjectContext/onFaultError``.
public struct FetchedArray<Object: ManagedObject>: RandomAccessCollection {
    /// How many objects a page has.
    public var batchSize: Int { pages.batchSize }

    private let pages: FetchedPages<Object>

    init(
        context: ManagedObjectContext, identities: [RowIdentity], batchSize: Int,
        prefetch: [[RelationshipDescription]]
    ) {
        pages = FetchedPages(context: context, identities: identities, batchSize: batchSize, prefetch: prefetch)
    }

    /// The first place: 0.
    public var startIndex: Int { 0 }
    /// The number of objects.
    public var endIndex: Int { pages.identities.count }

    /// The object at a place. Its row is read with those of its page when a property is.
    ///
    /// A position outside of the array is a programmer error.
    public subscript(index: Int) -> Object { pages[index] }

    /// The IDs of all objects. Reads nothing.
    public var objectIDs: [ObjectID] { pages.identities.map(pages.context.core.objectID) }
}

/// The pages of a ``FetchedArray`` that are in memory.
private final class FetchedPages<Object: ManagedObject> {
    let context: ManagedObjectContext
    let identities: [RowIdentity]
    let batchSize: Int
    private let prefetch: [[RelationshipDescription]]
    /// The most recently used pages, the latest at the end.
    private var pages: [(number: Int, objects: [Object])] = []

    /// How many pages are held: enough to go back and forth across a page boundary, or to compare two distant places.
    private static var limit: Int { 3 }

    init(
        context: ManagedObjectContext, identities: [RowIdentity], batchSize: Int,
        prefetch: [[RelationshipDescription]]
    ) {
        self.context = context
        self.identities = identities
        self.batchSize = batchSize
        self.prefetch = prefetch
    }

    subscript(index: Int) -> Object {
        precondition(identities.indices.contains(index), "\(index) is outside of 0..<\(identities.count)")
        let number = index / batchSize
        if let last = pages.last, last.number == number { return last.objects[index % batchSize] }
        let page: [Object]
        if let place = pages.firstIndex(where: { $0.number == number }) {
            page = pages.remove(at: place).objects
        } else {
            page = make(number)
            if pages.count == Self.limit { pages.removeFirst() }
        }
        pages.append((number, page))
        return page[index % batchSize]
    }

    private func make(_ number: Int) -> [Object] {
        let start = number * batchSize
        let objects = context.core.refresher.faults(identities[start..<Swift.min(start + batchSize, identities.count)])
        if let first = objects.first, !prefetch.isEmpty {
            do throws(PersistenceError) {
                try context.core.faults.fill(objects)
                for steps in prefetch { try context.core.prefetcher.prefetch(steps, of: objects, areAll: false) }
            } catch {
                context.core.report(error, first)
            }
        }
        return objects.map { object in
            guard let object = object as? Object else {
                fatalError("\(object.objectID) is not of class \(Object.self); the fetch left out all others")
            }
            return object
        }
    }
}
