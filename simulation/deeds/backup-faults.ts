import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { machineKinds } from '@cofferdam/simulator/world/machines/machine-kinds.ts'
import { readRecordedNoout } from '../recorded-noout.ts'
import { breakWatches } from '../stage/hazards.ts'
import type { Stage } from '../stage/open-stage.ts'
import { between } from '../story.ts'
import { mendLater } from './crush-faults.ts'
import { always, type FaultKind } from './deed-kind.ts'
import { redeployMoved } from './placement-faults.ts'

/** Lists that are older than what is known are refused for three minutes; then all is read, and decided again. */
const readAgainMs = 300_000

/** etcd loses what was written since the last backup. */
export const backupFaults: Readonly<Record<string, FaultKind>> = {
  'etcd is restored from a backup': {
    row: 'F27',
    fits: always,
    async apply(ports) {
      const { stage, random, tell, excuses, writes, handSet, contested, isHome } = ports
      const { clock, hazards, server, shape, restartTools } = stage
      const sinceMs = between(random, 5, 70) * 1_000
      const backup = server.backup()
      const replaced = stage.heirs.count
      await sleep(clock, sinceMs)
      if (isHome()) return
      if (await hasOtherMachines(stage, replaced)) {
        tell('etcd is not restored: its backup has machines that are no more')
        return
      }
      tell(`etcd is restored as it was ${sinceMs / 1_000} s ago`)
      excuses.hindered(readAgainMs)
      // What was held, noted and protected since the backup is forgotten, and machines, disks and pods are as they are.
      for (const what of ['etcd', 'ledger', 'mons', 'nodes', 'storage']) excuses.meddled(what, readAgainMs)
      excuses.broke('the cluster as it was')
      const flagged = stage.ceph?.controls.truth().noout ?? []
      server.restore(backup)
      writes.restored()
      // Whose a flag is that was set since is on no record any more, also where Ceph says nothing of it now. What is on record has to be removed, except what an admin has set beside it.
      const recorded = await readRecordedNoout(stage)
      for (const who of flagged) {
        const isRecorded = recorded.includes(who)
        if (!isRecorded || handSet.has(who)) contested.add(who)
        if (isRecorded) handSet.delete(who)
      }
      // Who restores etcd stops every API server first. Seeds that are older keep the stories in which one goes on answering.
      if (shape.tools !== undefined)
        hazards.outageUntilMs = Math.max(hazards.outageUntilMs, clock.now() + between(random, 12, 60) * 1_000)
      breakWatches(hazards)
      restartTools()
      mendLater(ports, () => redeployMoved(ports))
    },
  },
}

/** Whether machines of the backup are gone, or going: a cloud is not restored, and nothing in the cluster could bring them and their disks back. */
async function hasOtherMachines({ api, shape, heirs, description }: Stage, replaced: number): Promise<boolean> {
  if (shape.tools === undefined || description.machines === undefined || description.machines.api === 'none')
    return false
  const { machines, namespace } = machineKinds(description.machines.api)
  const { items } = await api.list(machines, { namespace })
  return heirs.count > replaced || items.some(({ metadata }) => metadata.deletionTimestamp !== undefined)
}
