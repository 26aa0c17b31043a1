/// A part of a ``ContextCore`` that works with the other parts. The core owns its parts and outlives every call of them.
class ContextPart {
    @exclusivity(unchecked) private unowned(unsafe) var owner: ContextCore?

    /// Called once by the core that creates the part.
    final func attach(to core: ContextCore) { owner = core }

    @inline(__always)
    final var core: ContextCore {
        guard let owner else {
            fatalError("\(type(of: self)) was used before a core attached it; create contexts only")
        }
        return owner
    }
}
