// Lays graphs out beside the page, so that the page never waits for it.

import { dagre } from "/vendor/vendor.js";

onmessage = ({ data: { nodes, edges } }) => {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 24, ranksep: 46, marginx: 20, marginy: 20 });
  graph.setDefaultEdgeLabel(() => ({}));
  nodes.forEach(({ width, height }, i) => graph.setNode(String(i), { width, height }));
  for (const [source, target] of edges) graph.setEdge(String(source), String(target));
  dagre.layout(graph);
  const { width, height } = graph.graph();
  postMessage({
    nodes: nodes.map((_, i) => graph.node(String(i))),
    lines: edges.map(([source, target]) => graph.edge(String(source), String(target)).points),
    width: Math.max(width || 0, 200),
    height: Math.max(height || 0, 120),
  });
};
