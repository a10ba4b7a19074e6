import { expect, it } from 'vitest'
import { needsCluster } from './chosen-suites.ts'

const suites = ['ceph-drain.lab.ts', 'longhorn-brain.lab.ts', 'longhorn-oracle.lab.ts', 'lab.ts']
const choices: Readonly<Record<string, readonly [readonly string[], boolean]>> = {
  'all suites run, so Kubernetes and Ceph have to be there': [[], true],
  'a suite that runs no cluster is named alone, and nobody waits for Kubernetes to be built': [
    ['longhorn-oracle'],
    false,
  ],
  'it is named beside another': [['longhorn-oracle', 'ceph-drain'], true],
  'a word names it and another': [['longhorn'], true],
  'a word names nothing that is here': [['nothing'], true],
}
it.each(Object.entries(choices))('%s', (_, [chosen, needed]) => {
  expect(needsCluster(chosen, suites)).toBe(needed)
})
