/// Lets the view context of a container process its changes as soon as the main actor is free.
///
/// It does not need the container: the context and its live results go on without it.
final class MainActorBoundary: Sendable {
    @MainActor private weak var context: ManagedObjectContext?

    @MainActor init(_ context: ManagedObjectContext) { self.context = context }

    func schedule() {
        Task { @MainActor in context?.processPendingChanges() }
    }
}
