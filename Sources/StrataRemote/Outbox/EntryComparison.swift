import StrataSQLite

/// How the server's state of an object stands to a change that waits.
package struct EntryComparison {
    /// Where the server has changed the object since the change was made; for a new object where it has other values.
    package var conflicting = SlotSet()
    /// Where both sides agree.
    package var equal = SlotSet()
    /// Operations that may have been carried out by an attempt without an answer, and are not done again: the server's value
    /// is neither that of before nor the one that was sent.
    package var doubtful = SlotSet()
    /// The slots of the change; for a new object all that servers are told of.
    package var all: SlotSet
    /// The slots in which a new object has nothing here.
    package var lacking = SlotSet()

    /// Whether the server has what the change makes of the object. What a new object lacks the server may have filled in.
    var isCarriedOut: Bool {
        !all.isEmpty && doubtful.isEmpty && all.allSatisfy { equal.contains($0) || lacking.contains($0) }
    }
}
