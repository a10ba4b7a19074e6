import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { customResourceDefinitions } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type DisruptionLedger, disruptionLedgers } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'

/** Of which version a process is, where it is not the one of this checkout. */
export type OtherVersion = 'before' | 'next'

/** What the version to come notes, and nobody else knows. */
export const noteOfNext = 'notedByNext'
/** A state of a hold that only the version to come knows. */
export const stateOfNext = 'Yielding'

type LedgerStatus = NonNullable<DisruptionLedger['status']>

/** What a process of that version writes in place of this. */
export function asWrittenBy<T extends KubeObject>(
  version: OtherVersion | undefined,
  { plural }: ResourceType<T>,
  object: T,
): T {
  if (version === undefined) return object
  const isLedger = plural === disruptionLedgers.plural
  if (!isLedger && plural !== nodeDisruptions.plural) return object
  const { status } = object as DisruptionLedger | NodeDisruption
  if (status === undefined) return object
  const written = isLedger
    ? (version === 'next' ? noted : withoutNewFields)(status as LedgerStatus)
    : version === 'next'
      ? { ...status, [noteOfNext]: 'yes' }
      : status
  return { ...object, status: written }
}

function noted(status: LedgerStatus): object {
  const note = <P extends object>(parts: readonly P[] = []) => parts.map((part) => ({ ...part, [noteOfNext]: 'yes' }))
  return { ...status, [noteOfNext]: 'yes', entries: note(status.entries), tickets: note(status.tickets) }
}

/** The fields that came last. */
function withoutNewFields(status: LedgerStatus): object {
  const { held: _, waiting: __, entries = [], tickets = [], ...rest } = status
  return {
    ...rest,
    entries: entries.map(({ place: ___, ...entry }) => entry),
    tickets: tickets.map(({ aside: ___, overtaken: ____, ...ticket }) => ticket),
  }
}

/** The definitions of the version to come: an upgrade applies them first. */
export async function applyNextDefinitions(api: KubeApi): Promise<void> {
  const status = '/spec/versions/0/schema/openAPIV3Schema/properties/status'
  const keepsAll = (path: string) =>
    ({ op: 'add', path: `${path}/x-kubernetes-preserve-unknown-fields`, value: true }) as const
  const entry = `${status}/properties/entries/items`
  const patches = {
    [disruptionLedgers.plural]: [
      keepsAll(status),
      keepsAll(entry),
      keepsAll(`${status}/properties/tickets/items`),
      { op: 'add', path: `${entry}/properties/state/enum/-`, value: stateOfNext } as const,
    ],
    [nodeDisruptions.plural]: [keepsAll(status)],
  }
  for (const [plural, body] of Object.entries(patches))
    await api.patch(customResourceDefinitions, { name: `${plural}.cofferdam.io` }, { type: 'json', body })
}
