/// Leads edges of a ``LayeredLayout`` in right angles: down from a port, across in a track between two layers, down to
/// the next port.
struct EdgeRouter {
    /// The line of an edge, the upper end first.
    struct Line {
        var points: [(x: Double, y: Double)]
    }

    private(set) var layout: LayeredLayout
    private(set) var lines: [Line] = []
    /// The lower edge of the lowest node.
    private(set) var height = 0.0

    private struct Segment {
        var edge: Int
        var step: Int
        var start: Double
        var end: Double
        var track = 0
    }

    static let trackGap = 12.0
    static let margin = 30.0

    init(layout: LayeredLayout) {
        self.layout = layout
        route()
    }

    private mutating func route() {
        let ports = self.ports()
        var segments: [Int: [Segment]] = [:]
        for (index, edge) in layout.edges.enumerated() {
            for step in 0..<max(0, edge.path.count - 1) where edge.path[step] != edge.path[step + 1] {
                let layer = layout.nodes[edge.path[step]].layer
                segments[layer, default: []].append(
                    Segment(edge: index, step: step, start: ports[index][step].out, end: ports[index][step + 1].in))
            }
        }
        var top = 0.0
        var bends: [Int: [(x: Double, y: Double)]] = [:]
        for (layer, row) in layout.layers.enumerated() {
            for node in row { layout.setTop(top, of: node) }
            let bottom = top + (row.map { layout.nodes[$0].height }.max() ?? 0)
            let (placed, trackCount) = Self.tracks(segments[layer] ?? [])
            for segment in placed {
                let y = bottom + Self.margin + Double(segment.track) * Self.trackGap
                if abs(segment.start - segment.end) >= 1 {
                    bends[segment.edge, default: []] += [(segment.start, y), (segment.end, y)]
                }
            }
            height = bottom
            top = bottom + 2 * Self.margin + Double(max(0, trackCount - 1)) * Self.trackGap
        }
        for (index, edge) in layout.edges.enumerated() {
            guard let first = edge.path.first, let last = edge.path.last, first != last else {
                lines.append(Line(points: []))
                continue
            }
            let start = layout.nodes[first]
            let end = layout.nodes[last]
            lines.append(
                Line(
                    points: [(ports[index][0].out, start.y + start.height)] + (bends[index] ?? [])
                        + [(ports[index][edge.path.count - 1].in, end.y)]))
        }
    }

    /// Where edges enter and leave the nodes that they pass, in the order of where they come from and go to.
    private func ports() -> [[(in: Double, out: Double)]] {
        var result = layout.edges.map { edge in edge.path.map { (in: layout.nodes[$0].x, out: layout.nodes[$0].x) } }
        var leaving: [Int: [(other: Double, edge: Int, step: Int)]] = [:]
        var entering = leaving
        for (index, edge) in layout.edges.enumerated() {
            for step in 0..<max(0, edge.path.count - 1) where edge.path[step] != edge.path[step + 1] {
                leaving[edge.path[step], default: []].append((layout.nodes[edge.path[step + 1]].x, index, step))
                entering[edge.path[step + 1], default: []].append((layout.nodes[edge.path[step]].x, index, step + 1))
            }
        }
        func spread(_ node: Int, _ list: [(other: Double, edge: Int, step: Int)]) -> [(Int, Int, Double)] {
            let sorted = list.sorted { ($0.other, $0.edge) < ($1.other, $1.edge) }
            let width = layout.nodes[node].width
            let gap = min(34, (width - 24) / Double(max(1, sorted.count)))
            return sorted.enumerated().map { position, item in
                (item.edge, item.step, layout.nodes[node].x + (Double(position) - Double(sorted.count - 1) / 2) * gap)
            }
        }
        for (node, list) in leaving where !layout.nodes[node].isBend {
            for (edge, step, x) in spread(node, list) { result[edge][step].out = x }
        }
        for (node, list) in entering where !layout.nodes[node].isBend {
            for (edge, step, x) in spread(node, list) { result[edge][step].in = x }
        }
        straighten(&result)
        return result
    }

    /// Moves ports by a few points where that spares a line two bends and comes near no other port.
    private func straighten(_ ports: inout [[(in: Double, out: Double)]]) {
        let reach = 14.0
        var taken: [Int: [Double]] = [:]
        for (index, edge) in layout.edges.enumerated() {
            for step in edge.path.indices.dropFirst() {
                taken[edge.path[step], default: []].append(ports[index][step].in)
            }
        }
        for (index, edge) in layout.edges.enumerated() {
            for step in edge.path.indices.dropFirst() where edge.path[step] != edge.path[step - 1] {
                let node = edge.path[step]
                let current = ports[index][step].in
                let wanted = ports[index][step - 1].out
                let isInside =
                    layout.nodes[node].isBend
                    ? false : abs(wanted - layout.nodes[node].x) < layout.nodes[node].width / 2 - 14
                let isFree = (taken[node] ?? []).allSatisfy { $0 == current || abs($0 - wanted) >= reach }
                guard abs(current - wanted) < reach * 1.5, isInside, isFree else { continue }
                taken[node] = (taken[node] ?? []).map { $0 == current ? wanted : $0 }
                ports[index][step].in = wanted
            }
        }
    }

    /// Gives each segment a track in which it meets no other. Of segments that lead right, the rightmost comes first,
    /// and the other way round, so that neighbours do not cross without need.
    private static func tracks(_ segments: [Segment]) -> ([Segment], Int) {
        let right = segments.filter { $0.end >= $0.start }.sorted { ($0.start, $0.edge) > ($1.start, $1.edge) }
        let left = segments.filter { $0.end < $0.start }.sorted { ($0.start, $0.edge) < ($1.start, $1.edge) }
        var occupied: [[ClosedRange<Double>]] = []
        var result: [Segment] = []
        for var segment in right + left {
            if abs(segment.start - segment.end) < 1 {
                result.append(segment)
                continue
            }
            let span = (min(segment.start, segment.end) - 8)...(max(segment.start, segment.end) + 8)
            segment.track = occupied.firstIndex { !$0.contains { $0.overlaps(span) } } ?? occupied.count
            if segment.track == occupied.count { occupied.append([]) }
            occupied[segment.track].append(span)
            result.append(segment)
        }
        return (result, occupied.count)
    }
}
