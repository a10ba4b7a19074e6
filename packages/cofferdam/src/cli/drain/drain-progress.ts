import type { DisruptionAnswer, DisruptionObstacle } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import { ageText } from '../../shared/age-text.ts'
import { listText } from '../../shared/list-text.ts'
import type { Paint } from '../../shared/paint.ts'

/** A pod that ends within its first seconds is not worth a line. */
const shortEndMs = 10_000
/** What an obstacle says may change every second, as a share of data that was moved does. */
const changeEveryMs = 15_000
/** Whoever reads a log must not take a long wait for a command that hangs. */
const remindEveryMs = 60_000
/** The operator answers within seconds. */
const pickUpMs = 10_000

/** The holder of a pod whose eviction was refused in the server's own words. */
const apiServer = 'the API server'

interface Printed {
  readonly wayOut: string
  readonly atMs: number
}

/** What is printed of one request while it is followed: each thing once, and again when it changes or lasts. */
export class ProgressLog {
  readonly #paint: Paint
  readonly #prefix: string
  readonly #obstacles = new Map<string, Printed>()
  readonly #after: DisruptionAnswer | undefined
  #before: DisruptionAnswer | undefined
  #lastMs = 0

  /** `prefix`: the node, where several are followed. `after`: a state that needs no line, because the command has ended it. */
  constructor({ paint, prefix = '', after }: { paint: Paint; prefix?: string; after?: DisruptionAnswer | undefined }) {
    this.#paint = paint
    this.#prefix = prefix
    this.#after = after
    this.#before = after
  }

