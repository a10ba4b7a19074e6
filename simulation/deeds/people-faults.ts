import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { disruptionLedgers, ledgerName } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { shop } from '../oracle/watch-apps.ts'
import { between, oneOf } from '../story.ts'
import { always, type DeedPorts, type FaultKind, withCeph } from './deed-kind.ts'

const longMs = 10 * 60_000

async function anyBudget({ stage, random }: DeedPorts) {
  const name = oneOf(random, stage.shape.apps)
  return stage.api.get(podDisruptionBudgets, { namespace: shop, name }).catch(() => undefined)
}

/** What people do who have every right and little care. */
export const peopleFaults: Readonly<Record<string, FaultKind>> = {
  'another user deletes pods': {
    row: 'F23',
    fits: always,
    async apply({ stage, random, tell, excuses }) {
      const found = [...stage.views.of(pods).values()].filter(({ metadata }) => metadata.namespace === shop)
      if (found.length === 0) return
      const { metadata } = oneOf(random, found)
      tell(`somebody deletes ${metadata.name}`)
      excuses.meddled(`app ${metadata.labels?.['app']}`, longMs)
      await stage.api.delete(pods, { namespace: shop, name: metadata.name }).catch(() => undefined)
    },
  },
  'another user deletes the pod of an OSD': {
    row: 'F23',
    fits: withCeph,
    async apply({ stage, random, tell, excuses }) {
      const osd = oneOf(random, stage.shape.osds)
      const pod = [...stage.views.of(pods).values()].find(
        ({ metadata }) =>
          metadata.labels?.['ceph-osd-id'] === String(osd) && metadata.labels['app'] === 'rook-ceph-osd',
      )
      if (pod === undefined) return
      tell(`somebody deletes the pod of osd.${osd}`)
      excuses.broke(`osd ${osd}`)
      const { namespace = '', name } = pod.metadata
      await stage.api.delete(pods, { namespace, name }).catch(() => undefined)
    },
  },
  'another user deletes a budget and creates it again': {
    row: 'F13',
    fits: always,
    async apply(ports) {
      const { stage, tell, excuses } = ports
      const before = await anyBudget(ports)
      if (before === undefined) return
      const { namespace = shop, name } = before.metadata
      tell(`somebody makes the budget ${name} anew`)
      excuses.meddled(`app ${name}`, longMs)
      await stage.api.delete(podDisruptionBudgets, { namespace, name }).catch(() => undefined)
      const { apiVersion, kind, spec } = before
      await stage.api.create(podDisruptionBudgets, { apiVersion, kind, metadata: { namespace, name }, spec })
    },
  },
  'another user edits a budget': {
    row: 'F23',
    fits: always,
    async apply(ports) {
      const { stage, tell, excuses, atHome } = ports
      const before = await anyBudget(ports)
      if (before === undefined) return
      const { namespace = shop, name } = before.metadata
      const set = (spec: typeof before.spec) => {
        const { maxUnavailable = null, minAvailable = null } = spec
        const body = { spec: { maxUnavailable, minAvailable } }
        return stage.api
          .patch(podDisruptionBudgets, { namespace, name }, { type: 'merge', body })
          .catch(() => undefined)
      }
      tell(`somebody edits the budget ${name}`)
      excuses.meddled(`app ${name}`, 2 * longMs)
      await set({ maxUnavailable: '50%' })
      atHome(() => set(before.spec))
    },
  },
  'another user puts a second budget over an application': {
    row: 'F23',
    fits: always,
    async apply(ports) {
      const { stage, tell, atHome } = ports
      const before = await anyBudget(ports)
      if (before === undefined) return
      const { apiVersion, kind, spec } = before
      const key = { namespace: shop, name: `${before.metadata.name}-again` }
      tell(`somebody puts a second budget over ${before.metadata.name}`)
      await stage.api.create(podDisruptionBudgets, { apiVersion, kind, metadata: key, spec }).catch(() => undefined)
      atHome(() => stage.api.delete(podDisruptionBudgets, key).catch(() => undefined))
    },
  },
  'another user deletes a budget of storage': {
    row: 'F23',
    fits: withCeph,
    async apply({ stage, random, tell, excuses }) {
      const { namespace } = stage.description.ceph ?? {}
      const found = [...stage.views.of(podDisruptionBudgets).values()].filter(
        ({ metadata }) => metadata.namespace === namespace,
      )
      if (found.length === 0) return
      const { name } = oneOf(random, found).metadata
      tell(`somebody deletes the budget ${name}`)
      excuses.meddled('storage', 3 * 60_000)
      await stage.api.delete(podDisruptionBudgets, { namespace: namespace ?? '', name }).catch(() => undefined)
    },
  },
  'another user opens a node': {
    row: 'F22',
    fits: always,
    async apply({ stage, random, tell }) {
      const name = oneOf(random, stage.shape.nodes)
      tell(`somebody opens ${name}`)
      await stage.api
        .patch(nodes, { name }, { type: 'merge', body: { spec: { unschedulable: null } } })
        .catch(() => undefined)
    },
  },
  'another user deletes a request': {
    row: 'F13',
    fits: always,
    async apply({ stage, random, tell }) {
      const names = [...stage.views.of(nodeDisruptions).values()].map(({ metadata }) => metadata.name)
      if (names.length === 0) return
      const name = oneOf(random, names)
      tell(`somebody deletes ${name}`)
      await stage.api.delete(nodeDisruptions, { name }).catch(() => undefined)
    },
  },
  'another user deletes the ledger': {
    row: 'F27',
    fits: always,
    async apply({ stage, tell, excuses }) {
      tell('somebody deletes the ledger')
      excuses.meddled('ledger', 60_000)
      await stage.api.delete(disruptionLedgers, { name: ledgerName }).catch(() => undefined)
    },
  },
  'another user kills the mgr and mon pods of a node': {
    row: 'F23',
    fits: withCeph,
    async apply({ stage, random, tell, excuses }) {
      const node = oneOf(random, stage.shape.nodes)
      const found = [...stage.views.of(pods).values()].filter(
        ({ metadata, spec }) => spec.nodeName === node && /^rook-ceph-(mon|mgr)-/.test(metadata.name),
      )
      tell(`somebody deletes mons and mgrs on ${node}`)
      excuses.hindered(between(random, 60, 61) * 1_000)
      excuses.meddled('mons', longMs)
      for (const { metadata } of found) {
        const { namespace = '', name } = metadata
        await stage.api.delete(pods, { namespace, name }).catch(() => undefined)
      }
    },
  },
}
