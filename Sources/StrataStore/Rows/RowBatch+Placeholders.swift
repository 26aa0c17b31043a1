extension RowBatch {
    /// The rows, with only the headers of those that a mirror has not been told as a whole: they have no version.
    package func withHeadersForPlaceholders() -> RowBatch {
        guard pointers.contains(where: { RowPointer($0).version == 0 }) else { return self }
        var builder = RowBatchBuilder()
        forEach { _, row in
            if row.version == 0 { builder.addHeader(entityIndex: row.entityIndex, key: row.key, version: 0) }
        }
        let headers = builder.finish()
        var list: [RowReference] = []
        var next = 0
        forEach { slab, row in
            if row.version == 0 {
                list.append(headers[next])
                next += 1
            } else {
                list.append(RowReference(slab: slab, row: row))
            }
        }
        return RowBatch(list)
    }
}
