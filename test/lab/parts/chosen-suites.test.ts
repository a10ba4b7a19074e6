import { expect, it } from 'vitest'
import { namedSuite, needsCluster } from './chosen-suites.ts'

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
  'a suite that brings its own nodes is named, and nobody waits for Ceph': [['real-node'], false],
}
it.each(Object.entries(choices))('%s', (_, [chosen, needed]) => {
  expect(needsCluster(chosen, suites)).toBe(needed)
})

const names: Readonly<Record<string, readonly [readonly string[], string | undefined]>> = {
  'all suites run, and none of those that have to be named: CI would wait for another architecture': [[], undefined],
  'real nodes are asked for': [['real-node'], 'real-node'],
  'a part of the name is not enough: `image` is a suite of its own': [['image'], undefined],
  'another suite is named beside it, which would have no network': [['real-node', 'ceph-drain'], undefined],
}
it.each(Object.entries(names))('%s', (_, [chosen, suite]) => {
  expect(namedSuite(chosen)).toBe(suite)
})
