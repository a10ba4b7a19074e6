import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { readRecordedNoout } from '../recorded-noout.ts'
import { breakWatches } from '../stage/hazards.ts'
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
      const { stage, random, tell, excuses, handSet, contested, isHome } = ports
      const { clock, hazards, server, restartTools } = stage
      const sinceMs = between(random, 5, 70) * 1_000
      const backup = server.backup()
      await sleep(clock, sinceMs)
      if (isHome()) return
      tell(`etcd is restored as it was ${sinceMs / 1_000} s ago`)
      excuses.hindered(readAgainMs)
      // What was held, noted and protected since the backup is forgotten, and machines, disks and pods are as they are.
      for (const what of ['etcd', 'ledger', 'mons', 'nodes', 'storage']) excuses.meddled(what, readAgainMs)
      excuses.broke('the cluster as it was')
      const flagged = stage.ceph?.controls.truth().noout ?? []
      server.restore(backup)
      // Whose a flag is that was set since is on no record any more, also where Ceph says nothing of it now. What is on record has to be removed, except what an admin has set beside it.
      const recorded = await readRecordedNoout(stage)
      for (const who of flagged) {
        const isRecorded = recorded.includes(who)
        if (!isRecorded || handSet.has(who)) contested.add(who)
        if (isRecorded) handSet.delete(who)
      }
      breakWatches(hazards)
      restartTools()
      mendLater(ports, () => redeployMoved(ports))
    },
  },
}
