#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    /// A fetch as SQL, as far as PostgreSQL gives the answer that memory would give, and what is left to do in memory.
    ///
    /// The compiler that all SQL stores share translates whole plans. Where it cannot translate a part, the other parts that must
    /// hold are translated one by one, and the rest is evaluated on the rows that meet them.
    struct FetchQuery {
        let plan: FetchPlan
        let environment: EvaluationEnvironment
        /// The part of the condition that is left.
        let rest: FetchPredicate?
        /// The order, with the distance that a condition may bring.
        let sorts: [FetchSort]
        let sortsInMemory: Bool
        let parameters: StatementParameters
        private let body: String
        private let order: String
        private let limit: String
        /// The translation, and the constants that its parameters are made of; nil if the plan was not translated as a whole.
        private let whole: (translation: FetchTranslator.Translation, constants: [Value])?
        /// The entities whose tables are read, by the name that the table has in the statement.
        let entities: [String: String]
        /// The statement that counts the rows, where the whole plan was translated for that.
        private let countSQL: String?

        /// Whether the statement gives the whole answer.
        var isExact: Bool { rest == nil && !sortsInMemory }
        /// Whether the statement is likely to come again.
        var isReusable: Bool { body.utf8.count < 20_000 }

        /// - Parameters:
        ///   - isOrdered: Whether the order of the answer matters.
        ///   - isCompiled: Whether whole plans are translated. Such a statement may fail where memory has an answer, for
        ///     instance for text in JSON that PostgreSQL does not take.
        init(
            store: PostgresStore, plan: FetchPlan, isOrdered: Bool = true, isCompiled: Bool = true
        ) throws(StoreError) {
            var plan = plan
            environment = plan.environment ?? EvaluationEnvironment()
            plan.environment = environment
            self.plan = plan
            if isCompiled,
                let (translation, parameters, constants) = try Self.compiled(plan, store, isOrdered ? .keys : .count)
            {
                whole = (translation, constants)
                rest = nil
                sorts = []
                sortsInMemory = false
                self.parameters = parameters
                entities = translation.fetch.entities
                order = ""
                limit = ""
                countSQL = isOrdered ? nil : translation.fetch.sql
                body = translation.body
                return
            }
            countSQL = nil
            whole = nil
            let entity = store.model.entities[plan.entityIndex]
            entities = ["t0": entity.name]
            var builder = ConditionBuilder(layout: store.layout, entity: entity, environment: environment)
            var conditions: [String] = []
            if let condition = store.layout.entityCondition(
                plan.entityIndex, subentities: plan.includesSubentities, alias: "t0")
            {
                conditions.append(condition)
            }
            var left: [FetchPredicate] = []
            for part in Self.parts(of: plan.predicate) {
                // A part that is evaluated in memory adds no parameters and joins.
                var attempt = builder
                if let sql = attempt.condition(part) {
                    conditions.append("(\(sql))")
                    builder = attempt
                } else {
                    left.append(part)
                }
            }
            rest = left.isEmpty ? nil : left.count == 1 ? left[0] : .and(left)
            var sorts = plan.sorts
            if sorts.isEmpty, let distance = plan.predicate?.nearestFirst { sorts.append(FetchSort(distance)) }
            self.sorts = isOrdered ? sorts : []
            var terms: [String]? = []
            for sort in self.sorts {
                if builder.isExternal(sort.expression) {
                    throw .unsupported(
                        store: "PostgreSQL",
                        feature: "ordering by \(sort.expression), whose values may be kept apart from their rows")
                }
                if let term = builder.order(sort) { terms?.append(term) } else { terms = nil }
                if terms == nil { break }
            }
            sortsInMemory = terms == nil
            order = isOrdered ? " ORDER BY " + ((terms ?? []) + ["t0.\"_id\""]).joined(separator: ", ") : ""
            let table = store.plans[plan.entityIndex].table
            body =
                "FROM \(table) AS t0\(builder.joins)"
                + (conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND "))
            var parameters = builder.parameters
            var limit = ""
            if left.isEmpty, terms != nil {
                if let count = plan.limit {
                    parameters.add(Int64(max(0, count)))
                    limit += " LIMIT $\(parameters.count)"
                }
                if plan.offset > 0 {
                    parameters.add(Int64(plan.offset))
                    limit += " OFFSET $\(parameters.count)"
                }
            }
            self.limit = limit
            self.parameters = parameters
        }

        /// The translation of the whole plan; nil if a part of it has none.
        private static func compiled(
            _ plan: FetchPlan, _ store: PostgresStore, _ answer: FetchCompiler.Answer
        ) throws(StoreError) -> (FetchTranslator.Translation, StatementParameters, [Value])? {
            do throws(StoreError) {
                let shape = FetchShape(plan, answer)
                let translation = try store.translator.translation(shape, of: plan)
                var parameters = try ParameterCoding.encode(translation.fetch.parameters, shape.constants)
                for number in Self.limits(of: plan) { parameters.add(number) }
                return (translation, parameters, shape.constants)
            } catch {
                guard case .unsupported = error else { throw error }
                return nil
            }
        }

        /// The values of the parameters for the limit and the offset.
        private static func limits(of plan: FetchPlan) -> [Int64] {
            (plan.limit.map { [Int64(max(0, $0))] } ?? []) + (plan.offset > 0 ? [Int64(plan.offset)] : [])
        }

        /// The values of the parameters of a plan that was translated as a whole, for explanations.
        func bindings() throws(StoreError) -> [SQLValue] {
            guard let whole else { return [] }
            var values: [SQLValue] = []
            for parameter in whole.translation.fetch.parameters {
                values.append(try parameter.value(whole.constants))
            }
            return values + Self.limits(of: plan).map { .integer($0) }
        }

        /// The parts that must all hold.
        private static func parts(of predicate: FetchPredicate?) -> [FetchPredicate] {
            guard let predicate else { return [] }
            if case .and(let parts) = predicate.node { return parts.flatMap { Self.parts(of: $0) } }
            return [predicate]
        }

        /// The statement that counts.
        var count: String {
            countSQL
                ?? (plan.limit != nil || plan.offset > 0
                    ? "SELECT count(*) FROM (\(select("1"))) AS limited" : select("count(*)"))
        }

        /// The whole answer, with all columns.
        func rows(_ entity: EntityPlan) -> String { whole?.translation.rows ?? select(entity.columns) }

        /// The whole answer.
        func select(_ columns: String) -> String { "SELECT \(columns) \(body)\(order)\(limit)" }

        /// The rows that meet the translated part: in the order of the fetch where PostgreSQL knows it, otherwise of their keys.
        func candidates(_ columns: String) -> String {
            if isExact { return select(columns) }
            return "SELECT \(columns) \(body)\(sortsInMemory || order.isEmpty ? " ORDER BY t0.\"_id\"" : order)"
        }
    }
#endif
