import Foundation
import StrataStore

/// What a server sets by itself in an object: other values of that do not say that others have changed anything.
///
/// Its version and its time of change may be properties of the object, too. Of an object that was made here and never told, the
/// server may have filled in what it lacked.
struct ServerProperties {
    private typealias Marks = (version: String?, modified: Date?)

    private let old: Marks
    private let new: Marks

    /// - Parameters:
    ///   - known: What is known of the object here.
    ///   - record: The object as the server has it.
    init(_ known: KnownObject?, _ record: RemoteRecord) {
        old = (known?.version, known?.modified)
        new = (record.version, record.modified)
    }

    /// Whether a slot has the same value on both sides, as far as others can change it.
    func isSame(_ there: RowPointer, _ here: RowPointer, _ slot: SlotDescription) -> Bool {
        if there.hasSameValue(as: here, slot: slot.index, storage: slot.storage) { return true }
        if !here.isPresent(slot.index) { return isUntold }
        return isMark(here.value(slot), old) && isMark(there.value(slot), new)
    }

    private var isUntold: Bool {
        old.version == nil && old.modified == nil && (new.version != nil || new.modified != nil)
    }

    private func isMark(_ value: Value, _ marks: Marks) -> Bool {
        switch value {
        case .date(let date): marks.modified.map { abs(date.timeIntervalSince($0)) < 0.001 } ?? false
        case .string(let text): text == marks.version
        case .integer(let number): String(number) == marks.version
        default: false
        }
    }
}
