import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { CephCommands } from '../world/ceph/ceph-commands.ts'
import { askCephStatus } from './ask-ceph-status.ts'

export interface CephHealthPorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly commands: CephCommands
  readonly cluster: { readonly namespace: string; readonly name: string }
}

const pollEveryMs = 2_000

/** Writes Ceph's health into the status of the CephCluster, as Rook does, whenever it changes. Ends with the signal. */
export async function reportCephHealth({ api, clock, commands, cluster }: CephHealthPorts, signal: AbortSignal) {
  let reported: string | undefined
  while (!signal.aborted) {
    const status = await askCephStatus(commands, { signal })
    if (!('silent' in status) && status.health !== reported && !signal.aborted) {
      const { health, fsid } = status
      const ceph = {
        health,
        fsid,
        lastChanged: timestamp(clock),
        ...(reported === undefined ? {} : { previousHealth: reported }),
      }
      const write = { subresource: 'status', fieldManager: 'rook', signal }
      try {
        await api.patch(cephClusters, cluster, { type: 'merge', body: { status: { ceph } } }, write)
        reported = health
      } catch (error) {
        if (!hasReason(error, 'NotFound')) throw error
      }
    }
    await sleep(clock, pollEveryMs, signal)
  }
}
