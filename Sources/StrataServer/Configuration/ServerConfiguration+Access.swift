#if Server
    extension ServerConfiguration {
        /// Reads `access`. A file that has it starts from rules that allow nothing: what it does not name is closed.
        mutating func readAccess(_ node: ConfigurationNode) throws(ServerSetupError) {
            var rules = AccessRules.closed
            let members = Dictionary(try node.members()) { first, _ in first }
            for (name, node) in members where !["standard", "accounts", "schemas", "methods"].contains(name) {
                throw node.unknown()
            }
            // What schemas take over from the general rules is the same wherever these are in the file.
            if let node = members["standard"] { rules.standard = try Self.rule(node, over: rules.standard) }
            if let node = members["accounts"] { rules.accounts = try Self.rule(node, over: rules.accounts) }
            for (schema, node) in try members["schemas"]?.members() ?? [] {
                let name = schema.lowercased()
                if let fault = ServerSchema.fault(ofName: name) { throw node.error(fault) }
                guard rules.schemas[name] == nil else { throw node.error("is there twice") }
                let base = options.accounts(name) == nil ? rules.standard : rules.accounts
                rules.schemas[name] = try Self.rule(node, over: base)
            }
            for (method, node) in try members["methods"]?.members() ?? [] {
                if method == "standard" {
                    rules.standardMethod = try Self.level(node)
                } else {
                    rules.methods[method] = try Self.level(node)
                }
            }
            options.access = rules
        }

        /// What a rule does not name is as in the general one.
        private static func rule(
            _ node: ConfigurationNode, over base: AccessRules.Rule
        ) throws(ServerSetupError) -> AccessRules.Rule {
            var rule = base
            for (name, node) in try node.members() {
                guard let operation = AccessRules.Operation(rawValue: name) else { throw node.unknown() }
                rule.levels[operation] = try level(node)
            }
            return rule
        }

        private static func level(_ node: ConfigurationNode) throws(ServerSetupError) -> AccessRules.Level {
            var levels: [AccessRules.Level] = []
            for element in node.elements() {
                guard let level = AccessRules.Level(try element.text()) else {
                    throw element.error("takes \(AccessRules.Level.spellings)")
                }
                levels.append(level)
            }
            guard let first = levels.first else { throw node.error("takes \(AccessRules.Level.spellings)") }
            return levels.count == 1 ? first : .any(levels)
        }
    }
#endif
