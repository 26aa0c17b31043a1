import StrataStore

extension FieldOperations {
    /// The elements that the operations add to an array, and those that they remove from it.
    var elements: (added: Set<Value>, removed: Set<Value>) {
        var (added, removed): (Set<Value>, Set<Value>) = ([], [])
        for step in steps {
            switch step {
            case .increment: break
            case .append(let elements), .appendUnique(let elements): added.formUnion(elements)
            case .remove(let elements): removed.formUnion(elements)
            }
        }
        return (added, removed)
    }

    /// Whether an array has elements that the operations add, and that it did not have before: they have been carried out, unless
    /// others have added the same.
    func areShown(in now: Value, since before: Value) -> Bool {
        guard case .list(let present) = now else { return false }
        var new = elements.added
        if case .list(let old) = before { new.subtract(old) }
        return !new.isDisjoint(with: present)
    }

    /// Whether a value shows that the operations have not been carried out: it is the one of before, or an array with none of the
    /// elements that they add, or, if they add none, with all that they remove. Others may have removed or added single ones since.
    func areMissing(in now: Value, since before: Value) -> Bool {
        if now == before { return true }
        guard case .list(let present) = now else { return false }
        let (added, removed) = elements
        if !added.isEmpty { return added.isDisjoint(with: present) }
        return !removed.isEmpty && removed.isSubset(of: present)
    }
}

/// What the server's state of an object tells about a write with operations whose answer was lost. A write is carried out as a
/// whole, so each value says something of all. Others may have changed single ones since.
struct OperationEvidence {
    /// Whether an array has something of what was added.
    private var isShown = false
    /// Whether there is a value as the operations make it.
    private var hasAfter = false
    /// Whether a value shows that its operations have not been carried out.
    private var isMissing = false

    /// Looks at a value.
    /// - Parameters:
    ///   - before: The value to which the operations were done.
    ///   - now: The server's.
    ///   - after: What they make of it; nil if that is not known.
    mutating func add(_ operations: FieldOperations, before: Value, now: Value, after: Value?) {
        if after == before { return }
        isShown = isShown || operations.areShown(in: now, since: before)
        hasAfter = hasAfter || now == after
        isMissing = isMissing || operations.areMissing(in: now, since: before)
    }

    /// Whether the write may have been carried out. If only some values show that it was not, others may have set those back.
    var mayBeCarriedOut: Bool { isShown || hasAfter || !isMissing }
}
