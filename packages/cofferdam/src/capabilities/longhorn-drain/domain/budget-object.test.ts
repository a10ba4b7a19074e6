import { createHash } from 'node:crypto'
import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { describe, expect, it } from 'vitest'
import {
  buildHoldBudget,
  decideCsiBudgets,
  heldManagerOf,
  isHoldBudget,
  isInstanceManagerBudget,
  isOverInstanceManager,
  ownBudgetLabel,
} from './budget-object.ts'
import { managerView } from './testing/longhorn-fixture.ts'
import { holdBudget, longhornBudget } from './testing/longhorn-objects.ts'

const sha512Hex = (text: string) => createHash('sha512').update(text).digest('hex')

describe('the budget that holds an instance manager', () => {
  it("covers its pod on its own node alone, and lacks the component: Longhorn deletes a budget that has it and not a manager's name", () => {
    const manager = managerView('n1', {
      name: 'instance-manager-1',
      image: 'longhornio/longhorn-instance-manager:v1.8.0',
    })
    expect(buildHoldBudget(manager, sha512Hex, 'longhorn-system')).toEqual({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'cofferdam-hold-instance-manager-1', namespace: 'longhorn-system', labels: ownBudgetLabel },
      spec: {
        minAvailable: 1,
        selector: {
          matchLabels: {
            'longhorn.io/managed-by': 'longhorn-manager',
            'longhorn.io/instance-manager-type': 'aio',
            'longhorn.io/node': 'n1',
            'longhorn.io/instance-manager-image': `imi-${sha512Hex('longhornio-longhorn-instance-manager-v1.8.0').slice(0, 8)}`,
            'longhorn.io/data-engine': 'v1',
          },
        },
      },
    })
  })

  it('is recognized by its name and our label, and holds nothing once it was changed', () => {
    const ours = buildHoldBudget(managerView('n1'), sha512Hex, 'longhorn-system')
    const foreign = { ...ours, metadata: { ...ours.metadata, labels: {} } }
    const emptied = { ...ours, spec: { ...ours.spec, minAvailable: 0 } }
    const bare = { ...ours, spec: undefined } as unknown as PodDisruptionBudget
    expect([ours, foreign, emptied, bare].map(heldManagerOf)).toEqual(['im-n1', undefined, undefined, undefined])
    expect([ours, foreign, emptied, bare].map(isHoldBudget)).toEqual([true, false, true, true])
  })

  it("Longhorn's own is recognized by its selector, and a budget of the same name for other pods is not taken for one", () => {
    const matchLabels = { 'longhorn.io/component': 'instance-manager' }
    const ours = buildHoldBudget(managerView('n1'), sha512Hex, 'longhorn-system')
    const longhorns = { ...ours, spec: { minAvailable: 1, selector: { matchLabels } } }
    const foreign = { ...ours, spec: { minAvailable: 1, selector: { matchLabels: { app: 'x' } } } }
    expect([longhorns, foreign, ours].map(isInstanceManagerBudget)).toEqual([true, false, false])
  })
})

describe('the budgets of the CSI sidecars', () => {
  const deployment = (name: string): Deployment => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'longhorn-system' },
    spec: { selector: { matchLabels: { app: name } }, template: { spec: { containers: [] } } },
  })
  const deployments = ['csi-attacher', 'csi-provisioner', 'csi-resizer'].map(deployment)
  const both = new Set(['csi-attacher', 'csi-provisioner', 'someone-elses'])

  it('are made while any volume is not detached, with the selectors of their Deployments', () => {
    const decision = decideCsiBudgets({
      volumes: [{ state: 'detached' }, { state: 'moving' }],
      isOneUnreadable: false,
      deployments,
      existing: new Set(),
    })
    expect(decision.create.map(({ metadata, spec }) => [metadata.name, spec])).toEqual([
      ['csi-attacher', { minAvailable: 1, selector: { matchLabels: { app: 'csi-attacher' } } }],
      ['csi-provisioner', { minAvailable: 1, selector: { matchLabels: { app: 'csi-provisioner' } } }],
    ])
    expect(decision.remove).toEqual([])
  })

  it('go when every volume is detached, and no others go with them', () => {
    const input = { volumes: [{ state: 'detached' as const }], deployments, existing: both }
    expect(decideCsiBudgets({ ...input, isOneUnreadable: false })).toEqual({
      create: [],
      remove: ['csi-attacher', 'csi-provisioner'],
    })
  })

  it('stay when a volume cannot be read, since it may be attached', () => {
    const input = { volumes: [], deployments, existing: both }
    expect(decideCsiBudgets({ ...input, isOneUnreadable: true })).toEqual({ create: [], remove: [] })
  })
})

it('a budget is about an instance manager when it is Longhorn’s or one of ours, and no other is: it would be reported as lost', () => {
  const other = { ...longhornBudget('n1'), metadata: { name: 'shop' }, spec: { minAvailable: 1 } }
  expect([longhornBudget('n1'), holdBudget('n1'), other].map(isOverInstanceManager)).toEqual([true, true, false])
})
