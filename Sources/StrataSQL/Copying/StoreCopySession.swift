import Foundation
import StrataStore

/// Where the members of an ordered relationship are, by key of the member.
package struct CopiedPlaces {
    /// The relationship, by the entity that declares it.
    package let relationship: RelationshipKey
    package let places: [Int64: Int64]
}

/// A row of a table of pairs.
package struct CopiedPair: Hashable {
    package let owner: Int64
    package let member: Int64
    /// The place of the member among those of its owner, and of the owner among those of its member.
    package let ownerPlace: Int64?
    package let memberPlace: Int64?

    package init(owner: Int64, member: Int64, ownerPlace: Int64?, memberPlace: Int64?) {
        self.owner = owner
        self.member = member
        self.ownerPlace = ownerPlace
        self.memberPlace = memberPlace
    }
}

/// Reads a store in large parts, all of them at one moment.
package protocol StoreCopyReader {
    /// How many rows the table of a hierarchy has.
    func count(rootIndex: Int) throws(StoreError) -> Int
    /// Rows of a hierarchy after a key, in the order of their keys.
    func rows(rootIndex: Int, after key: Int64, limit: Int) throws(StoreError) -> RowBatch
    /// The places of some members of an ordered relationship with a to-one inverse.
    func places(
        _ relationship: RelationshipKey, members: ClosedRange<Int64>
    ) throws(StoreError) -> [(member: Int64, place: Int64)]
    /// Pairs after another one, in the order of owner and member.
    /// - Parameter relationship: The primary side.
    func pairs(
        _ relationship: RelationshipKey, after last: CopiedPair?, limit: Int
    ) throws(StoreError) -> [CopiedPair]
    /// The bytes of a value that is kept apart from its row; nil if there are none of the name.
    func external(named name: String) throws(StoreError) -> Data?
    /// The first key that no object of a hierarchy has or has had.
    func nextKey(rootIndex: Int) throws(StoreError) -> Int64
}

/// Writes an empty store in large parts, in one transaction.
package protocol StoreCopyWriter: StoreCopyReader {
    /// Writes new rows of a hierarchy. The order of the calls does not matter: references are checked at the end.
    /// - Parameters:
    ///   - rows: The rows; none of them has values that are kept apart.
    ///   - places: The places of these rows, and perhaps of others.
    /// - Returns: How many of the rows have dates that were rounded.
    func write(_ rows: [RowReference], _ places: [CopiedPlaces]) throws(StoreError) -> Int
    /// Writes pairs of a relationship.
    func write(_ pairs: [CopiedPair], of relationship: RelationshipKey) throws(StoreError)
    /// Sets the first key that new objects of a hierarchy may have.
    func setNextKey(_ key: Int64, rootIndex: Int) throws(StoreError)
    /// Gives the store another identifier.
    func setIdentifier(_ identifier: UUID) throws(StoreError)
}

/// A store whose whole content can be read and written in large parts.
package protocol CopyableStore: PersistentStore {
    /// Runs a closure that sees the store as it is at one moment.
    func readForCopy<T>(_ body: (any StoreCopyReader) throws(StoreError) -> T) throws(StoreError) -> T
    /// Runs a closure in a transaction that fills the store, and makes it permanent if the closure returns.
    /// - Throws: ``StoreError/constraint(entity:reason:)`` if the store is not empty, or if what was written breaks a
    ///   constraint. The store is as it was then.
    func writeCopy(_ body: (any StoreCopyWriter) throws(StoreError) -> Void) throws(StoreError)
}

extension StoreError {
    /// What it means that a copy finds objects in its target.
    package static func notEmpty(_ entity: String) -> StoreError {
        .constraint(
            entity: entity, reason: "a copy needs an empty store, and this one has objects; copy to a new store")
    }
}
