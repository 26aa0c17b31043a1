/// The context that changes come from. A store that remembers what it has done of them asks whether it is the same one, and whether
/// it still has its changes: contexts keep their source as long as they do.
package final class ChangeSource: Sendable {
    package init() {}
}
