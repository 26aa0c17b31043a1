#if Server
    /// The only place that knows all dialects.
    enum DialectRegistry {
        /// The type of a dialect.
        static func type(_ kind: DialectMount.Kind) -> any ServerDialect.Type {
            switch kind {
            case .stackMob: StackMobService.self
            case .parse, .maxLeap: ParseService.self
            case .azureServices, .azureApps, .datasync: AzureService.self
            }
        }

        /// The service that a mount with Parse's requests stands for.
        static func parseVariant(_ kind: DialectMount.Kind) -> any ParseVariant { kind == .maxLeap ? maxLeap : parse }

        private static let parse = ParseServerVariant()
        private static let maxLeap = MaxLeapVariant()

        /// Whether an account cannot have a name, because a dialect has a request at the path of that account. Dialects that the
        /// server does not have now count, too: it may have them later, with the same accounts.
        static func isReservedAccountName(_ name: String) -> Bool {
            DialectMount.Kind.allCases.contains { type($0).reservesAccountName(name) }
        }
    }
#endif
