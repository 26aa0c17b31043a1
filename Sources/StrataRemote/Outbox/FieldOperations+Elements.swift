import StrataStore

// What an array shows about the operations on it.
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
