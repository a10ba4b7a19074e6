import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import { expect, it } from 'vitest'
import { doesRookRun } from './rook-runs.ts'

const cluster = { namespace: 'rook-ceph', name: 'rook-ceph' }
const made = (namespace: string, more: { labels?: Record<string, string>; replicas?: number } = {}): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd', namespace, ...(more.labels && { labels: more.labels }) },
  spec: {
    ...(more.replicas !== undefined && { replicas: more.replicas }),
    selector: {},
    template: { spec: { containers: [] } },
  },
})
const osdOf = (operator: string) => made('rook-ceph', { labels: { 'rook.io/operator-namespace': operator } })

const rows: Record<string, { operators: Deployment[]; osds?: Deployment[] | undefined; runs: boolean }> = {
  'none is there': { operators: [], osds: [], runs: false },
  'it is scaled to none': { operators: [made('rook-ceph', { replicas: 0 })], osds: [], runs: false },
  'it is in the namespace of the cluster': { operators: [made('rook-ceph')], osds: [], runs: true },
  'it is where the OSDs say that theirs is': {
    operators: [made('rook-system')],
    osds: [osdOf('rook-system')],
    runs: true,
  },
  'a tenant calls a Deployment of his own a Rook: that stops nobody': {
    operators: [made('team-a')],
    osds: [osdOf('rook-ceph')],
    runs: false,
  },
  'one is somewhere, and the OSDs cannot be seen: it counts': {
    operators: [made('team-a')],
    osds: undefined,
    runs: true,
  },
}
it.each(Object.entries(rows))('%s', (_sentence, { operators, osds, runs }) => {
  expect(doesRookRun(cluster, operators, () => osds)).toBe(runs)
})
