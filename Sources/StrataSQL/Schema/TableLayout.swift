import StrataStore

/// A relationship by the entity that declares it and its position there.
package struct RelationshipKey: Hashable, Sendable {
    package let entityIndex: Int
    package let relationshipIndex: Int

    package init(entityIndex: Int, relationshipIndex: Int) {
        self.entityIndex = entityIndex
        self.relationshipIndex = relationshipIndex
    }
}

/// A column that keeps a slot.
package struct ColumnLayout: Sendable {
    /// The name as the file has it.
    package let name: String
    /// The name as it appears in SQL.
    package let quoted: String
    package let storage: SlotStorage
    /// The topmost entity of the hierarchy that a key leads to.
    package let destinationRoot: Int?
    /// Whether the column may hold the name of a file instead of bytes.
    package let allowsExternal: Bool
}

/// The table of a hierarchy of entities.
package struct TableLayout: Sendable {
    package let rootIndex: Int
    package let name: String
    package let quoted: String
    /// Whether `_entity` says which entity a row belongs to, otherwise all belong to ``onlyEntityIndex``.
    package let hasEntityColumn: Bool
    package let onlyEntityIndex: Int
    package var columns: [ColumnLayout] = []
    /// The columns that keep the places of the rows in ordered relationships.
    package var orderColumns: [String] = []
}

/// The table of a relationship that is kept as pairs.
package struct PairTable: Sendable {
    package let name: String
    package let quoted: String
    /// The column and the table of the primary side, and of the other.
    package let ownerColumn: String
    package let ownerTable: Int
    package let memberColumn: String
    package let memberTable: Int
    /// The column for the order of the members of an owner, and of the owners of a member.
    package let ownerOrder: String?
    package let memberOrder: String?
    /// Whether the relationship is its own inverse, so that each pair is in the table both ways round.
    package let isSymmetric: Bool
}

/// One side of a ``PairTable``.
package struct PairSide {
    package let table: PairTable
    package let isPrimary: Bool
    package var near: String { isPrimary ? table.ownerColumn : table.memberColumn }
    package var far: String { isPrimary ? table.memberColumn : table.ownerColumn }
    package var farTable: Int { isPrimary ? table.memberTable : table.ownerTable }
    package var order: String? { isPrimary ? table.ownerOrder : table.memberOrder }
}
