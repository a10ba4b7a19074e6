import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { configMaps, deployments, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import {
  besideRook,
  type CephFixture,
  namespace,
  openCephFixture,
} from '@cofferdam/product/capabilities/ceph-drain/testing/ceph-fixture.ts'
import { installDefinitions } from '@cofferdam/product/ledger/store/testing/ledger-fixture.ts'
import type { Operator } from '@cofferdam/product/operator/operator.ts'
import { rookOperatorDeployment, startRookBudgets } from '@cofferdam/simulator/world/ceph/rook/budget-controller.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'

/** A cluster whose budgets Rook has managed from the start. */
export interface BesideRook {
  readonly fixture: CephFixture
  /** Every write of Rook: `update configmaps/rook-ceph-pdbstatemap`. */
  readonly rooksWrites: string[]
  operate(api?: KubeApi): Operator
  adopt(): Promise<void>
  release(toRook?: boolean): Promise<void>
  /** Names of budgets, those with our mark with a star. */
  marks(): Promise<string[]>
  stateMap(): Promise<ConfigMap | undefined>
  /** Buckets with noout. */
  noout(): Promise<string[]>
  scaleRook(replicas: number): Promise<void>
  close(): Promise<void>
}

export async function openBesideRook(): Promise<BesideRook> {
  const fixture = await openCephFixture()
  const { api, clock, random, world, ceph, failures } = fixture
  const rooksWrites: string[] = []
  await installDefinitions(api)
  const cluster = { namespace, name: 'rook-ceph' }
  await api.create(deployments, rookOperatorDeployment(namespace))
  const note = (verb: string, { plural }: { plural: string }, name: string) =>
    rooksWrites.push(`${verb} ${plural}/${name}`)
  const noted = changedApi(api, {
    create(type, object, options) {
      note('create', type, object.metadata.name)
      return api.create(type, object, options)
    },
    update(type, object, options) {
      note('update', type, object.metadata.name)
      return api.update(type, object, options)
    },
    delete(type, key, options) {
      note('delete', type, key.name)
      return api.delete(type, key, options)
    },
  })
  const rook = startRookBudgets(
    { api: noted, clock, random, views: world.views, onFailure: (failure) => failures.push(failure) },
    { cluster, commands: ceph.commands, failureDomainType: 'zone' },
  )
  await fixture.seconds(60)
  const say = (budgets: string, managePodBudgets: boolean) =>
    fixture.patchCluster({
      metadata: { annotations: { 'cofferdam.io/budgets': budgets } },
      spec: { disruptionManagement: { managePodBudgets } },
    })
  return {
    fixture,
    rooksWrites,
    operate: (through) =>
      fixture.operate({
        trust: besideRook,
        controllers: ['ceph-drain', 'ceph-static-budgets', 'disruption-ledger'],
        ...(through === undefined ? {} : { api: through }),
      }),
    adopt: () => say('manage', false),
    release: (toRook = true) => say('observe', toRook),
    async marks() {
      const { items } = await api.list(podDisruptionBudgets, { namespace })
      return items.map(({ metadata }) => {
        const isOurs = metadata.labels?.['app.kubernetes.io/managed-by'] === 'cofferdam'
        return `${metadata.name}${isOurs ? '*' : ''}`
      })
    },
    async stateMap() {
      try {
        return await api.get(configMaps, { namespace, name: 'rook-ceph-pdbstatemap' })
      } catch (error) {
        if (!hasReason(error, 'NotFound')) throw error
        return undefined
      }
    },
    async noout() {
      const { out } = await ceph.commands.run({ prefix: 'osd dump' })
      return Object.keys((JSON.parse(out) as { crush_node_flags: object }).crush_node_flags)
    },
    async scaleRook(replicas) {
      const patch = { type: 'merge', body: { spec: { replicas } } } as const
      await api.patch(deployments, { namespace, name: 'rook-ceph-operator' }, patch)
    },
    async close() {
      rook.stop()
      await fixture.close()
    },
  }
}

export const budgetWrites = (written: readonly string[]) =>
  written.filter((write) => /poddisruptionbudgets|pdbstatemap/.test(write))
