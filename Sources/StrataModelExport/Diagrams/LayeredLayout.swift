/// Places nodes of a graph in layers from top to bottom, so that edges lead downwards, cross seldom and are nearly
/// straight.
///
/// The steps are those of Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical System
/// Structures" (IEEE SMC 11, 1981): layers by longest paths, order by barycentres, positions by least squares. The
/// result depends only on the input.
struct LayeredLayout {
    struct Node {
        var width: Double
        var height: Double
        /// The centre, and the top.
        var x = 0.0
        var y = 0.0
        var layer = 0
        /// Whether the node is only a bend of a long edge.
        var isBend = false
    }

    /// An edge: the nodes that it passes, the upper end first. `isReversed` says that the caller's `from` is at the
    /// lower end.
    struct Edge {
        var path: [Int]
        var isReversed: Bool
    }

    private(set) var nodes: [Node]
    private(set) var edges: [Edge] = []
    /// The nodes of each layer from left to right.
    private(set) var layers: [[Int]] = []

    static let horizontalGap = 44.0

    /// - Parameter edges: Pairs of nodes, the upper one first where that is possible.
    init(sizes: [(width: Double, height: Double)], edges wanted: [(Int, Int)]) {
        nodes = sizes.map { Node(width: $0.width, height: $0.height) }
        var below = Array(repeating: Set<Int>(), count: nodes.count)
        var directed: [(Int, Int, Bool)] = []
        for (from, to) in wanted {
            let isReversed = Self.reaches(from: to, to: from, below)
            let (upper, lower) = isReversed ? (to, from) : (from, to)
            if upper != lower { below[upper].insert(lower) }
            directed.append((upper, lower, isReversed))
        }
        assignLayers(below)
        for (upper, lower, isReversed) in directed {
            edges.append(Edge(path: bends(from: upper, to: lower), isReversed: isReversed))
        }
        let layerCount = (nodes.map(\.layer).max() ?? -1) + 1
        layers = (0..<layerCount).map { layer in nodes.indices.filter { nodes[$0].layer == layer } }
        order()
        placeHorizontally()
    }

    private static func reaches(from: Int, to: Int, _ below: [Set<Int>]) -> Bool {
        var stack = [from]
        var seen: Set<Int> = []
        while let node = stack.popLast() {
            if node == to { return from != to }
            if seen.insert(node).inserted { stack += below[node] }
        }
        return false
    }

    // MARK: Layers

    private mutating func assignLayers(_ below: [Set<Int>]) {
        var changed = true
        while changed {
            changed = false
            for node in nodes.indices {
                for next in below[node] where nodes[next].layer <= nodes[node].layer {
                    nodes[next].layer = nodes[node].layer + 1
                    changed = true
                }
            }
        }
        // What nothing stands above comes down to its nearest neighbour.
        let hasAbove = Set(below.flatMap(\.self))
        for node in nodes.indices where !hasAbove.contains(node) {
            if let nearest = below[node].map({ nodes[$0].layer }).min() { nodes[node].layer = nearest - 1 }
        }
        let linked = nodes.indices.filter { hasAbove.contains($0) || !below[$0].isEmpty }
        let lowest = linked.map { nodes[$0].layer }.max() ?? -1
        // Entities without any line fill rows of their own below.
        for (position, node) in nodes.indices.filter({ !hasAbove.contains($0) && below[$0].isEmpty }).enumerated() {
            nodes[node].layer = lowest + 1 + position / 5
        }
    }

    private mutating func bends(from upper: Int, to lower: Int) -> [Int] {
        var path = [upper]
        for layer in stride(from: nodes[upper].layer + 1, to: nodes[lower].layer, by: 1) {
            path.append(nodes.count)
            nodes.append(Node(width: 14, height: 0, layer: layer, isBend: true))
        }
        return path + [lower]
    }

    // MARK: Order

    private func neighbours() -> (above: [[Int]], below: [[Int]]) {
        var above = Array(repeating: [Int](), count: nodes.count)
        var below = above
        for edge in edges {
            for (a, b) in zip(edge.path, edge.path.dropFirst()) where a != b {
                below[a].append(b)
                above[b].append(a)
            }
        }
        return (above, below)
    }

