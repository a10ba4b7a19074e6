import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Processes } from '../stage/processes.ts'

/** What befell the cluster without anybody's decision, and when nobody could attend to it. */
export interface Excuses {
  /** Whatever hinders the operator in seeing or acting does so until then. */
  hindered(forMs: number): void
  /** Until it is called off, or for good. */
  hinderedOpenly(): () => void
  /** The operator has been able to see and act for so long. */
  isAttendedFor(ms: number): boolean
  /** A machine is off, or an OSD down, by no decision. */
  broke(what: string): void
  mended(what: string): void
  /** When it broke; undefined: it did not, or is back for long. */
  brokeAt(what: string): number | undefined
  /** Something broke so lately that whoever decides cannot know of it. */
  hasJustBroken(): boolean
  /** All that broke and is not mended. */
  broken(): readonly string[]
  /** People meddled with what holds evictions back: what it lets through for a while is theirs. */
  meddled(what: string, forMs: number): void
  isMeddledWith(what: string): boolean
  wasMeddledWith(what: string): boolean
}

/** How long it takes until whoever decides can know of what broke: Ceph and Kubernetes notice first, then it is read. */
export const patienceMs = 120_000
/** How long a new process reads before it acts. */
const settlingMs = 30_000

export function openExcuses(clock: Clock, processes: () => Processes): Excuses {
  const broken = new Map<string, number>()
  const meddled = new Map<string, number>()
  let hinderedUntilMs = 0
  let open = 0

  return {
    hindered(forMs) {
      hinderedUntilMs = Math.max(hinderedUntilMs, clock.now() + forMs)
    },
    hinderedOpenly() {
      open += 1
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        open -= 1
        hinderedUntilMs = Math.max(hinderedUntilMs, clock.now())
      }
    },
    isAttendedFor(ms) {
      if (open > 0 || clock.now() - hinderedUntilMs < ms) return false
      const isAble = ({ hazards, freezable, sinceMs, hasEnded, skewMs }: Processes['running'][number]) =>
        !hazards.isDead &&
        !freezable.isFrozen &&
        !hasEnded() &&
        skewMs === 0 &&
        clock.now() - sinceMs >= ms + settlingMs
      const { running, replicas } = processes()
      // The one that leads may be any of them, also one that is lost and not replaced yet: nobody leads until its lease has run out.
      return running.length === replicas && running.every(isAble)
    },
    broke: (what) => void broken.set(what, clock.now()),
    mended: (what) => void broken.delete(what),
    brokeAt: (what) => broken.get(what),
    hasJustBroken: () => [...broken.values()].some((atMs) => clock.now() - atMs < patienceMs),
    broken: () => [...broken.keys()],
    meddled: (what, forMs) => void meddled.set(what, Math.max(meddled.get(what) ?? 0, clock.now() + forMs)),
    isMeddledWith: (what) => (meddled.get(what) ?? 0) > clock.now(),
    wasMeddledWith: (what) => meddled.has(what),
  }
}
