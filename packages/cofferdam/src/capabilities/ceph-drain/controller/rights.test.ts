import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { typeOfObject } from '@cofferdam/simulator/api-server/type-of-object.ts'
import { serviceAccountUser } from '@cofferdam/simulator/api-server/user-info.ts'
import { expect, it } from 'vitest'
import { operatorAccount } from '../../../deploy/operator-manifests.ts'
import { buildWholeAccess } from '../../../deploy/testing/controller-access.ts'
import { permissionsOf } from '../../../operator/controller-names.ts'
import { namespace, openCephFixture, smallCluster } from '../testing/ceph-fixture.ts'

const controllers = ['ceph-drain', 'ceph-static-budgets'] as const
const services = `${smallCluster}
  filesystems: [{ name: files, active: 1, standby: true }]
`
const calm = [
  'rook-ceph-mds-files: at least 1 of rook_file_system=files',
  'rook-ceph-mgr-pdb: 0 of app=rook-ceph-mgr',
  'rook-ceph-mon-pdb: 0 of app=rook-ceph-mon',
  'rook-ceph-osd: 1 of all',
]

/** With no more rights than those of deploy/, on a server that lets nobody hold up what is not theirs. */
async function openStrict() {
  const fixture = await openCephFixture(services, 1, { enforcesOwnerPermissions: true })
  const access = buildWholeAccess(Object.fromEntries(controllers.map((name) => [name, permissionsOf[name]])))
  for (const object of access) {
    await fixture.api.create(typeOfObject(fixture.server.catalogue, object) as ResourceType, object)
  }
  return { ...fixture, account: fixture.server.as(serviceAccountUser(operatorAccount.namespace, operatorAccount.name)) }
}

it('every budget is written, exchanged in a drain and given back on a server that enforces the rights on owners', async () => {
  const fixture = await openStrict()
  fixture.operate({ api: fixture.account, controllers })
  await fixture.seconds(90)
  expect(await fixture.budgets()).toEqual(calm)
  await fixture.cordon('node-x')
  await fixture.evictOsd(0)
  await fixture.seconds(10)
  expect((await fixture.budgets()).filter((text) => text.startsWith('rook-ceph-osd'))).toEqual([
    'rook-ceph-osd-host-node-y: 0 of topology-location-host=node-y',
    'rook-ceph-osd-host-node-z: 0 of topology-location-host=node-z',
  ])
  await fixture.cordon('node-x', false)
  await fixture.seconds(120)
  expect(await fixture.budgets()).toEqual(calm)
  expect(await fixture.told()).not.toContain('Warning RightsMissing')
  await fixture.close()
})

it('a budget that holds up its CephCluster is refused there: protection would need a right on what it protects', async () => {
  const fixture = await openStrict()
  fixture.operate({ api: fixture.account, controllers })
  await fixture.seconds(90)
  const { metadata, spec } = await fixture.api.get(podDisruptionBudgets, { namespace, name: 'rook-ceph-osd' })
  const ownerReferences = metadata.ownerReferences?.map((owner) => ({ ...owner, blockOwnerDeletion: true })) ?? []
  const blocking = { namespace, name: 'rook-ceph-osd-blocking', ownerReferences }
  const outcome = await fixture.account
    .create(podDisruptionBudgets, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: blocking,
      spec,
    })
    .then(
      () => 'written',
      (error: unknown) => (hasReason(error, 'Forbidden') ? error.message : error),
    )
  expect(outcome).toMatch(/cannot set blockOwnerDeletion .* can't set finalizers on/)
  await fixture.close()
})

it('budgets that Rook left behind are taken over there, though they hold up their CephCluster', async () => {
  const fixture = await openStrict()
  const first = fixture.operate({ api: fixture.account, controllers })
  await fixture.seconds(90)
  const stopped = first.stop()
  await fixture.seconds(30)
  await stopped
  const found = await fixture.api.get(podDisruptionBudgets, { namespace, name: 'rook-ceph-osd' })
  const ownerReferences = found.metadata.ownerReferences?.map((owner) => ({ ...owner, blockOwnerDeletion: true })) ?? []
  await fixture.api.update(podDisruptionBudgets, {
    ...found,
    metadata: { ...found.metadata, ownerReferences },
    spec: { ...found.spec, maxUnavailable: 3 },
  })
  fixture.operate({ api: fixture.account, controllers })
  await fixture.seconds(90)
  expect(await fixture.budgets()).toEqual(calm)
  await fixture.close()
})
