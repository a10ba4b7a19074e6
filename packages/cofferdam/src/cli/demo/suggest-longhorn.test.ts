import type { LonghornReplica, LonghornSetting } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { expect, it } from 'vitest'
import { suggestLonghorn } from './suggest-longhorn.ts'

const setting = (value: string, annotations = {}): LonghornSetting => ({
  apiVersion: 'longhorn.io/v1beta2',
  kind: 'Setting',
  metadata: { name: 'node-drain-policy', annotations },
  value,
})
const replica = (volumeName: string, nodeID: string): LonghornReplica => ({
  apiVersion: 'longhorn.io/v1beta2',
  kind: 'Replica',
  metadata: { name: `${volumeName}-${nodeID}` },
  spec: { volumeName, nodeID },
})
const replicas = [replica('pair', 'n1'), replica('pair', 'n2'), replica('single', 'n2'), replica('alone', 'n3')]
const choice = { isFree: (node: string) => node !== 'n3', calledAs: 'cofferdam' }
const suggest = (policy: LonghornSetting, held = replicas) =>
  suggestLonghorn({ namespace: 'storage', settings: [policy], replicas: held }, choice)

it('a node is drained whose only copy of a volume moves, where nothing else keeps the drain from ending', () => {
  expect(suggest(setting('block-for-eviction'))).toEqual([
    {
      says: "Drain a node with the only copy of Longhorn's volume single: it moves first, and the drain ends after that",
      lines: [
        'kubectl cordon n2',
        'cofferdam explain node/n2',
        'kubectl drain n2 --ignore-daemonsets',
        'kubectl -n storage get replicas.longhorn.io',
        'kubectl uncordon n2',
      ],
    },
  ])
})

it('where only a real drain moves replicas, nobody is told to look at a cordoned node', () => {
  const [{ lines } = { lines: [] }] = suggest(setting('block-for-eviction', { 'cofferdam.io/trigger': 'drain' }))
  expect(lines).toEqual([
    'kubectl drain n2 --ignore-daemonsets',
    'kubectl -n storage get replicas.longhorn.io',
    'kubectl uncordon n2',
  ])
})

it('a drain that the only copy would stop for ever is said to be in vain', () => {
  expect(suggest(setting('block-if-contains-last-replica'))).toEqual([
    {
      says: "Drain a node and be refused: it has the only copy of Longhorn's volume single, and the drain gives up",
      lines: ['kubectl drain n2 --ignore-daemonsets --timeout=20s', 'cofferdam explain node/n2', 'kubectl uncordon n2'],
    },
  ])
})

it('nothing is said where nothing can be seen: no last copy, a policy that holds nothing, or an unknown one', () => {
  expect(suggest(setting('block-for-eviction'), replicas.slice(0, 2))).toEqual([])
  expect(suggest(setting('always-allow'))).toEqual([])
  expect(suggest(setting('sometimes'))).toEqual([])
})
