import Foundation
import StrataSQLite
import StrataStore

extension MirrorWrite {
    /// The write with the results of its operations on what the server has; nil if it has anything else.
    fileprivate func recomputed(from record: RemoteRecord) -> MirrorWrite? {
        guard !self.write.values.isEmpty, relations.isEmpty else { return nil }
        var result = self
        for name in self.write.values.keys {
            guard let done = computed[name], let type = entity.attribute(named: name)?.type,
                case .value(let now)? = record.values[name], let after = done.operations.applied(to: now, of: type)
            else { return nil }
            result.write.values[name] = .value(after)
            result.computed[name] = ComputedValue(
                before: .value(now), after: .value(after), operations: done.operations, covered: done.covered)
        }
        result.write.baseVersion = record.version
        result.write.token = UUID()
        return result
    }
}

/// The value that operations are about, before and after them, as far as is known here.
struct ComputedValue: Sendable {
    let before: RemoteValue
    let after: RemoteValue
    /// What the write does.
    let operations: FieldOperations
    /// What has been done to the attribute once the write is carried out, by writes before it, too.
    let covered: FieldOperations

    /// The same, if the context has none of the operations to save.
    var uncovered: ComputedValue {
        ComputedValue(before: before, after: after, operations: operations, covered: FieldOperations())
    }
}

extension RemoteCapabilities {
    /// The kinds of operations that a save sends as such. A server that compares versions refuses a result that was made from
    /// another value, so it is sent operations only if it recognizes a repeated request.
    var computesOnline: Features {
        guard features.contains(.idempotencyTokens) || !features.contains(.conditionalWrites) else { return [] }
        return features.intersection([.increments, .arrayOperations, .idempotencyTokens])
    }
}

extension WriteReader {
    /// Notes the operations of an update, and sends them as such if the back end supports them.
    /// - Parameter base: The object as the mirror has it.
    func compute(_ operations: [Int: FieldOperations], _ base: RowReference?, in result: inout MirrorWrite) {
        for (index, done) in operations {
            let slot = result.entity.slots[index]
            guard let after = result.write.values[slot.name], let row = base?.row else { continue }
            result.computed[slot.name] = ComputedValue(
                before: .value(row.value(slot)), after: after, operations: done, covered: done)
        }
        tell(operations, in: &result)
    }
}

extension SaveSending {
    /// Whether the server may carry out an earlier write a second time if it is sent again.
    func mayRepeatOperations(of write: MirrorWrite) -> Bool {
        !write.write.operations.isEmpty && !store.backend.capabilities.features.contains(.idempotencyTokens)
    }

    /// The attributes whose operations the server lacks of an earlier write, as far as its state tells: all of them if it has not
    /// carried out the write. In doubt it lacks none, so that no operation is carried out twice.
    func missingOperations(of write: MirrorWrite, _ record: RemoteRecord) -> Set<String> {
        var evidence = OperationEvidence()
        var missing: Set<String> = []
        for (name, value) in write.computed where value.before != value.after {
            guard let told = record.values[name],
                case (.value(var now), .value(let before), .value(let after)) = (told, value.before, value.after)
            else { continue }
            if isEqual(told, value.before) { now = before }
            if isEqual(told, value.after) { now = after }
            evidence.add(value.operations, before: before, now: now, after: after)
            if value.operations.areMissing(in: now, since: before) { missing.insert(name) }
        }
        return evidence.mayBeCarriedOut ? missing : Set(write.computed.keys)
    }

    /// If others have changed the object, the result of operations is computed again from the server's state. The context would
    /// do all operations again, including those that an earlier write has carried out.
    /// - Returns: The last write that was sent, and its outcome.
    func recomputed(_ write: MirrorWrite, _ outcome: RemoteOutcome) async -> (MirrorWrite, RemoteOutcome) {
        var (write, outcome) = (write, outcome)
        for _ in 0..<5 {
            guard case .failed(let error) = outcome, error.kind == .conflict, write.kind == .update,
                repeated.earlier[rooted(write)] != nil
            else { break }
            var record = error.serverRecord
            if record == nil { record = try? await state(of: write) }
            guard let record, let next = write.recomputed(from: record) else { break }
            write = next
            let job = SaveJob(writes: [next], requests: operations(of: next).map { ($0, [0]) })
            guard let last = await job.run(store.backend, options.request).last else { break }
            outcome = last.outcome
        }
        return (write, outcome)
    }

