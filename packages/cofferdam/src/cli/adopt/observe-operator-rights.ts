import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import { type Observed, unknown } from '../../shared/observed.ts'
import type { Permission } from '../../shared/permission.ts'
import type { HandOverPorts } from './hand-over-kind.ts'
import { reviewRights } from './review-rights.ts'

/** Which of these rights the leading operator lacks in a namespace. It is called by its pod, and that says as whom it asks. */
export async function observeOperatorRights(
  { api, signal, leaseNamespace }: HandOverPorts,
  asked: {
    readonly leader: string | undefined
    readonly namespace: string
    readonly rights: readonly Permission[]
  },
): Promise<Observed<readonly string[]>> {
  const { leader, namespace, rights } = asked
  const notSeen: string[] = []
  const pod =
    leader === undefined
      ? undefined
      : await ifAllowed('its pod', notSeen, () =>
          api.get(pods, { namespace: leaseNamespace, name: leader }, { signal }),
        )
  const name = pod?.spec.serviceAccountName
  if (name === undefined) return unknown(notSeen[0] ?? 'the operator that leads is not in a pod of this cluster')
  return reviewRights({ api, signal, account: { namespace: leaseNamespace, name }, namespace, rights })
}
