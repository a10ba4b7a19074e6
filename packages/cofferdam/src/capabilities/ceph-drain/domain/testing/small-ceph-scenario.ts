import { decideCephDrain } from '../decide.ts'
import type { CephDrainDecision } from '../decision.ts'
import { planOsdBudgets } from '../osd-budgets.ts'
import type { CephDrainSnapshot } from '../snapshot.ts'
import type { DrainState } from '../state-map.ts'
import { applyStep } from './fixture.ts'
import type { SmallCeph } from './small-ceph.ts'

/** What can happen to a small Ceph in a story; `which` picks whom it happens to. */
const deeds = {
  cordon: (ceph, id) => ceph.cordoned.add(ceph.nodeOf(id)),
  uncordon: (ceph, id) => ceph.cordoned.delete(ceph.nodeOf(id)),
  crash: (ceph, id) => ceph.crash(id),
  start: (ceph, id) => ceph.start(id),
  notice: (ceph) => ceph.notice(),
  report: (ceph) => ceph.report(),
  recover: (ceph) => ceph.recover(),
  moveAway: (ceph) => ceph.moveDataAway(),
  damage: (ceph, _, which) => ceph.damage(which),
  repair: (ceph) => ceph.repair(),
  look: () => {},
} satisfies Record<string, (ceph: SmallCeph, id: number, which: number) => unknown>

export type Happening = keyof typeof deeds

export function happen(ceph: SmallCeph, what: Happening, which: number): void {
  const deed: (ceph: SmallCeph, id: number, which: number) => unknown = deeds[what]
  deed(ceph, osdAt(ceph, which), which)
}

/** The OSD that a number means, however large. */
export function osdAt(ceph: SmallCeph, which: number): number {
  return ceph.osds[which % ceph.osds.length] as number
}

interface Pass {
  readonly decision: CephDrainDecision
  /** What the record holds after this pass. */
  readonly state: DrainState
  /** Nothing but budgets is left to write. */
  readonly isRecorded: boolean
}

function decideWithRecord(snapshot: CephDrainSnapshot): Pass {
  const decision = decideCephDrain(snapshot)
  const isRecorded = JSON.stringify(decision.state) === JSON.stringify(snapshot.state)
  return { decision, state: decision.state, isRecorded }
}

/** Looks, decides and writes until nothing changes, with `between` before every write. */
export function reconcile(
  ceph: SmallCeph,
  between: () => void = () => undefined,
  decide: (seen: CephDrainSnapshot) => Pass = decideWithRecord,
): void {
  for (let round = 0; round < 30; round += 1) {
    const snapshot = ceph.snapshot()
    const { decision, state, isRecorded } = decide(snapshot)
    const steps = planOsdBudgets(snapshot.budgets, decision.budgets)
    ceph.state = state
    for (const step of steps) {
      between()
      ceph.budgets = applyStep(ceph.budgets, step)
    }
    ceph.setNoout(decision.noout)
    const before = JSON.stringify([...ceph.pods])
    between()
    if (steps.length === 0 && isRecorded && before === JSON.stringify([...ceph.pods])) return
  }
  throw new Error('the budgets never settle')
}
