#if Server
    extension DialectMount {
        /// The dialects.
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// StackMob.
            case stackMob = "stackmob"
            /// Parse Server.
            case parse
            /// MaxLeap.
            case maxLeap = "maxleap"
            /// Azure Mobile Services, the first version.
            case azureServices = "azure-services"
            /// Azure Mobile Apps, the second version.
            case azureApps = "azure-apps"
            /// Datasync, their successor.
            case datasync
        }

        /// The dialect of a server without a configuration.
        static let standard = DialectMount(.stackMob)
    }

    // What the core asks of a dialect before there is a request.
    extension DialectMount.Kind {
        /// Whether clients can take deletions back.
        var undeletes: Bool { [.azureServices, .azureApps, .datasync].contains(self) }
        /// The first part of paths that clients ask for at the root of the host, wherever the rest of the dialect is.
        var root: String? { self == .azureApps || self == .datasync ? ".auth" : nil }
        /// Whether clients sign requests, with the keys of the server, and name the database with each of them.
        var signsRequests: Bool { self == .stackMob }
        /// Whether clients can follow changes by live queries.
        var hasLiveQueries: Bool { self == .parse }
    }
#endif
