#if Server
    import Foundation

    // The header `X-StackMob-Relations`.
    extension RelationTree {
        /// Reads `author=user&author.friends=user`.
        /// - Throws: ``ServerError`` 400 for what is not such a list, or is deeper than 3.
        init(header: String?) throws(ServerError) {
            self.init()
            guard let header else { return }
            guard let pairs = QueryParameters.read(header.trimmingCharacters(in: .whitespaces)) else {
                throw .badRequest("X-StackMob-Relations is not UTF-8.")
            }
            // Shorter paths first, so that a level comes before what follows it.
            let sorted = pairs.map {
                (path: $0.name.split(separator: ".", omittingEmptySubsequences: false), schema: $0.value)
            }
            .sorted { $0.path.count < $1.path.count }
            for (path, schema) in sorted {
                guard path.count <= 3 else { throw .badRequest("X-StackMob-Relations may be 3 levels deep.") }
                let name = schema.lowercased()
                guard ServerSchema.fault(ofName: name) == nil, !path.contains("") else {
                    throw .badRequest("X-StackMob-Relations takes field=schema pairs joined by &.")
                }
                guard insert(path[...], schema: name) else {
                    throw .badRequest(
                        "X-StackMob-Relations names \(path.joined(separator: ".")), but not the levels above.")
                }
            }
        }
    }
#endif
