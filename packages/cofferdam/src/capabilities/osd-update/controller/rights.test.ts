import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { typeOfObject } from '@cofferdam/simulator/api-server/type-of-object.ts'
import { serviceAccountUser } from '@cofferdam/simulator/api-server/user-info.ts'
import { expect, it } from 'vitest'
import { operatorAccount } from '../../../deploy/operator-manifests.ts'
import { buildWholeAccess } from '../../../deploy/testing/controller-access.ts'
import { installDefinitions, ledgerObject } from '../../../ledger/store/testing/ledger-fixture.ts'
import { permissionsOf } from '../../../operator/controller-names.ts'
import type { Permission } from '../../../shared/permission.ts'
import { newImage, type OsdUpdateFixture, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'

async function openWith(rights: readonly Permission[]): Promise<OsdUpdateFixture> {
  const fixture = await openOsdUpdateFixture()
  await installDefinitions(fixture.api)
  const ledger = permissionsOf['disruption-ledger']
  const access = buildWholeAccess({ 'disruption-ledger': ledger, 'osd-update': rights })
  for (const object of access) {
    await fixture.api.create(typeOfObject(fixture.server.catalogue, object) as ResourceType, object)
  }
  const account = fixture.server.as(serviceAccountUser(operatorAccount.namespace, operatorAccount.name))
  fixture.operate({ api: account, controllers: ['osd-update', 'disruption-ledger'] })
  await fixture.seconds(30)
  await fixture.wantImage(newImage)
  return fixture
}

it('the rights in deploy/ are enough for a whole update', async () => {
  const fixture = await openWith(permissionsOf['osd-update'])
  expect(await fixture.until(async () => (await fixture.images()).join() === newImage, 600)).toBe(true)
  await fixture.watch(30)
  expect(await fixture.told()).toEqual(['Normal OsdsUpdating', 'Normal OsdsUpToDate'])
  await fixture.close()
})

it('without the right to write Deployments no OSD counts as failed, the storage is not kept, and it is told once', async () => {
  const reading = permissionsOf['osd-update'].map((right) =>
    right.resource === 'deployments' ? { ...right, verbs: ['list', 'watch'] as const } : right,
  )
  const fixture = await openWith(reading)
  await fixture.watch(120)
  expect((await fixture.told()).filter((told) => told === 'Warning RightsMissing')).toHaveLength(1)
  expect((await ledgerObject(fixture.api)).status?.entries ?? []).toEqual([])
  expect(await fixture.updateRecord()).toMatchObject({ record: { failed: [], frozen: undefined } })
  await fixture.close()
})
