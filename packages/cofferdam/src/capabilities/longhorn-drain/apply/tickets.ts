import { longhornVolumeAttachments } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { FormerTicket } from '../domain/former-tickets.ts'
import type { LonghornObjects } from '../domain/parse-longhorn.ts'
import type { Seen } from '../domain/steps.ts'
import type { LonghornViews } from '../observe/observe.ts'
import { collectFailure } from './collect-failure.ts'

/** Takes tickets back. Returns what was refused; that stops no other. One whose attachment changed since it was seen is refused with 409. */
export async function withdrawTickets(
  { api, views }: { readonly api: Pick<KubeApi, 'patch'>; readonly views: Pick<LonghornViews, 'attachments'> },
  tickets: readonly (FormerTicket & Seen)[],
  { objects, signal }: { readonly objects: Pick<LonghornObjects, 'namespace'>; readonly signal: AbortSignal },
): Promise<readonly unknown[]> {
  const failures: unknown[] = []
  let version: string | undefined
  for (const { volume, id, resourceVersion } of tickets) {
    await collectFailure(failures, async () => {
      const key = { namespace: objects.namespace, name: volume }
      const body = {
        ...(resourceVersion === undefined ? {} : { metadata: { resourceVersion } }),
        spec: { attachmentTickets: { [id]: null } },
      }
      const written = await api.patch(
        longhornVolumeAttachments,
        key,
        { type: 'merge', body: body as never },
        { signal },
      )
      version = written.metadata.resourceVersion
    })
  }
  if (version !== undefined) await views.attachments.whenSeen(version, signal)
  return failures
}
