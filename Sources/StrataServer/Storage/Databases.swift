#if Server
    import Foundation
    import Strata

    /// The databases of a server: that of production, and that of development next to it.
    struct Databases: Sendable {
        let production: Environment
        /// nil if development is off.
        let development: Environment?

        init(folder: URL, model: ManagedObjectModel?, options: ServerOptions, clock: ServerClock) throws {
            var declared = SchemaCatalogue()
            var hints: [String: Entity] = [:]
            if let model {
                let schemas = try ModelSchemas(model, options: options)
                declared = schemas.catalogue
                hints = schemas.hints
            }
            for accounts in options.accountSchemas where declared[accounts.name] == nil {
                declared.schemas.append(
                    ServerSchema(name: accounts.name, keyField: accounts.keyField, isUser: true))
            }
            guard !FileManager.default.fileExists(atPath: folder.appendingPathComponent("strata.sqlite").path) else {
                throw ServerSetupError(
                    "\(folder.path) has its database at the top; move strata.sqlite and files into a folder production or development there."
                )
            }
            production = try Environment(
                folder: folder.appendingPathComponent("production", isDirectory: true), isDevelopment: false,
                declared: declared, hints: hints, options: options, clock: clock)
            development =
                options.isDevelopment
                ? try Environment(
                    folder: folder.appendingPathComponent("development", isDirectory: true), isDevelopment: true,
                    declared: declared, hints: hints, options: options, clock: clock) : nil
        }

        /// The database of an API version: development for 0 and for no version, where there is one.
        func environment(version: Int?) -> Environment {
            (version ?? 0) == 0 ? development ?? production : production
        }

        var all: [Environment] { [production] + (development.map { [$0] } ?? []) }

        func close() {
            for environment in all { environment.database.close() }
        }
    }
#endif