    /// What is left of the operations of a write once the server has carried out those of an earlier one. One that has been undone
    /// meanwhile is taken back, unless the mirror shows its result by now: to undo it there means to keep that.
    /// - Parameter record: The server's state.
    func leaveOutOperations(of unknown: UnknownWrite, _ record: RemoteRecord?, in rest: inout MirrorWrite) {
        let earlier = unknown.write
        let sent = rest.write.operations
        let undone = unknown.isCarriedOut ? [] : Set(earlier.computed.keys)
        for name in undone.union(rest.computed.keys) {
            let done = earlier.computed[name]
            let own = rest.computed.removeValue(forKey: name)
            // An assigned value replaces the operations.
            if own == nil, rest.write.values[name] != nil || done?.covered.isEmpty == true { continue }
            rest.write.operations[name] = nil
            rest.write.values[name] = nil
            let all = own?.operations ?? FieldOperations()
            guard let left = all.rest(after: done?.covered ?? FieldOperations()) else {
                rest.write.values[name] = own?.after
                continue
            }
            // Their result is made of what the server has.
            let now = record?.values[name]
            var after = own?.after ?? .value(.null)
            if let type = rest.entity.attribute(named: name)?.type, case .value(let now)? = now {
                after = left.applied(to: now, of: type).map(RemoteValue.value) ?? after
            }
            rest.computed[name] = ComputedValue(
                before: now ?? done?.after ?? own?.before ?? after, after: after, operations: left, covered: all)
            if left.isEmpty { continue }
            let isSent = sent[name] != nil || own == nil && earlier.write.operations[name] != nil
            if isSent, left.steps.count == 1 {
                rest.write.operations[name] = left.steps[0]
            } else {
                rest.write.values[name] = after
            }
        }
    }
}

extension FieldOperations {
    /// What is left of the operations once earlier ones have been carried out. Those of the earlier ones that they do not contain
    /// have been undone, and are taken back as far as possible.
    /// - Returns: nil if numbers overflow.
    func rest(after earlier: FieldOperations) -> FieldOperations? {
        var added: [Value] = []
        var (removed, gone): (Set<Value>, Set<Value>) = ([], [])
        var inverse: FieldOperation?
        for step in earlier.steps {
            switch step {
            case .increment:
                guard let back = step.inverse, inverse == nil else { return nil }
                inverse = back
            case .append(let elements), .appendUnique(let elements): added += elements
            case .remove(let elements): removed.formUnion(elements)
            }
        }
        var rest = FieldOperations(inverse.map { [$0] } ?? [])
        for step in steps {
            switch step {
            case .increment: rest.append(step)
            case .append(let elements): rest.append(.append(Self.without(&added, elements)))
            case .appendUnique(let elements): rest.append(.appendUnique(Self.without(&added, elements)))
            case .remove(let elements):
                gone.formUnion(elements)
                rest.append(.remove(elements.filter { !removed.contains($0) || added.contains($0) }))
            }
        }
        rest.append(.remove(added.filter { !gone.contains($0) }))
        return rest
    }

    /// The elements without those that were added before, each once.
    private static func without(_ added: inout [Value], _ elements: [Value]) -> [Value] {
        elements.filter { element in
            guard let index = added.firstIndex(of: element) else { return true }
            added.remove(at: index)
            return false
        }
    }
}

extension FieldOperation {
    /// The operation that takes this one back; nil where there is none.
    var inverse: FieldOperation? {
        guard case .increment(let amount) = self else { return nil }
        return amount.negated.map(FieldOperation.increment)
    }
}

extension Value {
    /// The number with the other sign; nil for what is not a number, or has none.
    fileprivate var negated: Value? {
        switch self {
        case .integer(let number): number == .min ? nil : .integer(-number)
        case .double(let number): .double(-number)
        case .decimal(let number): .decimal(-number)
        default: nil
        }
    }
}
