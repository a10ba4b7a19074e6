import { describe, expect, it } from 'vitest'
import { explainBudget } from '../../explain/explain-budget.ts'
import { explainNode } from '../../explain/explain-node.ts'
import { verdictOf } from '../../explain/judge-unread.ts'
import type { NodeSnapshot } from '../../explain/snapshot.ts'
import {
  budget,
  earlier,
  node,
  now,
  osdBudget,
  osdPod,
  pod,
  storageView,
} from '../../explain/testing/sample-objects.ts'
import { capabilities, shownOf } from '../../operator/capabilities.ts'
import type { Paint } from '../../shared/paint.ts'
import { renderExplained } from './explain-text.ts'

const list = shownOf(capabilities)

const plain: Paint = (_style, text) => text

function nodeText(snapshot: Omit<NodeSnapshot, 'now'>, paint = plain): string[] {
  const explained = explainNode({ ...snapshot, now })
  const verdict = verdictOf(explained)
  return renderExplained({ kind: 'node', ...explained, verdict, observedAt: now, notSeen: [] }, { list, paint }).split(
    '\n',
  )
}

describe('what people read', () => {
  it('of a node that is free', () => {
    const pods = [
      pod('web-1'),
      pod('web-2'),
      pod('debug', { ownerKind: undefined }),
      pod('cache-1', { spec: { volumes: [{ name: 'scratch', emptyDir: {} }] } }),
      pod('agent-x', { ownerKind: 'DaemonSet' }),
    ]
    expect(nodeText({ node: node('worker-a1'), pods, budgets: [budget('web')], storage: [] })).toEqual([
      'node/worker-a1  free: All 4 pods may go, 1 of them queued.',
      '',
      '  state     Ready',
      '',
      'POD           ANSWER  WHY',
      'shop/web-2    queued  budget web: it follows as soon as another pod of it is healthy elsewhere',
      'shop/cache-1  goes    no budget covers it',
      'shop/debug    goes    no budget covers it',
      'shop/web-1    goes    budget web: it allows the eviction of one pod now',
      'shop/agent-x  stays   it belongs to a DaemonSet',
      '',
      '--delete-emptydir-data: what is in the emptyDir volumes of shop/cache-1 is lost',
      '--force: no controller brings back shop/debug',
      '',
      'To drain it: kubectl drain worker-a1 --ignore-daemonsets --delete-emptydir-data --force',
    ])
  })

  it('of a node that a tool empties by its taint, which is named', () => {
    const spec = { taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }] } as const
    const pods = [pod('web-1', { node: 'node-b' })]
    const state = (node_: ReturnType<typeof node>) => nodeText({ node: node_, pods, budgets: [], storage: [] })[2]
    expect(state(node('node-b', { spec }))).toBe(
      '  state     Ready, closed by taint karpenter.sh/disrupted (Karpenter), none of its pods is being evicted',
    )
    expect(state(node('node-b', { spec: { ...spec, unschedulable: true } }))).toBe(
      '  state     Ready, cordoned, closed by taint karpenter.sh/disrupted (Karpenter), none of its pods is being evicted',
    )
  })

  it('of a node that an app and the storage block', () => {
    const orders = budget('orders', { disruptionsAllowed: 0, currentHealthy: 2 }, { spec: { minAvailable: 2 } })
    const pods = [
      pod('orders-0', { node: 'node-b' }),
      pod('orders-1', { node: 'node-c' }),
      pod('orders-2', { node: 'node-c', isReady: false }),
      osdPod(2, { zone: 'zone-y', node: 'node-b' }),
      osdPod(3, { zone: 'zone-y', node: 'node-b' }),
    ]
    const budgets = [orders, osdBudget('zone-y'), osdBudget('zone-z')]
    const cordoned = node('node-b', { spec: { unschedulable: true } })
    expect(nodeText({ node: cordoned, pods, budgets, storage: [storageView()] })).toEqual([
      'node/node-b  blocked: 3 of 3 pods may not go now.',
      '',
      '  state     Ready, cordoned, none of its pods is being evicted',
      '  storage   rook-ceph/rook-ceph, zone zone-y, osd.2 osd.3: zone-x is being drained; the others wait (DomainOpen for 10m, as last recorded)',
      '',
      'pdb/shop/orders  BudgetExhausted for 10m',
      '  why       it needs 2 healthy pods and has 2 of 3',
      '            pod/shop/orders-2 is not ready, for 10m',
      '  held by   pod/shop/orders-2',
      '  ends with more than 2 healthy pods',
      '  override  kubectl -n shop delete pod NAME bypasses the budget; shop/orders then has one healthy pod less',
      '  waiting   pod/shop/orders-0',
      '',
      'pdb/rook-ceph/rook-ceph-osd-zone-zone-y  DomainOpen for 10m',
      '  why       zone-x is being drained; the others wait',
      '  held by   cephcluster/rook-ceph/rook-ceph',
      '  ends with zone zone-x back with all its OSDs, and the placement groups clean',
      '  override  kubectl -n rook-ceph delete pod NAME bypasses the budget; data may become unavailable, or be lost with the next failure',
      '  waiting   pod/rook-ceph/rook-ceph-osd-2, pod/rook-ceph/rook-ceph-osd-3',
      '',
      'POD                        ANSWER  WHY',
      'rook-ceph/rook-ceph-osd-2  waits   budget rook-ceph-osd-zone-zone-y: its failure domain is held (DomainOpen)',
      'rook-ceph/rook-ceph-osd-3  waits   budget rook-ceph-osd-zone-zone-y: its failure domain is held (DomainOpen)',
      'shop/orders-0              waits   budget orders: it needs 2 healthy pods and has 2 of 3',
    ])
  })

  it('of a budget, with each of its pods', () => {
    const orders = budget('orders', { disruptionsAllowed: 0, currentHealthy: 1 }, { spec: { minAvailable: 2 } })
    const gone = { deletionTimestamp: now }
    const target = { type: 'DisruptionTarget', status: 'True', lastTransitionTime: earlier } as const
    const pods = [
      pod('orders-0'),
      pod('orders-1', { metadata: gone, status: { phase: 'Running', conditions: [target] } }),
    ]
    const explained = explainBudget({ budget: orders, pods, storage: [] })
    const text = renderExplained(
      { kind: 'pdb', ...explained, verdict: 'blocked', observedAt: now, notSeen: [] },
      { list, paint: plain },
    )
    expect(text.split('\n')).toEqual([
      'pdb/shop/orders  blocked: It allows no eviction now.',
      '',
      '  rule      at least 2 up',
      '  healthy   1 of 3, needs 2',
      '',
      'pdb/shop/orders  BudgetExhausted for 10m',
      '  why       it needs 2 healthy pods and has 1 of 3',
      '            pod/shop/orders-1 is leaving, for 10m',
      '  held by   pod/shop/orders-1, 1 pod not made yet',
      '  ends with more than 2 healthy pods',
      '  override  kubectl -n shop delete pod NAME bypasses the budget; shop/orders then has one healthy pod less',
      '  waiting   pod/shop/orders-0',
      '',
      'POD            NODE       HEALTHY  STATE       FOR',
      'shop/orders-0  worker-a1  yes      is ready    10m',
      'shop/orders-1  worker-a1  no       is leaving  10m',
    ])
  })

  it('is coloured where colours are wanted, and only there', () => {
    const marked: Paint = (style, text) => `<${style}>${text}</>`
    const lines = nodeText({ node: node('worker-a1'), pods: [pod('web-1')], budgets: [], storage: [] }, marked)
    expect(lines[0]).toBe('<bold>node/worker-a1</>  <green>free</>: Its only pod may go.')
  })

  it('of what could not be read, at the end', () => {
    const explained = explainNode({ node: node('worker-a1'), pods: [], budgets: [], storage: [], now })
    const text = renderExplained(
      { kind: 'node', ...explained, verdict: 'free', observedAt: now, notSeen: ['cephclusters: forbidden'] },
      { list, paint: plain },
    )
    expect(text.split('\n').at(-1)).toBe('not seen: cephclusters: forbidden')
  })
})
