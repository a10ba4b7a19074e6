import type { Shown } from '../capabilities/shown.ts'
import type { Ledger } from '../ledger/rules/ledger.ts'
import type { Observed } from '../shared/observed.ts'
import type { StorageView } from '../shared/storage-view.ts'
import type { Reader } from './reader.ts'

/** What capabilities read from to show something of themselves. */
export interface ShownPorts extends Reader {
  /** What is on record about every Ceph cluster. */
  readonly storage: readonly StorageView[]
  readonly ledger: Observed<Ledger>
}

/** What each has to show of the whole cluster, by its field. Those of which nothing is there are left out. */
export async function readShown(
  ports: ShownPorts,
  list: readonly Shown<ShownPorts>[],
): Promise<Readonly<Record<string, unknown>>> {
  const fields: Record<string, unknown> = {}
  for (const { field, read, summarize } of list) {
    const seen = await read(ports)
    const data = seen === undefined ? undefined : summarize(seen)
    if (data !== undefined) fields[field] = data
  }
  return fields
}

/** What each says about one node, by its field. */
export async function readShownNode(
  ports: ShownPorts,
  list: readonly Shown<ShownPorts>[],
  nodeName: string,
): Promise<Readonly<Record<string, unknown>>> {
  const fields: Record<string, unknown> = {}
  for (const { field, read, node } of list) {
    const seen = node === undefined ? undefined : await read(ports)
    const answer = seen === undefined ? undefined : node?.answer(seen, nodeName)
    if (answer !== undefined) fields[field] = answer
  }
  return fields
}
