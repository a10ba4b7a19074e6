/** Sections of a document, one after the other. */
export interface Part {
  readonly document: string
  readonly sections: readonly string[]
}

/** What a reader follows from a demo that has just started. */
export type Walk = readonly Part[]

const guide = 'docs/guide/getting-started.md'
const started: Part = { document: guide, sections: ['Start it'] }
const walkOfGuide = (...sections: readonly string[]): Walk => [started, { document: guide, sections }]

/** Guides for clusters of several kinds. The demo is all of them, and each leaves it as the next one finds it. */
const guidesForNodesAndCeph: Walk = [
  started,
  {
    document: 'docs/guide/plain-nodes.md',
    sections: [
      'Install',
      'Check it',
      'Limit how many nodes are away',
      'See what would happen',
      'Drain, reboot, bring back',
      'Let owners say "not now"',
      'Take it back',
    ],
  },
  { document: 'docs/guide/rook.md', sections: ['Install', 'Check it', 'Hand the budgets over', 'Drain a node'] },
  { document: 'docs/guide/openshift.md', sections: ['Install', 'Updates of nodes', 'Health checks'] },
]
const guidesForLonghorn: Walk = [
  started,
  {
    document: 'docs/guide/longhorn.md',
    sections: ['Install', 'Check it', 'Choose a mode and a policy', 'Drain a node'],
  },
  { document: 'docs/guide/migration.md', sections: ['A CephCluster', 'Longhorn'] },
]

/** Each has a demo of its own, and all run at the same time: one after the other they would take ten minutes. The longest is first. */
export const walks: readonly Walk[] = [
  walkOfGuide('Drain with a lock'),
  walkOfGuide('Let a machine die'),
  guidesForLonghorn,
  guidesForNodesAndCeph,
  [{ document: 'README.md', sections: ['Two commands', 'Try it', 'Install'] }],
  walkOfGuide('Update all OSDs'),
  walkOfGuide('See what is there', 'Drain a node', 'See a budget refuse', 'Drain a storage node'),
  walkOfGuide('Drain a node whose replicas move', 'What else works', 'A cluster of your own'),
]
