import Foundation

/// The position of an object in a live result: in the whole list, and in its section.
///
///     let results = try context.live(FetchRequest<City>(), sectionedBy: City.keys.country.name)
///     if let position = results.position(of: lima) {
///         print("row \(position.item) of section \(position.section), number \(position.index + 1) of \(results.count)")
///     }
///
/// ``FetchedResults/position(of:)`` returns it, and a ``ResultsDifference`` consists of such positions. Use ``section`` and
/// ``item`` for list views with sections, such as a table, and ``index`` for a plain list. A position holds for one
/// ``ResultsSnapshot``: after a change of the result, the object may be at another one.
public struct ResultsPosition: Sendable, Hashable {
    /// The position in the whole list, from 0.
    public let index: Int
    /// The number of the section, from 0; 0 if the result has no sections.
    public let section: Int
    /// The position in the section, from 0.
    public let item: Int
}

/// A section of a live result: neighboring objects with the same value of the section key.
///
///     let results = try context.live(FetchRequest<City>(), sectionedBy: City.keys.country.name)
///     for section in results.sections {
///         print(section.name, section.range.count)
///         for city in results[section] { print("   ", city.name) }
///     }
///
/// ``FetchedResults/sections`` and ``ResultsSnapshot/sections`` list them in the order of the result, whose first criterion is
/// the section key. There are no empty sections. Objects without a value form a section of their own, whose ``value`` is null
/// and whose ``name`` is empty. A result without a section key has one section of all objects, or none if it is empty.
public struct ResultsSection: Sendable, Hashable {
    /// The value that all objects of the section have; null if they have none, or if the result has no sections.
    public let value: Value
    /// The positions of the objects of the section in the whole list.
    public let range: Range<Int>

    /// The value as text, for a headline: empty for null.
    public var name: String {
        switch value {
        case .null: ""
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        case .double(let number): "\(number)"
        case .decimal(let number): "\(number)"
        default: "\(value)"
        }
    }
}

/// The content of a live result at one moment: IDs in their order, and sections.
///
///     let results = try context.live(FetchRequest<City>(sortedBy: [City.keys.name.ascending]))
///     let snapshot = results.snapshot
///     Task.detached { print(snapshot.count, snapshot.first?.uri.absoluteString ?? "empty") }
///
/// A snapshot is a value that never changes, so you can send it anywhere. Use it for list views that
/// take a state as a whole, such as a diffable data source, with ``ids`` and ``sections``. For the objects themselves, read the
/// ``FetchedResults`` where its context lives.
///
/// Taking a snapshot copies nothing: snapshots share what they have in common with the live result and with each other. ``ids``
/// makes an array of all IDs; use positions or ``sections`` if you need only a part.
public struct ResultsSnapshot: Sendable, RandomAccessCollection {
    let entries: OrderedEntries
    let window: Range<Int>
    let runs: SectionRuns
    let bindings: [EntityBinding]

    /// The position of the first object: 0.
    public var startIndex: Int { 0 }
    /// The number of objects.
    public var endIndex: Int { window.count }

    /// The ID of the object at a position. A position outside of the result is a programmer error.
    public subscript(position: Int) -> ObjectID { id(entries[window.lowerBound + position]) }

    /// The IDs one after the other.
    public func makeIterator() -> IndexingIterator<[ObjectID]> { ids.makeIterator() }

    /// All IDs in their order.
    public var ids: [ObjectID] { visible.map(id) }

    /// The sections in their order; one of all objects if the result has no sections, and none if it is empty.
    public var sections: [ResultsSection] {
        var start = 0
        return runs.runs.map { run in
            defer { start += run.count }
            return ResultsSection(value: run.value, range: start..<(start + run.count))
        }
    }

    /// The entries that are shown.
    var visible: [LiveEntry] { entries.slice(window) }

    func id(_ entry: LiveEntry) -> ObjectID {
        let binding = bindings[entry.identity.entityIndex]
        return ObjectID(entity: binding.entity, key: entry.key, storeIdentifier: binding.storeIdentifier)
    }
}
