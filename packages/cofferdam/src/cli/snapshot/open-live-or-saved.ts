import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Command } from 'commander'
import type { GlobalFlags } from '../command.ts'
import type { ClusterLink, Connect } from '../connect.ts'
import { openSavedCluster } from './open-saved-cluster.ts'
import { readSavedCluster } from './read-saved-cluster.ts'

export interface FromFlags {
  /** What `cofferdam snapshot` saved. */
  readonly from?: string
}

/** For people: of an answer that rests on a saved cluster. */
export interface FromSaved {
  readonly asOf?: string
}

export interface OpenedCluster {
  readonly link: ClusterLink
  /** Of a saved cluster it stands still. */
  readonly clock: Clock
  readonly saved: FromSaved
}

export function addFromFlag(command: Command): Command {
  return command.option('--from <file>', 'read what cofferdam snapshot saved, not a cluster')
}

/** The cluster that the flags name: the live one, or a saved one at the time at which it was saved. */
export async function openLiveOrSaved(
  flags: FromFlags & GlobalFlags,
  ports: { readonly connect: Connect; readonly clock: Clock },
): Promise<OpenedCluster> {
  if (flags.from === undefined) return { link: await ports.connect(flags), clock: ports.clock, saved: {} }
  const saved = await readSavedCluster(flags.from)
  return { ...openSavedCluster(saved), saved: { asOf: saved.takenAt } }
}

/** The first line of what is printed from a saved cluster. */
export function asOfText({ asOf }: FromSaved): string {
  return asOf === undefined ? '' : `as of ${asOf}, from a snapshot\n\n`
}
