import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { typeOfObject } from '@cofferdam/simulator/api-server/type-of-object.ts'
import { serviceAccountUser } from '@cofferdam/simulator/api-server/user-info.ts'
import { expect, it } from 'vitest'
import { operatorAccount } from '../../../deploy/operator-manifests.ts'
import { buildWholeAccess } from '../../../deploy/testing/controller-access.ts'
import { installDefinitions, ledgerObject } from '../../../ledger/store/testing/ledger-stage.ts'
import { permissionsOf } from '../../../operator/controller-names.ts'
import type { Permission } from '../../../shared/permission.ts'
import { newImage, type OsdUpdateStage, openOsdUpdateStage } from '../testing/osd-update-stage.ts'

async function openWith(rights: readonly Permission[]): Promise<OsdUpdateStage> {
  const stage = await openOsdUpdateStage()
  await installDefinitions(stage.api)
  const ledger = permissionsOf['disruption-ledger']
  const access = buildWholeAccess({ 'disruption-ledger': ledger, 'osd-update': rights })
  for (const object of access) {
    await stage.api.create(typeOfObject(stage.server.catalogue, object) as ResourceType, object)
  }
  const account = stage.server.as(serviceAccountUser(operatorAccount.namespace, operatorAccount.name))
  stage.operate({ api: account, controllers: ['osd-update', 'disruption-ledger'] })
  await stage.seconds(30)
  await stage.wantImage(newImage)
  return stage
}

it('the rights in deploy/ are enough for a whole update', async () => {
  const stage = await openWith(permissionsOf['osd-update'])
  expect(await stage.until(async () => (await stage.images()).join() === newImage, 600)).toBe(true)
  await stage.watch(30)
  expect(await stage.told()).toEqual(['Normal OsdsUpdating', 'Normal OsdsUpToDate'])
  await stage.close()
})

it('without the right to write Deployments no OSD counts as failed, the storage is not kept, and it is told once', async () => {
  const reading = permissionsOf['osd-update'].map((right) =>
    right.resource === 'deployments' ? { ...right, verbs: ['list', 'watch'] as const } : right,
  )
  const stage = await openWith(reading)
  await stage.watch(120)
  expect((await stage.told()).filter((told) => told === 'Warning RightsMissing')).toHaveLength(1)
  expect((await ledgerObject(stage.api)).status?.entries ?? []).toEqual([])
  expect(await stage.updateRecord()).toMatchObject({ record: { failed: [], frozen: undefined } })
  await stage.close()
})
