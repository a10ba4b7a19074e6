import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Lease } from '@cofferdam/kubernetes/api/core.ts'
import {
  medik8sLeaseNamespace,
  nodeHealthChecks,
  openshiftHealthChecks,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { apiVersionOf, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { events, leases, namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { typeOfObject } from '@cofferdam/simulator/api-server/type-of-object.ts'
import { serviceAccountUser } from '@cofferdam/simulator/api-server/user-info.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { expect, it } from 'vitest'
import { operatorAccount } from '../../../deploy/operator-manifests.ts'
import { buildWholeAccess } from '../../../deploy/testing/controller-access.ts'
import { permissionsOf } from '../../../operator/controller-names.ts'
import type { Permission } from '../../../shared/permission.ts'
import { type FencingFixture, openFencingFixture } from '../testing/fencing-fixture.ts'

/** Ceph is looked at by ceph-drain, and the ledger is kept by its keeper: what they may do anyway shows nothing here. */
const besides = ['ceph-drain', 'disruption-ledger'] as const
const controllers = ['fencing', ...besides] as const

/** Everything that fencing reads and writes; tells what came of it. */
async function tell(rights: readonly Permission[]): Promise<unknown> {
  const fixture = await openFencingFixture({ clusterApi: ['v1beta2'] })
  try {
    await prepare(fixture)
    const permissions = {
      ...Object.fromEntries(besides.map((name) => [name, permissionsOf[name]])),
      fencing: rights,
    }
    for (const object of buildWholeAccess(permissions)) {
      await fixture.api.create(typeOfObject(fixture.server.catalogue, object) as ResourceType, object)
    }
    const account = fixture.server.as(serviceAccountUser(operatorAccount.namespace, operatorAccount.name))
    fixture.operate({ api: withoutStreaming(account), controllers })
    return await scenario(fixture)
  } finally {
    await fixture.close()
  }
}

/** Of a server that cannot stream its present state, as before 1.32: collections are listed in pages there. */
function withoutStreaming(api: KubeApi): KubeApi {
  return changedApi(api, {
    watch(type, query) {
      if (query?.sendInitialEvents) throw new ApiError('Invalid', 'sendInitialEvents is forbidden for watch')
      return api.watch(type, query)
    },
  })
}

async function prepare({ api, machines }: FencingFixture): Promise<void> {
  await api.create<KubeObject>(namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: medik8sLeaseNamespace },
  })
  // Of somebody who is gone: it is there to be taken.
  await api.create<Lease>(leases, {
    apiVersion: apiVersionOf(leases),
    kind: leases.kind,
    metadata: { name: 'node-node-x', namespace: medik8sLeaseNamespace },
    spec: { holderIdentity: 'somebody', leaseDurationSeconds: 1, renewTime: '2026-01-01T00:00:00.000000Z' },
  })
  await api.create(nodeHealthChecks, {
    apiVersion: apiVersionOf(nodeHealthChecks),
    kind: nodeHealthChecks.kind,
    metadata: { name: 'all' },
    spec: { selector: {} },
  })
  await api.create(openshiftHealthChecks, {
    apiVersion: apiVersionOf(openshiftHealthChecks),
    kind: openshiftHealthChecks.kind,
    metadata: { name: 'workers', namespace: machines.kinds.namespace },
    spec: { selector: {} },
  })
}

async function scenario(fixture: FencingFixture): Promise<unknown> {
  const { api, world } = fixture
  const told: unknown[] = []
  const note = async () => {
    const { items } = await api.list(leases, { namespace: medik8sLeaseNamespace })
    const check = await api.get(openshiftHealthChecks, { namespace: fixture.machines.kinds.namespace, name: 'workers' })
    const { items: news } = await api.list(events)
    told.push(
      await fixture.budgetLine(),
      await fixture.labelled(),
      items.map(({ metadata, spec }) => `${metadata.name} ${spec?.holderIdentity} ${spec?.renewTime}`),
      Object.keys(check.metadata.annotations ?? {}),
      news.some(({ reason }) => reason === 'FenceAllowed'),
    )
  }
  await fixture.seconds(30)
  await note()
  fixture.ceph.controls.silence(true)
  await fixture.seconds(50)
  world.kubelet.setReady('node-x', false)
  world.kubelet.setReady('node-y', false)
  await fixture.seconds(5)
  await note()
  world.kubelet.setReady('node-x', true)
  world.kubelet.setReady('node-y', true)
  fixture.ceph.controls.silence(false)
  await fixture.seconds(60)
  await note()
  try {
    told.push(await fixture.consume('workers-1'))
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
    return [...told, 'broken off']
  }
  await fixture.seconds(10)
  await note()
  await fixture.patchCluster({ spec: { disruptionManagement: { manageMachineDisruptionBudgets: false } } })
  await fixture.seconds(10)
  await note()
  return told
}

/** Other stories need them: those of Cluster API and of pauses, of what comes after the start, of drains that wait, and of reboots. */
const shownElsewhere = [
  'watch /namespaces  ',
  'watch cluster.x-k8s.io/machines  ',
  'patch cluster.x-k8s.io/machines  ',
  'watch cluster.x-k8s.io/machinehealthchecks  ',
  'watch remediation.medik8s.io/nodehealthchecks  ',
  'patch remediation.medik8s.io/nodehealthchecks  ',
  'get healthchecking.openshift.io/machinedisruptionbudgets  ',
  'patch cofferdam.io/nodedisruptions  ',
]

const key = ({ group, resource, names, namespace }: Permission, verb: string) =>
  `${verb} ${group}/${resource} ${names?.join() ?? ''} ${namespace ?? ''}`

it('the rights of fencing are enough for its whole story, and without any one of them the story is another', async () => {
  const rights = permissionsOf.fencing
  const given = new Set(
    besides.flatMap((name) => permissionsOf[name].flatMap((each) => each.verbs.map((verb) => key(each, verb)))),
  )
  const whole = await tell(rights)
  expect(whole).toMatchObject({ 0: '1: 1 of 3, 3 healthy' })
  const notNeeded: string[] = []
  for (const [at, right] of rights.entries()) {
    for (const verb of right.verbs) {
      if (given.has(key(right, verb))) continue
      const fewer = rights.with(at, { ...right, verbs: right.verbs.filter((each) => each !== verb) })
      const left = fewer.filter(({ verbs }) => verbs.length > 0)
      if (JSON.stringify(await tell(left)) === JSON.stringify(whole)) notNeeded.push(key(right, verb))
    }
  }
  expect(notNeeded).toEqual(shownElsewhere)
})
