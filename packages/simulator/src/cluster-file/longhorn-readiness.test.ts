import type {
  LonghornInstanceManager,
  LonghornReplica,
  LonghornVolume,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { expect, it } from 'vitest'
import { parseClusterFile } from './cluster-file.ts'
import type { LonghornClusterDescription } from './describe-longhorn.ts'
import { judgeLonghornReadiness } from './longhorn-readiness.ts'

const described = (fields: string) =>
  parseClusterFile(`zones: [{ name: a }]\nnodes: [{ name: "n{n}", count: 2 }]\nlonghorn: ${fields}`, 'my.yaml')
    .longhorn as LonghornClusterDescription
const longhorn = described('{ volumes: [{ name: used, replicas: 2, attachedTo: n1 }, { name: unused, replicas: 1 }] }')

const object = <T>(name: string, rest: object) => ({ apiVersion: '', kind: '', metadata: { name }, ...rest }) as T
const manager = (name: string, currentState = 'running') =>
  object<LonghornInstanceManager>(name, { status: { currentState } })
const budget = (name: string) => object<PodDisruptionBudget>(name, { spec: {} })
const volume = (name: string, status: object) => object<LonghornVolume>(name, { status })
const replica = (volumeName: string, spec = {}) =>
  object<LonghornReplica>(`${volumeName}-r`, { spec: { volumeName, healthyAt: 'then', failedAt: '', ...spec } })

const settled = {
  managers: [manager('im-1'), manager('im-2')],
  volumes: [volume('used', { state: 'attached', robustness: 'healthy' }), volume('unused', { state: 'detached' })],
  replicas: [replica('used'), replica('used'), replica('unused')],
  budgets: [budget('im-1'), budget('im-2')],
}

it('a Longhorn is ready when its volumes are whole and where they should be, and every instance manager is guarded', () => {
  expect(judgeLonghornReadiness(longhorn, settled)).toEqual([])
})

const cases: Record<string, { given: Partial<typeof settled>; waitsFor: string[] }> = {
  'as long as an instance manager starts, nothing else is looked at': {
    given: { managers: [manager('im-1'), manager('im-2', 'starting')], volumes: [], budgets: [] },
    waitsFor: ["Longhorn's instance managers (1 of 2 running)"],
  },
  'a replica that failed, or was never whole, is missing': {
    given: { replicas: [replica('used'), replica('used', { failedAt: 'then' }), replica('unused', { healthyAt: '' })] },
    waitsFor: ['replicas of volume used (1 of 2)', 'replicas of volume unused (0 of 1)'],
  },
  'a replica without a place is told with the reason': {
    given: {
      replicas: [replica('used'), replica('unused')],
      volumes: [
        volume('used', { conditions: [{ type: 'Scheduled', status: 'False', message: 'insufficient storage' }] }),
        volume('unused', { state: 'detached' }),
      ],
    },
    waitsFor: ['replicas of volume used (1 of 2: insufficient storage)'],
  },
  'volumes that are on their way are waited for': {
    given: {
      volumes: [
        volume('used', { state: 'attached', robustness: 'degraded' }),
        volume('unused', { state: 'attaching' }),
      ],
    },
    waitsFor: ['volume used (degraded)', 'volume unused (attaching)'],
  },
  'a volume that nobody has made yet is not known': {
    given: { volumes: [volume('unused', { state: 'detached' })] },
    waitsFor: ['volume used (unknown)'],
  },
  'budgets are waited for': { given: { budgets: [budget('im-2')] }, waitsFor: ['budgets of Longhorn (1 to come)'] },
}
it.each(Object.entries(cases))('%s', (_name, { given, waitsFor }) => {
  expect(judgeLonghornReadiness(longhorn, { ...settled, ...given })).toEqual(waitsFor)
})

it('where an autoscaler works, nodes without anything to protect have no budget to wait for', () => {
  const thinned = described('{ settings: { kubernetes-cluster-autoscaler-enabled: true } }')
  expect(judgeLonghornReadiness(thinned, { ...settled, budgets: [] })).toEqual([])
})
