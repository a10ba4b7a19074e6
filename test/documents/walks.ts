/** Parts of a document that a reader follows from a demo that has just started. */
export interface Walk {
  readonly document: string
  readonly sections: readonly string[]
}

const guide = 'docs/guide/getting-started.md'
const walkOfGuide = (...sections: readonly string[]): Walk => ({ document: guide, sections: ['Start it', ...sections] })

/** Each has a demo of its own, and all run at the same time: one after the other they would take ten minutes. The longest is first. */
export const walks: readonly Walk[] = [
  walkOfGuide('Drain with a lock'),
  walkOfGuide('Let a machine die'),
  { document: 'README.md', sections: ['Two commands', 'Try it'] },
  walkOfGuide('Update all OSDs'),
  walkOfGuide('See what is there', 'Drain a node', 'See a budget refuse', 'Drain a storage node'),
  walkOfGuide('Drain a node whose replicas move', 'What else works', 'A cluster of your own'),
]

/** Commands that are for another cluster than the demo. */
export const otherSections: Readonly<Record<string, readonly string[]>> = {
  'README.md': ['Run it on a cluster'],
  [guide]: [],
}
