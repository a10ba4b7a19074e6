import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { describe, expect, it } from 'vitest'
import { capabilities, type OperatorCapability } from '../operator/capabilities.ts'

const list: readonly OperatorCapability[] = capabilities
const traces = list.flatMap((capability) => capability.traces)

/** What all traces of its kind would do with an object: bodies of patches, or the word delete. */
function removalsOf(kind: string, object: Record<string, unknown>, rooksNamespaces: readonly string[] = []): unknown[] {
  const ofKind = ({ plural, group, version }: ResourceType) =>
    `${plural}.${group}` === kind && !(group === 'cluster.x-k8s.io' && version === 'v1beta1')
  return traces
    .filter(({ type, place }) => ofKind(type) && (typeof place !== 'object' || place.name === undefined))
    .flatMap(
      (trace) => trace.removal(object as unknown as KubeObject, { rooksNamespaces: new Set(rooksNamespaces) }) ?? [],
    )
    .map((removal) => (removal.verb === 'delete' ? 'delete' : removal.patch.body))
}

const metadata = (more: object) => ({ namespace: 'ns', name: 'x', resourceVersion: '7', ...more })
const seen = { resourceVersion: '7' }

describe('what is taken off an object', () => {
  const cases: Readonly<Record<string, readonly [kind: string, object: Record<string, unknown>, removals: unknown[]]>> =
    {
      'a cordon of Cofferdam is lifted: the node would stay empty for good': [
        'nodes.',
        { metadata: metadata({ annotations: { 'cofferdam.io/cordoned-by': 'uid' } }), spec: { unschedulable: true } },
        [{ metadata: { ...seen, annotations: { 'cofferdam.io/cordoned-by': null } }, spec: { unschedulable: null } }],
      ],
      'the cordon of another user stays: the node would take pods in the middle of their work': [
        'nodes.',
        { metadata: metadata({}), spec: { unschedulable: true } },
        [],
      ],
      'a mark for autoscalers that Cofferdam set goes, the one that a user set stays': [
        'nodes.',
        {
          metadata: metadata({
            annotations: {
              'cofferdam.io/kept-from-scale-down': 'karpenter.sh/do-not-disrupt',
              'karpenter.sh/do-not-disrupt': 'true',
              'cluster-autoscaler.kubernetes.io/scale-down-disabled': 'true',
            },
          }),
        },
        [
          {
            metadata: {
              ...seen,
              annotations: { 'karpenter.sh/do-not-disrupt': null, 'cofferdam.io/kept-from-scale-down': null },
            },
          },
        ],
      ],
      'a budget that a request lowered allows again what its owner wanted: it would block every drain': [
        'poddisruptionbudgets.policy',
        {
          metadata: metadata({
            annotations: {
              'cofferdam.io/held-by':
                '{"requestId":"u","request":"r","epoch":3,"until":"2026-01-01T00:00:00Z","formerLimit":{"minAvailable":2}}',
            },
          }),
          spec: { maxUnavailable: 0 },
        },
        [
          {
            metadata: { ...seen, annotations: { 'cofferdam.io/held-by': null } },
            spec: { minAvailable: 2, maxUnavailable: null },
          },
        ],
      ],
      'a budget of another product stays, whatever its name is': [
        'poddisruptionbudgets.policy',
        { metadata: metadata({ name: 'rook-ceph-osd' }), spec: {} },
        [],
      ],
      'hooks of Cofferdam leave a Machine, hooks of others stay: else the Machine could never be deleted, or too soon':
        [
          'machines.machine.openshift.io',
          {
            metadata: metadata({}),
            spec: {
              lifecycleHooks: {
                preDrain: [{ name: 'cofferdam' }, { name: 'etcd' }],
                preTerminate: [{ name: 'cofferdam-fencing' }],
              },
            },
          },
          [
            { metadata: seen, spec: { lifecycleHooks: { preTerminate: null } } },
            { metadata: seen, spec: { lifecycleHooks: { preDrain: [{ name: 'etcd' }] } } },
          ],
        ],
      'the pause of a health check ends where it is of Cofferdam: dead machines would never be replaced': [
        'machinehealthchecks.machine.openshift.io',
        {
          metadata: metadata({
            annotations: { 'cluster.x-k8s.io/paused': 'cofferdam', 'cofferdam.io/set-by-fencing': 'paused' },
          }),
        },
        [
          {
            metadata: {
              ...seen,
              annotations: { 'cluster.x-k8s.io/paused': null, 'cofferdam.io/set-by-fencing': null },
            },
          },
        ],
      ],
      'a NodeHealthCheck loses the pause request of Cofferdam alone': [
        'nodehealthchecks.remediation.medik8s.io',
        {
          metadata: metadata({}),
          spec: { pauseRequests: ['upgrade', 'cofferdam: a node of this check must not be fenced now'] },
        },
        [{ metadata: seen, spec: { pauseRequests: ['upgrade'] } }],
      ],
      'a Lease of a node that another holds stays with them': [
        'leases.coordination.k8s.io',
        { metadata: metadata({}), spec: { holderIdentity: 'node-healthcheck' } },
        [],
      ],
      'a pool that Cofferdam paused is updated again': [
        'machineconfigpools.machineconfiguration.openshift.io',
        {
          metadata: metadata({ annotations: { 'cofferdam.io/paused-by': '{"since":"2026-01-01T00:00:00Z"}' } }),
          spec: { paused: true },
        },
        [{ metadata: { ...seen, annotations: { 'cofferdam.io/paused-by': null } }, spec: { paused: false } }],
      ],
      'a pool that a user paused since stays paused': [
        'machineconfigpools.machineconfiguration.openshift.io',
        {
          metadata: metadata({ annotations: { 'cofferdam.io/paused-by': '{"lifted":"2026-01-01T00:00:00Z"}' } }),
          spec: { paused: true },
        },
        [{ metadata: { ...seen, annotations: { 'cofferdam.io/paused-by': null } } }],
      ],
      'the label that paces Rook leaves an OSD: Rook would never update it': [
        'deployments.apps',
        { metadata: metadata({ labels: { 'ceph.rook.io/do-not-reconcile': 'cofferdam-pace' } }) },
        [{ metadata: { labels: { 'ceph.rook.io/do-not-reconcile': null } } }],
      ],
      'the same label of a user stays': [
        'deployments.apps',
        { metadata: metadata({ labels: { 'ceph.rook.io/do-not-reconcile': 'true' } }) },
        [],
      ],
      'the result of a prepare Job of Rook stays, that of Cofferdam goes': [
        'configmaps.',
        { metadata: metadata({ name: 'rook-ceph-osd-a-status', labels: { app: 'rook-ceph-osd' } }) },
        [],
      ],
    }
  it.each(Object.entries(cases))('%s', (_, [kind, object, removals]) => {
    expect(removalsOf(kind, object)).toEqual(removals)
  })

  it('a budget of OSDs stays without the mark where Rook manages them: to delete it would leave them without one', () => {
    const labels = { 'app.kubernetes.io/managed-by': 'cofferdam' }
    const budget = { metadata: metadata({ name: 'rook-ceph-osd', labels }), spec: { maxUnavailable: 1 } }
    const kind = 'poddisruptionbudgets.policy'
    expect(removalsOf(kind, budget)).toEqual(['delete'])
    expect(removalsOf(kind, budget, ['ns'])).toEqual([
      {
        metadata: {
          ...seen,
          labels: { 'app.kubernetes.io/managed-by': null },
          annotations: { 'cofferdam.io/retired-at': null },
        },
      },
    ])
  })
})
