import StrataSQL
import StrataStore

extension PostgresDialect {
    /// The functions that the SQL of conditions calls. A store creates them in its schema, with `CREATE OR REPLACE`.
    ///
    /// They give what `NumberOperation`, `TextComparison` and `GeoPoint` give.
    package var functions: [String] {
        [
            // A floating-point number beyond 2^53 is written with fewer digits than it has.
            function(
                "strata_number(x double precision)", "numeric",
                "CASE WHEN x = trunc(x) AND abs(x) < 9.2e18 THEN x::bigint::numeric ELSE x::text::numeric END"),
            function(
                "strata_whole(x numeric)", "bigint",
                "CASE WHEN x BETWEEN -9223372036854775808 AND 9223372036854775807 THEN x::bigint END"),
            function(
                "strata_divide(x bigint, y bigint)", "bigint",
                "CASE WHEN y = 0 THEN NULL WHEN y = -1 THEN strata_whole(-(x::numeric)) ELSE x / y END"),
            function(
                "strata_modulus(x bigint, y bigint)", "bigint",
                "CASE WHEN x IS NULL OR y = 0 THEN NULL WHEN y = -1 THEN 0 ELSE x % y END"),
            function(
                "strata_shift(x bigint, count bigint, is_right boolean DEFAULT FALSE)", "bigint",
                """
                CASE WHEN x IS NULL OR count IS NULL THEN NULL
                WHEN count = 0 THEN x
                WHEN (count > 0) = is_right THEN
                    CASE WHEN abs(count::numeric) > 63 THEN CASE WHEN x < 0 THEN -1 ELSE 0 END
                    ELSE x >> abs(count)::integer END
                WHEN abs(count::numeric) > 63 THEN 0
                ELSE x << abs(count)::integer END
                """),
            // UTF-16 units.
            function(
                "strata_length(x text)", "bigint",
                #"length(x)::bigint + length(regexp_replace(x, U&'[^\+010000-\+10FFFF]', '', 'g'))"#),
            // Backslash first, because the others get one.
            function(
                "strata_pattern(x text)", "text",
                #"translate(replace(replace(replace(x, '\', '\\'), '%', '\%'), '_', '\_'), '*?', '%_')"#),
            function(
                "strata_is_valid(x point)", "boolean",
                "x[0] BETWEEN -180 AND 180 AND x[1] BETWEEN -90 AND 90"),
            function(
                "strata_is_inside(x point, low point, high point)", "boolean",
                """
                strata_is_valid(x) AND strata_is_valid(low) AND strata_is_valid(high)
                AND low[1] <= x[1] AND x[1] <= high[1]
                AND CASE WHEN low[0] <= high[0] THEN low[0] <= x[0] AND x[0] <= high[0]
                    ELSE low[0] <= x[0] OR x[0] <= high[0] END
                """),
            function(
                "strata_angle(a point, b point)", "double precision",
                """
                sin((b[1] - a[1]) * \(Self.radians) / 2) * sin((b[1] - a[1]) * \(Self.radians) / 2)
                + cos(a[1] * \(Self.radians)) * cos(b[1] * \(Self.radians))
                * sin((b[0] - a[0]) * \(Self.radians) / 2) * sin((b[0] - a[0]) * \(Self.radians) / 2)
                """),
            function(
                "strata_distance(a point, b point, radius double precision)", "double precision",
                """
                CASE WHEN strata_is_valid(a) AND strata_is_valid(b)
                THEN 2 * radius * asin(LEAST(1, sqrt(strata_angle(a, b)))) END
                """),
            PostgresFolding.function,
        ]
    }

    private static var radians: String { "\(Double.pi / 180)::double precision" }

    private func function(_ signature: String, _ result: String, _ body: String) -> String {
        """
        CREATE OR REPLACE FUNCTION \(signature) RETURNS \(result)
        LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN \(body)
        """
    }
}
