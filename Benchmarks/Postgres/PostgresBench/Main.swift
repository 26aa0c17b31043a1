import Foundation

/// Measures a contender in one workload, and prints a line of JSON for each run: seconds, check value, statements.
///
///     PostgresBench strata read postgres://… 100000 3
@main
enum Main {
    static func main() throws {
        #if Postgres
            let arguments = CommandLine.arguments
            guard arguments.count == 6, let workload = Workload(rawValue: arguments[2]), let count = Int(arguments[4]),
                let runs = Int(arguments[5])
            else {
                FileHandle.standardError.write(Data("usage: PostgresBench strata|raw WORKLOAD URL CITIES RUNS\n".utf8))
                exit(64)
            }
            let data = DataSet(count: count)
            for run in 0...runs {
                let outcome: Outcome
                if arguments[1] == "raw" {
                    outcome = try RawContender(url: arguments[3], data: data).run(workload)
                } else {
                    if workload == .insert {
                        try RawConnection(arguments[3]).run("DROP SCHEMA IF EXISTS \(StrataContender.schema) CASCADE")
                    }
                    // The first run counts and warms up; its time is not used.
                    outcome = try StrataContender(url: arguments[3], data: data).run(workload, isCounting: run == 0)
                }
                if workload == .insert { try RawConnection(arguments[3]).run("ANALYZE") }
                if run == 0 && outcome.statements == nil { continue }
                print(
                    "{\"seconds\": \(run == 0 ? "null" : "\(outcome.seconds)"), \"check\": \(outcome.check), "
                        + "\"statements\": \(outcome.statements.map(String.init) ?? "null")}")
            }
        #else
            FileHandle.standardError.write(Data("PostgresBench is built without the trait Postgres\n".utf8))
            exit(69)
        #endif
    }
}
