#if Server
    import Strata

    /// The objects that a transaction has made or deleted before it is committed, by what names them.
    ///
    /// The store does not know them yet, and asking a context means comparing each of its unsaved objects with the
    /// condition: an array of thousands of new objects, each of which must not be there already, would take the square
    /// of their number. Parts of a transaction have a layer of their own, which is dropped when they fail.
    final class PendingKeys {
        private let below: PendingKeys?
        /// nil for what was deleted.
        private var entries: [Name: ObjectID?] = [:]

        /// Texts as the store compares them: byte by byte, where strings that look alike are equal to Swift.
        struct Name: Hashable {
            private let bytes: [UInt8]

            init(_ texts: [String]) {
                // No UTF-8 holds the byte between them.
                bytes = texts.flatMap { Array($0.utf8) + [0xFF] }
            }
        }

        init(below: PendingKeys? = nil) { self.below = below }

        /// What is pending under a name: nil for nothing, an inner nil for something deleted.
        subscript(name: Name) -> ObjectID?? { entries[name] ?? below?[name] }

        func insert(_ id: ObjectID, _ name: Name) { entries[name] = .some(id) }
        func delete(_ name: Name) { entries[name] = .some(nil) }

        /// Hands the layer to the one below: the part has succeeded.
        func settle() {
            for (name, id) in entries { below?.entries[name] = .some(id) }
        }
    }
#endif
