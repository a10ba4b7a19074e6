import { expect, it } from 'vitest'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import { type LonghornManagerObjects, nodesWithManager, parseLonghornManager } from './longhorn-manager.ts'

const counts = { currentNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 }
const set = (wanted: number, generation = 1) => ({
  metadata: { name: 'longhorn-manager', generation },
  status: { ...counts, desiredNumberScheduled: wanted, observedGeneration: 1 },
})
const pod = (phase: 'Running' | 'Pending' | 'Succeeded') => ({
  metadata: { name: 'longhorn-manager-x' },
  status: { phase },
})
const nothing: LonghornManagerObjects = { managerSets: [], managerPods: [] }

const table: Record<string, readonly [Partial<LonghornManagerObjects>, Observed<string | undefined>]> = {
  'neither a DaemonSet nor a pod: there is none': [{}, known(undefined)],
  'a DaemonSet with nodes to run on': [{ managerSets: [set(3)] }, known('DaemonSet longhorn-manager')],
  'a DaemonSet of which no pod runs for a moment, as when Longhorn is upgraded': [
    { managerSets: [set(3)], managerPods: [] },
    known('DaemonSet longhorn-manager'),
  ],
  'a DaemonSet that was sent to no node': [{ managerSets: [set(0)] }, known(undefined)],
  'a DaemonSet that nobody has counted since it was changed': [
    { managerSets: [set(0, 2)] },
    known('DaemonSet longhorn-manager'),
  ],
  'a pod without a DaemonSet, as after a delete that spares pods': [
    { managerPods: [pod('Running')] },
    known('pod longhorn-manager-x'),
  ],
  'a pod that is about to run': [{ managerPods: [pod('Pending')] }, known('pod longhorn-manager-x')],
  'a pod that has ended': [{ managerPods: [pod('Succeeded')] }, known(undefined)],
  'pods that nobody may read': [{ managerPods: undefined }, unknown('its pods cannot be read')],
  'DaemonSets that nobody may read': [{ managerSets: undefined }, unknown('its DaemonSets cannot be read')],
}

it.each(Object.entries(table))('%s', (_, [seen, expected]) => {
  expect(parseLonghornManager({ ...nothing, ...seen })).toEqual(expected)
})

it('a manager counts on the node where its pod is ready, and nowhere before it is bound to one', () => {
  const ready = (nodeName?: string) => ({
    metadata: { name: 'm' },
    spec: nodeName === undefined ? {} : { nodeName },
    status: { conditions: [{ type: 'Ready', status: 'True' as const }] },
  })
  expect([...nodesWithManager([ready('n1'), ready()])]).toEqual(['n1'])
})
