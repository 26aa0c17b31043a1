import StrataSQLite
import StrataStore

/// Deletions that got no answer.
extension SaveSending {
    /// Asks the server what became of a deletion that the context has taken back since: it is not sent again. If it arrives late, it
    /// is in conflict with what the save makes of the object.
    mutating func settleDeletion(_ earlier: UnknownWrite, takenBackBy write: MirrorWrite) async {
        do throws(RemoteError) {
            let isGone = try await isCarriedOut(deletion: earlier.write)
            guard isGone, write.kind == .update else { return repeated.unknown.remove(rooted(write)) }
            noteDeleted(write)
            fail(write, RemoteError(.gone, domain: "Strata", message: "an earlier save has deleted the object"))
        } catch {
            fail(write, error)
        }
    }

    /// Whether the server has carried out a deletion that got no answer. It is not sent again: its context may have taken it back
    /// since.
    func isCarriedOut(deletion: MirrorWrite) async throws(RemoteError) -> Bool {
        if try await state(of: deletion) != nil { return false }
        if try await isGone(deletion.write.id, deletion.entity) { return true }
        throw RemoteError(.notFound, domain: "Strata", message: "the object cannot be found")
    }
}
