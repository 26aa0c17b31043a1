#if Server
    import Strata

    /// Explains who may do what at a server, for the person who is about to start it.
    public struct AccessReport: Sendable, CustomStringConvertible {
        /// The report, in lines.
        public let description: String
        /// What strangers could do. ``HTTPService`` refuses to serve that beyond this machine.
        public let openings: [String]

        /// Looks at a configuration.
        /// - Parameter model: The model whose entities are schemas; nil if there is none.
        /// - Throws: ``ServerSetupError`` if the model and the configuration do not fit.
        public init(_ configuration: ServerConfiguration, model: ManagedObjectModel?) throws(ServerSetupError) {
            let options = configuration.options
            var lines = [
                "listens at \(configuration.host):\(configuration.port), \(configuration.tls == nil ? "plain HTTP" : "TLS")"
                    + (options.network.requiresTLS ? "; only requests over TLS are answered" : ""),
                options.isDevelopment
                    ? "development is on: requests of API version 0, or of none, have a database of their own and may make schemas"
                    : "development is off: only declared and deployed schemas are served",
            ]
            lines += options.dialects.flatMap { Self.lines(of: $0, options) }
            lines += [
                options.network.origins.isEmpty
                    ? "pages of other origins may not use the server"
                    : "pages of these origins may use the server: \(options.network.origins.joined(separator: ", "))",
                options.network.trustedProxies.isEmpty
                    ? "no proxy is trusted"
                    : "trusted proxies: \(options.network.trustedProxies.map(\.description).joined(separator: ", "))",
                "",
            ]
            let access = options.access
            for accounts in options.accountSchemas {
                lines += Self.lines(
                    "accounts in \(accounts.name)", access.schemas[accounts.name] ?? access.accounts)
            }
            var names = Set(access.schemas.keys)
            if let model { names.formUnion(try ModelSchemas(model, options: options).catalogue.schemas.map(\.name)) }
            for name in names.sorted() where options.accounts(name) == nil {
                lines += Self.lines("schema \(name)", access.schemas[name] ?? access.standard)
            }
            lines += Self.lines("all other schemas", access.standard)
            lines.append("custom code")
            let methods = Set(options.hooks.keys).union(access.methods.keys)
            for name in methods.sorted() {
                let place = options.hooks[name].map { " (answered by \($0.url.absoluteString))" } ?? ""
                lines.append("  \(name): \(access.level(method: name).explanation)\(place)")
            }
            lines.append("  all other methods: \(access.standardMethod.explanation)")
            lines.append("files of binary fields")
            lines.append("  read: everybody who knows the address")
            openings = ServerExposure(options).findings
            lines.append("")
            lines += openings.isEmpty ? ["Nothing is open to strangers."] : ["Open to strangers:"]
            lines += openings.map { "  - \($0)" }
            description = lines.joined(separator: "\n")
        }

        /// Where a dialect is spoken, and with which keys.
        private static func lines(of mount: DialectMount, _ options: ServerOptions) -> [String] {
            let hosts = mount.hosts.isEmpty ? "" : " of \(mount.hosts.joined(separator: ", "))"
            var lines = ["speaks \(mount.kind.rawValue) at \(mount.path)\(hosts)"]
            if let root = mount.kind.root {
                let path = (mount.segments + [root[...]]).joined(separator: "/")
                lines.append(
                    options.dialects.owner(ofRootOf: mount) == mount
                        ? "  answers at /\(root), too" : "  /\(root) is another dialect's; its own is /\(path)")
            }
            let signs = mount.kind.signsRequests
            let (key, master) =
                signs ? (options.publicKey, options.privateKey) : (mount.clientKey, mount.masterKey)
            lines.append(
                key == nil ? "  any application key is taken" : "  clients must name the key of the application")
            if let application = mount.applicationID {
                lines.append("  clients must name the application \(application)")
            }
            let name = signs ? "private key" : "master key"
            lines.append(
                master == nil
                    ? "  there is no \(name): what only its holder may, nobody may"
                        + (signs ? ", and push is refused" : "")
                    : "  requests \(signs ? "that are signed " : "")with the \(name) may do everything")
            if mount.kind.hasLiveQueries {
                let classes = mount.liveClasses?.sorted()
                lines.append(
                    classes == nil
                        ? "  live queries report the changes of all objects that a client may read"
                        : classes == []
                            ? "  there are no live queries"
                            : "  live queries report the changes of \(classes?.joined(separator: ", ") ?? "")")
            }
            if !signs, options.isDevelopment {
                lines.append("  the database is that of \(mount.usesProduction ? "production" : "development")")
            }
            return lines
        }

        private static func lines(_ title: String, _ rule: AccessRules.Rule) -> [String] {
            [title]
                + AccessRules.Operation.allCases.map { operation in
                    let level = rule.levels[operation] ?? .nobody
                    let isBefore = operation == .create && level != .anyone
                    let who =
                        isBefore && Self.dependsOnObject(level) ? "every account that is logged in" : level.explanation
                    return "  \(operation.rawValue): \(who)"
                }
        }

        private static func dependsOnObject(_ level: AccessRules.Level) -> Bool {
            switch level {
            case .owner, .relationship: true
            case .any(let levels): levels.contains(where: dependsOnObject)
            default: false
            }
        }
    }
#endif
