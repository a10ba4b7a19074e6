import { configMaps, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { appLockAnnotation } from '@cofferdam/product/shared/app-lock-annotation.ts'
import { disruptionLedgers, ledgerName } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { openTenant } from '../../scenarios/testing/tenant.ts'
import { between, oneOf } from '../story.ts'
import { always, type FaultKind } from './deed-kind.ts'

const namespace = 'tenant'
const verbs = ['get', 'list', 'create', 'update', 'patch', 'delete']

/** What somebody does who may do everything in a namespace of his own, and nothing elsewhere. */
export const tenantFaults: Readonly<Record<string, FaultKind>> = {
  'a tenant with rights in one namespace creates objects with the labels of storage': {
    row: 'F23',
    fits: always,
    async apply({ stage, random, tell, number, blame, atHome }) {
      tell('a tenant makes objects that look like others')
      const api = await openTenant(stage.server, `${namespace}-${number}`, [
        { group: '', resource: 'pods', verbs },
        { group: '', resource: 'configmaps', verbs },
        { group: 'policy', resource: 'poddisruptionbudgets', verbs },
      ])
      const at = { namespace: `${namespace}-${number}` }
      const labels = { app: 'rook-ceph-osd', 'ceph-osd-id': '0', osd: '0', 'cofferdam.io/made-for': 'kured' }
      const until = rfc3339(stage.clock.now() + between(random, 1, 100_000) * 60_000)
      const lies = ['{', '{"until":5}', JSON.stringify({ until, holder: 'x'.repeat(5_000), reason: '\n\u202e' })]
      // As long as it is there, no drain of the node that his pod is on can end.
      atHome(() => stage.api.delete(podDisruptionBudgets, { ...at, name: 'rook-ceph-osd' }).catch(() => undefined))
      await api.create(podDisruptionBudgets, {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { ...at, name: 'rook-ceph-osd', labels, annotations: { [appLockAnnotation]: oneOf(random, lies) } },
        spec: { maxUnavailable: 0, selector: {} },
      })
      await api.create(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { ...at, name: 'rook-ceph-osd-0', labels, annotations: { 'cofferdam.io/skip-drain': 'perhaps' } },
        spec: { containers: [{ name: 'osd', image: 'registry.example/evil:1' }] },
      })
      await api.create(configMaps, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { ...at, name: 'cofferdam-osd-update', labels },
        data: { record: '{"osds":"all"}' },
      })
      const elsewhere = [
        api.patch(
          nodes,
          { name: oneOf(random, stage.shape.nodes) },
          { type: 'merge', body: { spec: { unschedulable: true } } },
        ),
        api.delete(disruptionLedgers, { name: ledgerName }),
      ]
      const allowed = (await Promise.allSettled(elsewhere)).filter(({ status }) => status === 'fulfilled')
      if (allowed.length > 0) blame('S19', 'a tenant wrote what is not his')
    },
  },
}