  lines(now: DisruptionAnswer, at: string): string[] {
    const before = this.#before
    const atMs = Date.parse(at)
    if (isJustMade(now, atMs)) return []
    if (this.#isOutdated(now)) return this.#prefixed(this.#reminderOf(atMs))
    const lines: string[] = []
    const detail = (text: string) => lines.push(`${' '.repeat(11)}${text}`)
    if (before?.phase !== now.phase || before.isCancelled !== now.isCancelled) {
      const word = now.isCancelled ? 'Cancelled' : now.phase
      lines.push(`${this.#paint('bold', word.padEnd(11))}${now.explanation}`)
    }
    const fresh = (names: readonly string[], earlier: readonly string[] = []) =>
      names.filter((name) => !earlier.includes(name))
    const staying = fresh(now.stays, before?.stays)
    if (staying.length > 0) detail(`${listText(staying)} ${staying.length === 1 ? 'stays' : 'stay'} on the node`)
    const leaving = fresh(now.evicted, before?.evicted)
    if (leaving.length > 0) detail(`evicted: ${listText(leaving)}`)
    if (now.hasFallenBack && before?.hasFallenBack !== true) {
      detail(`${this.#paint('yellow', 'fell back:')} not all locks were acquired in time, every pod is evicted`)
    }
    for (const text of this.#obstacleLines(now, { at, atMs })) detail(text)
    for (const { object, says } of now.warnings) {
      const isKnown = before?.warnings.some((each) => each.object === object && each.says === says) === true
      if (!isKnown) detail(`${this.#paint('yellow', 'warning:')} ${object} ${says}`)
    }
    this.#before = now
    if (lines.length > 0 || this.#lastMs === 0) this.#lastMs = atMs
    return this.#prefixed(lines)
  }

  #prefixed(lines: string[]): string[] {
    return this.#prefix === '' ? lines : lines.map((line) => `${this.#prefix}  ${line}`)
  }

  /** What the record says was so before the command ended it: its obstacles are not what is waited for now. */
  #isOutdated({ phase }: DisruptionAnswer): boolean {
    return this.#after?.phase === phase && phase !== 'Recovering'
  }

  #reminderOf(atMs: number): string[] {
    if (this.#lastMs === 0) this.#lastMs = atMs
    if (atMs - this.#lastMs < pickUpMs) return []
    this.#lastMs = atMs + remindEveryMs
    return [`${' '.repeat(11)}the operator has not picked it up yet (cofferdam status)`]
  }

  #obstacleLines(now: DisruptionAnswer, { at, atMs }: { readonly at: string; readonly atMs: number }): string[] {
    const isDue = this.#lastMs > 0 && atMs - this.#lastMs >= remindEveryMs
    const waits = obstaclesShown(now)
    const keys = new Set(waits.map(keyOf))
    for (const key of this.#obstacles.keys()) if (!keys.has(key)) this.#obstacles.delete(key)
    return waits.flatMap((obstacle) => {
      const key = keyOf(obstacle)
      const printed = this.#obstacles.get(key)
      const isNew = printed === undefined && !isEndingSoon(obstacle, atMs)
      const isChanged =
        printed !== undefined && printed.wayOut !== obstacle.wayOut && atMs - printed.atMs >= changeEveryMs
      if (!isNew && !isChanged && !isDue) return []
      this.#obstacles.set(key, { wayOut: obstacle.wayOut, atMs })
      const still = printed !== undefined && !isChanged ? 'still ' : ''
      return [`${still}${obstacleText(obstacle, { paint: this.#paint, at })}`]
    })
  }
}

/** That no operator has picked it up yet means nothing in its first seconds. */
function isJustMade({ phase, since }: DisruptionAnswer, atMs: number): boolean {
  return phase === 'Pending' && atMs - Date.parse(since ?? '') < 5_000
}

function keyOf({ object, reason, holder, pods = [] }: DisruptionObstacle): string {
  return [object, reason, holder, ...pods].join(' ')
}

function isEndingSoon({ reason, holder, since }: DisruptionObstacle, atMs: number): boolean {
  const sinceMs = Date.parse(since ?? '')
  return reason === 'PodIsLeaving' && !holder.startsWith('finalizer') && !(atMs - sinceMs >= shortEndMs)
}

/** What stands in the way, without what the phase says and without the refusal of a pod whose budget or storage is named. */
export function obstaclesShown({ blockedBy }: Pick<DisruptionAnswer, 'blockedBy'>): readonly DisruptionObstacle[] {
  return blockedBy.filter(({ object, reason, holder }) => {
    if (reason === 'NodeMayGo') return false
    if (!object.startsWith('pod/') || holder !== apiServer) return true
    const pod = object.slice('pod/'.length)
    return !blockedBy.some(({ pods }) => pods?.includes(pod) === true)
  })
}

export function obstacleText(
  { object, reason, holder, since, wayOut, pods = [] }: DisruptionObstacle,
  { paint, at }: { readonly paint: Paint; readonly at: string },
): string {
  const age = ageText(since, at)
  const lasting = age === undefined ? '' : ` for ${age}`
  if (reason === 'PodIsLeaving') {
    const pod = object.replace(/^pod\//, '')
    return `${paint('bold', pod)} has been terminating${lasting} (${holder}). ${wayOut}`
  }
  // The server's own words, of a pod that nothing else is seen to keep.
  if (object.startsWith('pod/') && holder === apiServer) {
    return `${paint('bold', object.slice('pod/'.length))} is refused (${reason})${lasting}. ${wayOut}`
  }
  const isOwn = pods.length === 1 && object === `pod/${pods[0]}`
  const who = pods.length === 0 || isOwn ? '' : `${listText(pods)} `
  const verb = pods.length > 1 ? 'wait for' : 'waits for'
  return `${who}${verb} ${paint('bold', object)} (${reason}), held by ${holder}${lasting}. ${wayOut}`
}

/** The one line that replaces itself on a terminal. */
export function progressLine(followed: readonly DisruptionAnswer[], at: string): string {
  const [only] = followed
  if (only === undefined) return ''
  if (followed.length > 1) return `${followed.map(({ node, phase }) => `${node} ${phase}`).join(', ')} …`
  const age = ageText(only.since, at)
  const waits = obstaclesShown(only).map(({ object }) => object)
  const waiting = waits.length === 0 ? '' : `, waits for ${listText(waits)}`
  return `${only.node}: ${only.phase}${age === undefined ? '' : ` for ${age}`}${waiting} …`
}
