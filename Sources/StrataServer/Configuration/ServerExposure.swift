#if Server
    /// What strangers could do with a server that everybody reaches.
    struct ServerExposure {
        /// Each in a sentence.
        let findings: [String]

        init(_ options: ServerOptions) {
            var findings: [String] = []
            if options.isDevelopment {
                findings.append("Development is on: any client that reaches the server may create schemas and fields.")
            }
            for operation in AccessRules.Operation.allCases where operation != .read {
                if options.access.standard.levels[operation]?.isOpen == true {
                    findings.append(
                        "Anyone may \(operation.rawValue) objects of schemas that have no rule of their own.")
                }
            }
            let schemas = options.accountSchemas.map {
                ($0.name, options.access.schemas[$0.name] ?? options.access.accounts)
            }
            for (name, rule) in schemas {
                for operation in [AccessRules.Operation.read, .update, .delete]
                where rule.levels[operation]?.isOpen == true {
                    findings.append(
                        "Anyone may \(operation.rawValue) the accounts of \(name), addresses for mail included.")
                }
            }
            self.findings = findings
        }

        /// Refuses to serve what is open beyond this machine.
        static func check(_ options: ServerOptions, host: String) throws(ServerSetupError) {
            guard !ClientNetwork.isLoopback(host), !options.network.isDeliberatelyOpen else { return }
            let findings = ServerExposure(options).findings
            guard !findings.isEmpty else { return }
            throw ServerSetupError(
                """
                The server is not started at \(host), because it is open:
                \(findings.map { "  - " + $0 }.joined(separator: "\n"))
                Write rules under `access:` in a configuration file and switch development off, or say --open.
                """)
        }
    }
#endif
