/// Something in a ``ModelRecord`` that this version of Strata does not know: a later version wrote it.
package struct UnknownDeclaration: Error, Sendable, Hashable {
    /// The entity that has it.
    package let entity: String
    /// The property that has it; nil if it belongs to the entity as a whole.
    package let property: String?
    /// What it is, in words: `the type vector`.
    package let declaration: String

    /// Names a declaration.
    package init(entity: String, property: String?, declaration: String) {
        self.entity = entity
        self.property = property
        self.declaration = declaration
    }

    /// What is wrong and what to do.
    package var message: String {
        "\(declaration) is not known; a newer version of Strata wrote it, so update this one"
    }
}
