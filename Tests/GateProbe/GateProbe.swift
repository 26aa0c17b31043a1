// Does one thing as often as it is told, and prints what it cost: for the tests, which compare counts with thresholds and
// with one another, and for the script that measures growth.
//
//     GateProbe list                          the names of all cases, with their group
//     GateProbe count FOLDER SIZE CASE …      counts, one a line: case, tabulator, what, tabulator, number
//     GateProbe time FOLDER SIZE CASE         nanoseconds of CPU; under callgrind, only what is measured is counted
//     GateProbe leaks FOLDER SIZE CASE …      bytes of the heap that stay behind at each repetition
//
// FOLDER keeps the stores that cases begin with.

import CCounters
import Foundation
import Strata

@main
struct GateProbe {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        let all = [("workload", Case.workloads), ("growth", Case.growth), ("shape", Case.shapes)]
        switch arguments.first {
        case "list":
            for (group, cases) in all { for item in cases { print("\(group)\t\(item.name)") } }
        case "count" where arguments.count > 3, "leaks" where arguments.count > 3, "time" where arguments.count == 4:
            guard let size = Int(arguments[3]) else { throw ProbeError("\(arguments[3]) is not a number") }
            for name in arguments.dropFirst(3) {
                guard let item = all.lazy.flatMap(\.1).first(where: { $0.name == name }) else {
                    throw ProbeError("there is no case \(name)")
                }
                let run = Run(item: item, size: size, folder: URL(filePath: arguments[2], directoryHint: .isDirectory))
                switch arguments.first {
                case "count": try run.count()
                case "leaks": try run.leaks()
                default: try run.time()
                }
            }
        default:
            throw ProbeError(
                "usage: GateProbe list | count FOLDER SIZE CASE … | time FOLDER SIZE CASE | leaks FOLDER SIZE CASE …")
        }
    }
}

/// Why there is nothing to print.
struct ProbeError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
