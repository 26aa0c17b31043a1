/// What happened to an object since a moment.
package struct ObjectPast {
    /// What happened up to its first end.
    package let object: TransactionFold.Object
    /// Whether it has been deleted since, even if it came back.
    package let hasGone: Bool

    package init(object: TransactionFold.Object, hasGone: Bool) {
        self.object = object
        self.hasGone = hasGone
    }
}
