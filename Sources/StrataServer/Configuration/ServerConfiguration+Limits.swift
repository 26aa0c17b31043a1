#if Server
    import Foundation

    extension ServerConfiguration {
        mutating func readPasswords(_ node: ConfigurationNode) throws(ServerSetupError) {
            for (name, node) in try node.members() {
                switch name {
                case "minimumLength": options.passwords.minimumLength = try node.whole(1...1024)
                case "guesses": options.passwords.guesses = try node.whole(1...1_000_000)
                case "guessesPerAddress": options.passwords.guessesPerAddress = try node.whole(1...1_000_000)
                case "guessesPerAccount": options.passwords.guessesPerAccount = try node.whole(1...1_000_000)
                case "rounds":
                    let rounds = try node.whole(2...(1 << 20))
                    guard rounds & (rounds - 1) == 0 else { throw node.error("takes a power of two") }
                    options.passwords.cost.rounds = rounds
                case "blockSize": options.passwords.cost.blockSize = try node.whole(1...32)
                case "parallelism": options.passwords.cost.parallelism = try node.whole(1...16)
                default: throw node.unknown()
                }
            }
        }

        mutating func readTokens(_ node: ConfigurationNode) throws(ServerSetupError) {
            for (name, node) in try node.members() {
                switch name {
                case "lifetime": options.tokens.lifetime = try node.whole(1...31_536_000)
                case "refreshLifetime": options.tokens.refreshLifetime = try node.whole(60...315_360_000)
                case "refreshGrace": options.tokens.refreshGrace = try node.whole(0...3_600)
                case "bearerLifetime": options.tokens.bearerLifetime = try node.whole(60...315_360_000)
                case "signatureWindow": options.tokens.signatureWindow = try node.whole(1...86_400)
                case "temporaryPasswordLifetime":
                    options.tokens.temporaryPasswordLifetime = try node.whole(60...31_536_000)
                default: throw node.unknown()
                }
            }
        }

        mutating func readDeletions(_ node: ConfigurationNode) throws(ServerSetupError) {
            for (name, node) in try node.members() {
                switch name {
                case "lifetime": options.storage.deletionLifetime = try node.whole(60...315_360_000)
                case "count": options.storage.deletions = try node.whole(1...1_000_000_000)
                default: throw node.unknown()
                }
            }
        }

        mutating func readHooks(_ node: ConfigurationNode) throws(ServerSetupError) {
            for (method, node) in try node.members() {
                var (url, secret, timeout) = (URL?.none, String?.none, 10.0)
                for (name, node) in try node.members() {
                    switch name {
                    case "url":
                        url = URL(string: try node.text())
                        guard let url, ["http", "https"].contains(url.scheme), url.host() != nil else {
                            throw node.error("takes an address that begins with https:// or http://")
                        }
                    case "secret": secret = try node.text()
                    case "timeout": timeout = try node.seconds(1...600)
                    default: throw node.unknown()
                    }
                }
                guard let url, let secret else { throw node.error("takes url and secret") }
                options.hooks[method] = CustomHook(url: url, secret: secret, timeout: timeout)
            }
        }

        mutating func readLimits(_ node: ConfigurationNode) throws(ServerSetupError) {
            for (name, node) in try node.members() {
                switch name {
                case "bodySize": options.limits.requests.bodySize = try node.whole(1...(1 << 31))
                case "jsonDepth": options.limits.requests.jsonDepth = try node.whole(1...ServerLimits.largestJSONDepth)
                case "requestObjects": options.limits.requests.objects = try node.whole(1...1_000_000)
                case "conditions": options.limits.requests.conditions = try node.whole(1...30_000)
                case "requestsPerSecond": options.limits.requests.perSecond = try node.whole(0...1_000_000)
                case "requestBurst": options.limits.requests.burst = try node.whole(1...1_000_000)
                case "requestTimeout": options.limits.requests.timeout = try node.seconds(1...3_600)
                case "answerObjects": options.limits.answers.objects = try node.whole(1...10_000_000)
                case "answerSize": options.limits.answers.size = try node.whole(1...(1 << 31))
                case "answerTimeout": options.limits.answers.timeout = try node.seconds(1...3_600)
                case "answerRate": options.limits.answers.rate = try node.whole(1...(1 << 30))
                case "connections": options.limits.connections.count = try node.whole(1...1_000_000)
                case "connectionsPerAddress": options.limits.connections.perAddress = try node.whole(1...1_000_000)
                case "idleTimeout": options.limits.connections.idleTimeout = try node.seconds(1...86_400)
                case "socketsPerAddress": options.limits.sockets.perAddress = try node.whole(0...1_000_000)
                case "socketMessageSize": options.limits.sockets.messageSize = try node.whole(1_024...(1 << 31))
                case "socketUnsentSize": options.limits.sockets.unsentSize = try node.whole(1_024...(1 << 31))
                case "pingInterval": options.limits.sockets.pingInterval = try node.seconds(1...3_600)
                case "subscriptions": options.limits.sockets.subscriptions = try node.whole(1...100_000)
                case "subscriptionMatches": options.limits.sockets.matches = try node.whole(0...100_000_000)
                case "memory": options.limits.memory = try node.whole((1 << 20)...(1 << 40))
                case "memoryShare": options.limits.memoryShare = try node.whole(1...100)
                case "rememberedSignatures": options.limits.rememberedSignatures = try node.whole(1...100_000_000)
                case "signaturesPerSession": options.limits.signaturesPerSession = try node.whole(1...100_000_000)
                default: throw node.unknown()
                }
            }
        }
    }
#endif
