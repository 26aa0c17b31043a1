#if Postgres
    import StrataSQL
    import StrataStore

    /// Translates whole plans to SQL, and keeps the translations of shapes that are likely to come again.
    final class FetchTranslator: Sendable {
        /// A plan as SQL, without its constants.
        struct Translation: Sendable {
            let fetch: CompiledFetch
            /// What follows the columns.
            let body: String
            /// The statement that reads whole rows.
            let rows: String
        }

        let compiler: FetchCompiler
        private let plans: [EntityPlan]
        private let translations = Guarded(Translations())

        init(_ compiler: FetchCompiler, _ plans: [EntityPlan]) {
            self.compiler = compiler
            self.plans = plans
        }

        /// The translation of a plan of a shape, which answers with keys or counts.
        /// - Throws: ``StoreError/unsupported(store:feature:)`` if a part has none, and what is wrong with the plan.
        func translation(_ shape: FetchShape, of plan: FetchPlan) throws(StoreError) -> Translation {
            if let known = translations.withLock({ $0.find(shape.key) }) { return known }
            let fetch = try compiler.compile(shape, of: plan)
            let body = String(fetch.sql.dropFirst("SELECT t0._id ".count))
            let translation = Translation(
                fetch: fetch, body: body, rows: "SELECT \(plans[shape.key.entityIndex].columns) \(body)")
            if fetch.isKept { translations.withLock { $0.insert(translation, shape.key) } }
            return translation
        }
    }

    /// Translations by the shape of their plans.
    private struct Translations: Sendable {
        private var cache = FetchCache()
        private var fetches: [FetchTranslator.Translation] = []

        /// The translation of a shape, which counts as used.
        mutating func find(_ key: FetchShape.Key) -> FetchTranslator.Translation? {
            guard let place = cache.find(key) else { return nil }
            return fetches[place]
        }

        mutating func insert(_ fetch: FetchTranslator.Translation, _ key: FetchShape.Key) {
            let place = cache.insert(key)
            if place == fetches.count { fetches.append(fetch) } else { fetches[place] = fetch }
        }
    }
#endif
