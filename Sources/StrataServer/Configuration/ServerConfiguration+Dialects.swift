#if Server
    extension ServerConfiguration {
        /// Reads `dialects`: a list of places with the dialect that is spoken there.
        mutating func readDialects(_ node: ConfigurationNode) throws(ServerSetupError) {
            options.dialects = []
            for element in node.elements() {
                var mount = DialectMount.standard
                var isNamed = false
                var liveQueries: ConfigurationNode?
                for (name, node) in try element.members() {
                    switch name {
                    case "dialect":
                        let kind = try node.choice(DialectMount.Kind.allCases.map(\.rawValue))
                        mount.kind = DialectMount.Kind(rawValue: kind) ?? mount.kind
                        isNamed = true
                    case "path":
                        mount.path = try node.text()
                        guard mount.path.hasPrefix("/"), !mount.path.contains(where: { " ?#%".contains($0) }) else {
                            throw node.error("takes a path such as /v2")
                        }
                    case "hosts":
                        mount.hosts = try node.elements().map { (node) throws(ServerSetupError) in try node.text() }
                    case "application": mount.applicationID = try node.text()
                    case "key": mount.clientKey = try node.text()
                    case "masterKey": mount.masterKey = try node.text()
                    case "database":
                        mount.usesProduction = try node.choice(["production", "development"]) == "production"
                    case "liveQueries":
                        liveQueries = node
                        mount.liveClasses = try Self.liveClasses(node)
                    default: throw node.unknown()
                    }
                }
                if let liveQueries, !mount.kind.hasLiveQueries {
                    let kinds = DialectMount.Kind.allCases.filter(\.hasLiveQueries).map(\.rawValue)
                    throw liveQueries.error("is there; only \(kinds.joined(separator: ", ")) has live queries")
                }
                guard isNamed else {
                    throw element.error(
                        "lacks dialect: \(DialectMount.Kind.allCases.map(\.rawValue).joined(separator: ", "))")
                }
                guard !mount.kind.signsRequests || (mount.clientKey == nil && mount.masterKey == nil) else {
                    throw element.error("has keys; those of \(mount.kind.rawValue) are keys.public and keys.private")
                }
                options.dialects.append(mount)
            }
            do throws(ServerSetupError) {
                try DataServer.check(options.dialects)
            } catch {
                throw node.error("cannot be: \(error.description)")
            }
        }

        /// `all`, `none`, or a list of classes.
        private static func liveClasses(_ node: ConfigurationNode) throws(ServerSetupError) -> Set<String>? {
            if node.node.sequence == nil {
                switch try node.text() {
                case "all": return nil
                case "none": return []
                default: throw node.error("takes all, none, or a list of classes")
                }
            }
            var classes: Set<String> = []
            for element in node.elements() { classes.insert(try element.text()) }
            return classes
        }
    }
#endif