    private mutating func order() {
        let (above, below) = neighbours()
        var best = layers
        var fewest = crossings(layers)
        for sweep in 0..<24 where fewest > 0 {
            let goesDown = sweep.isMultiple(of: 2)
            let sequence = goesDown ? Array(layers.indices) : layers.indices.reversed()
            for layer in sequence {
                var position: [Int: Int] = [:]
                for row in layers { for (index, node) in row.enumerated() { position[node] = index } }
                let weights = layers[layer].enumerated().map { index, node -> (Double, Int, Int) in
                    let near = (goesDown ? above : below)[node].compactMap { position[$0] }
                    let mean = near.isEmpty ? Double(index) : Double(near.reduce(0, +)) / Double(near.count)
                    return (mean, index, node)
                }
                layers[layer] = weights.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
            }
            let count = crossings(layers)
            if count < fewest { (best, fewest) = (layers, count) }
        }
        layers = best
    }

    private func crossings(_ layers: [[Int]]) -> Int {
        var position: [Int: Int] = [:]
        for row in layers { for (index, node) in row.enumerated() { position[node] = index } }
        var lines: [Int: [(Int, Int)]] = [:]
        for edge in edges {
            for (a, b) in zip(edge.path, edge.path.dropFirst()) where a != b {
                lines[nodes[a].layer, default: []].append((position[a] ?? 0, position[b] ?? 0))
            }
        }
        var count = 0
        for lines in lines.values {
            for (index, a) in lines.enumerated() {
                for b in lines[(index + 1)...] where (a.0 - b.0) * (a.1 - b.1) < 0 { count += 1 }
            }
        }
        return count
    }

    // MARK: Positions

    private mutating func placeHorizontally() {
        for row in layers {
            var left = 0.0
            for node in row {
                nodes[node].x = left + nodes[node].width / 2
                left += nodes[node].width + Self.horizontalGap
            }
        }
        let (above, below) = neighbours()
        for sweep in 0..<40 {
            let goesDown = sweep.isMultiple(of: 2)
            for layer in goesDown ? Array(layers.indices) : layers.indices.reversed() {
                let row = layers[layer]
                let wanted = row.map { node -> Double in
                    let near = sweep < 30 ? (goesDown ? above : below)[node] : above[node] + below[node]
                    return near.isEmpty ? nodes[node].x : near.map { nodes[$0].x }.reduce(0, +) / Double(near.count)
                }
                let weights = row.map { nodes[$0].isBend ? 6.0 : 1.0 + Double(above[$0].count + below[$0].count) }
                for (node, x) in zip(row, Self.nearest(to: wanted, weights: weights, gaps: gaps(of: row))) {
                    nodes[node].x = x
                }
            }
        }
        let left = nodes.map { $0.x - $0.width / 2 }.min() ?? 0
        for node in nodes.indices { nodes[node].x -= left }
    }

    private func gaps(of row: [Int]) -> [Double] {
        zip(row, row.dropFirst()).map { a, b in
            let gap = nodes[a].isBend || nodes[b].isBend ? Self.horizontalGap / 2 : Self.horizontalGap
            return (nodes[a].width + nodes[b].width) / 2 + gap
        }
    }

    /// The positions nearest to the wanted ones, by weighted least squares, that keep the order and the gaps: isotonic
    /// regression by pooling adjacent violators.
    private static func nearest(to wanted: [Double], weights: [Double], gaps: [Double]) -> [Double] {
        var offsets = [0.0]
        for gap in gaps { offsets.append(offsets[offsets.count - 1] + gap) }
        var pools: [(sum: Double, weight: Double, count: Int)] = []
        for index in wanted.indices {
            pools.append(((wanted[index] - offsets[index]) * weights[index], weights[index], 1))
            while pools.count > 1 {
                let last = pools[pools.count - 1]
                let previous = pools[pools.count - 2]
                if previous.sum / previous.weight <= last.sum / last.weight { break }
                pools.removeLast(2)
                pools.append((previous.sum + last.sum, previous.weight + last.weight, previous.count + last.count))
            }
        }
        let values = pools.flatMap { Array(repeating: $0.sum / $0.weight, count: $0.count) }
        return zip(values, offsets).map(+)
    }

    mutating func setTop(_ y: Double, of node: Int) { nodes[node].y = y }
}
