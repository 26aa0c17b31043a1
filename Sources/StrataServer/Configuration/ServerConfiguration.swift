#if Server
    import Foundation
    import Yams

    /// All that a server program is told: where to listen, where its data is, how it behaves. Documentation/Server.md
    /// shows the YAML form.
    public struct ServerConfiguration: Sendable {
        /// The address to listen at.
        public var host = "127.0.0.1"
        /// The port to listen at; 0 takes a free one.
        public var port = 8080
        /// The folder of the data.
        public var data = "strata-data"
        /// The path of the model file; nil for none.
        public var model: String?
        /// Whether the file says if development is on.
        public var namesDevelopment = false
        /// The certificate; nil for plain HTTP.
        public var tls: HTTPService.TLSFiles?
        /// How the server behaves.
        public var options = ServerOptions()

        /// The defaults.
        public init() {}

        /// Reads a configuration from YAML.
        /// - Parameters:
        ///   - yaml: The text.
        ///   - path: The path for messages.
        /// - Throws: ``ServerSetupError`` with line and column of what is not understood.
        public init(yaml: String, path: String) throws(ServerSetupError) {
            let node: Node?
            do {
                node = try Yams.compose(yaml: yaml)
            } catch {
                throw ServerSetupError("\(path): \(error)")
            }
            guard let node else { return }
            try read(ConfigurationNode(node: node, path: path, name: ""))
        }

        private mutating func read(_ root: ConfigurationNode) throws(ServerSetupError) {
            // The rules ask which schemas are accounts.
            let members = try root.members()
            for (name, node) in members where name != "access" { try read(name, node) }
            for (name, node) in members where name == "access" { try readAccess(node) }
        }

        private mutating func read(_ name: String, _ node: ConfigurationNode) throws(ServerSetupError) {
            switch name {
            case "listen":
                for (name, node) in try node.members() {
                    switch name {
                    case "host": host = try node.text()
                    case "port": port = try node.whole(0...65_535)
                    default: throw node.unknown()
                    }
                }
            case "data": data = try node.text()
            case "storage":
                let text = try node.text()
                guard text == "files" || StorageOptions.isDatabase(text) else {
                    throw node.error("takes files, or the URL of a database such as postgres://user@host/database")
                }
                options.storage.database = text == "files" ? nil : text
            case "model": model = try node.text()
            case "development":
                options.isDevelopment = try node.flag()
                namesDevelopment = true
            case "baseURL": options.baseURL = try node.text()
            case "tls": tls = try Self.tls(node)
            case "requireTLS": options.network.requiresTLS = try node.flag()
            case "trustedProxies": options.network.trustedProxies = try node.networks()
            case "metricsReaders": options.network.metricsReaders = try node.networks()
            case "origins": options.network.origins = try Self.origins(node)
            case "keys": try readKeys(node)
            case "dialects": try readDialects(node)
            case "users": try readUsers(node)
            case "passwords": try readPasswords(node)
            case "tokens": try readTokens(node)
            case "hooks": try readHooks(node)
            case "durability":
                options.storage.survivesPowerFailure = try node.choice(["full", "normal"]) == "full"
            case "deletions": try readDeletions(node)
            case "limits": try readLimits(node)
            default: throw node.unknown()
            }
        }

        private static func tls(_ node: ConfigurationNode) throws(ServerSetupError) -> HTTPService.TLSFiles {
            var files = HTTPService.TLSFiles(certificateChain: "", privateKey: "")
            for (name, node) in try node.members() {
                switch name {
                case "certificate": files.certificateChain = try node.text()
                case "key": files.privateKey = try node.text()
                default: throw node.unknown()
                }
            }
            guard !files.certificateChain.isEmpty, !files.privateKey.isEmpty else {
                throw node.error("takes certificate and key")
            }
            return files
        }

        private static func origins(_ node: ConfigurationNode) throws(ServerSetupError) -> [String] {
            var origins: [String] = []
            for element in node.elements() {
                let text = try element.text()
                guard CrossOrigin.isOrigin(text) else {
                    throw element.error("takes an origin such as https://app.example.org, or *")
                }
                origins.append(text)
            }
            return origins
        }

        private mutating func readKeys(_ node: ConfigurationNode) throws(ServerSetupError) {
            for (name, node) in try node.members() {
                switch name {
                case "public": options.publicKey = try node.text()
                case "private": options.privateKey = try node.text()
                default: throw node.unknown()
                }
            }
        }

        /// One account schema, or a list of them.
        private mutating func readUsers(_ node: ConfigurationNode) throws(ServerSetupError) {
            options.accountSchemas = []
            for element in node.elements() {
                var schema = AccountSchema()
                for (name, node) in try element.members() {
                    switch name {
                    case "schema": schema.name = try node.schemaName()
                    case "key": schema.keyField = try node.schemaName()
                    case "password": schema.passwordField = try node.schemaName()
                    case "email": schema.emailField = try node.schemaName()
                    default: throw node.unknown()
                    }
                }
                guard options.accounts(schema.name) == nil else { throw element.error("is there twice") }
                options.accountSchemas.append(schema)
            }
        }
    }
#endif
