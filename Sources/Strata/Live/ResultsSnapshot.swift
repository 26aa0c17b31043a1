import Foundation

/// Where an object is in a live result.
public struct ResultsPosition: Sendable, Hashable {
    /// The place in the whole list.
    public let index: Int
    /// The section; 0 if the result has no sections.
    public let section: Int
    /// The place in the section.
    public let item: Int
}

/// A section of a live result: neighbours with the same value of the section's key.
public struct ResultsSection: Sendable, Hashable {
    /// The value; null if the result has no sections, or the objects have no value.
    public let value: Value
    /// Where the objects of the section are in the whole list.
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

/// The content of a live result at one moment: IDs in their order, and sections. A value that never changes: send it
/// anywhere.
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
