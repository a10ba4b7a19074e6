import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { describe, expect, it } from 'vitest'
import type { HostedPod } from '../capabilities/drain-lock/observe/objects.ts'
import { emptyLedger } from '../ledger/rules/ledger.ts'
import { known, type Observed, unknown } from '../shared/observed.ts'
import { findUnread } from './unread-on-node.ts'

const forbidden = 'nodes.longhorn.io: nodes.longhorn.io is forbidden'
const noReplicas = 'replicas.longhorn.io: replicas.longhorn.io is forbidden'
const notListed = unknown('they may not be read')
const manager = {
  nodeName: 'n1',
  namespace: 'longhorn-system',
  labels: { 'longhorn.io/component': 'instance-manager' },
}
const web = { nodeName: 'n2', namespace: 'shop', labels: { app: 'web' } }
const managerBudget = {
  metadata: { name: 'instance-manager-1', namespace: 'longhorn-system' },
  spec: { minAvailable: 1, selector: { matchLabels: { 'longhorn.io/component': 'instance-manager' } } },
} as unknown as PodDisruptionBudget

interface Case {
  readonly unread: readonly string[]
  readonly pods: readonly object[]
  readonly budgets?: readonly PodDisruptionBudget[]
  readonly listed: Observed<ReadonlySet<string>>
  readonly isDefined?: boolean
  readonly then: readonly string[]
}

const cases: Record<string, Case> = {
  'all nodes, where Longhorn runs somewhere and does not say on which: one without its pods may have the last copy': {
    unread: [forbidden],
    pods: [manager, web],
    listed: notListed,
    then: ['n1', 'n2', 'n3'],
  },
  'all nodes, where nothing but a budget shows that Longhorn is there': {
    unread: [forbidden],
    pods: [web],
    budgets: [managerBudget],
    listed: notListed,
    then: ['n1', 'n2', 'n3'],
  },
  'all nodes, where none of its instance managers runs and its own manager does: stopped copies are copies': {
    unread: [forbidden],
    pods: [{ nodeName: 'n3', namespace: 'longhorn-system', labels: { app: 'longhorn-manager' } }, web],
    listed: notListed,
    then: ['n1', 'n2', 'n3'],
  },
  'all nodes, where nothing of Longhorn runs and the cluster has its kinds: copies on disks are copies': {
    unread: [forbidden],
    pods: [web],
    listed: notListed,
    isDefined: true,
    then: ['n1', 'n2', 'n3'],
  },
  'no node, where nothing shows that Longhorn is there: the server forbids what it does not have, too': {
    unread: [forbidden],
    pods: [web],
    listed: notListed,
    then: [],
  },
  'those that Longhorn lists, where it does and its replicas may not be read, with or without its pods': {
    unread: [noReplicas],
    pods: [web],
    listed: known(new Set(['n1', 'n3'])),
    then: ['n1', 'n3'],
  },
  'those with an instance manager that Longhorn does not list any more, too': {
    unread: [noReplicas],
    pods: [manager],
    listed: known(new Set(['n3'])),
    then: ['n1', 'n3'],
  },
  'no node, where all of Longhorn was read': {
    unread: [],
    pods: [manager, web],
    listed: known(new Set(['n1'])),
    then: [],
  },
}

describe('nodes that cannot be judged', () => {
  it.each(Object.entries(cases))('%s', (_sentence, { unread, pods, budgets = [], listed, isDefined = false, then }) => {
    const hosted = pods as readonly HostedPod[]
    const unreadOn = findUnread({
      notSeen: unread,
      ledger: known(emptyLedger),
      pods: { list: () => hosted, byIndex: (_, node) => hosted.filter(({ nodeName }) => nodeName === node) },
      budgets,
      longhornNodes: listed,
      isLonghornDefined: isDefined,
    })
    expect(['n1', 'n2', 'n3'].filter((node) => unreadOn(node) !== undefined)).toEqual(then)
  })
})
