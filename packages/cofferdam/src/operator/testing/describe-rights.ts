import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { typeOfObject } from '@cofferdam/simulator/api-server/type-of-object.ts'
import { serviceAccountUser } from '@cofferdam/simulator/api-server/user-info.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { describe, expect, it } from 'vitest'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { buildWholeAccess } from '../../deploy/testing/controller-access.ts'
import type { Permission } from '../../shared/permission.ts'
import { type ControllerName, permissionsOf } from '../controller-names.ts'

interface OperatedFixture {
  readonly server: ApiServer
  readonly api: KubeApi
  operate(options: { readonly api: KubeApi; readonly controllers: readonly ControllerName[] }): unknown
  close(): unknown
}

export interface RightsCase<S extends OperatedFixture> {
  readonly controller: ControllerName
  readonly open: () => Promise<S>
  /** Everything that the controller reads and writes; returns what came of it. */
  readonly scenario: (fixture: S, start: () => void) => Promise<unknown>
  readonly whole: unknown
  /** Resources that the server of this scenario does not have; another scenario shows what the rights to them are for. */
  readonly shownElsewhere?: readonly string[]
}

/** Each controller can tell its whole story with the rights of deploy/, and not with any one of them less. */
export function describeRights<S extends OperatedFixture>(cases: Readonly<Record<string, RightsCase<S>>>): void {
  describe.each(Object.entries(cases))('the rights of %s', (_, each) => {
    const rights = permissionsOf[each.controller]

    it('are enough for its whole story, and without any one of them the story is another', async () => {
      const whole = await tell(each, rights)
      expect(whole).toEqual(each.whole)
      const notNeeded: string[] = []
      for (const { without, resource, rights: fewer } of withoutOne(rights)) {
        if (each.shownElsewhere?.includes(resource)) continue
        if (JSON.stringify(await tell(each, fewer)) === JSON.stringify(whole)) notNeeded.push(without)
      }
      expect(notNeeded).toEqual([])
    }, 120_000)
  })
}

async function tell<S extends OperatedFixture>(
  { controller, open, scenario }: RightsCase<S>,
  rights: readonly Permission[],
): Promise<unknown> {
  const fixture = await open()
  for (const object of buildWholeAccess({ [controller]: rights })) {
    await fixture.api.create(typeOfObject(fixture.server.catalogue, object) as ResourceType, object)
  }
  const account = fixture.server.as(serviceAccountUser(operatorAccount.namespace, operatorAccount.name))
  const start = () => void fixture.operate({ api: withoutStreaming(account), controllers: [controller] })
  try {
    return await scenario(fixture, start)
  } catch (error) {
    // What the story goes on from was never written.
    if (hasReason(error, 'NotFound')) return 'broken off'
    throw error
  } finally {
    await fixture.close()
  }
}

/** A server that cannot stream its present state, as before 1.32: collections are listed in pages there. */
function withoutStreaming(api: KubeApi): KubeApi {
  return changedApi(api, {
    watch(type, query) {
      if (query?.sendInitialEvents) throw new ApiError('Invalid', 'sendInitialEvents is forbidden for watch')
      return api.watch(type, query)
    },
  })
}

function withoutOne(rights: readonly Permission[]): { without: string; resource: string; rights: Permission[] }[] {
  return rights.flatMap((right, at) =>
    right.verbs.map((verb) => ({
      without: `${verb} ${right.resource}`,
      resource: right.resource,
      rights: rights
        .map((each, index) => (index === at ? { ...each, verbs: each.verbs.filter((other) => other !== verb) } : each))
        .filter(({ verbs }) => verbs.length > 0),
    })),
  )
}
