import type { OsdState } from './osd-update-overview.ts'
import type { UpdateViewModel } from './osd-update-view-model.ts'

/** One OSD in the picture. */
export interface OsdSquare {
  readonly osd: number
  readonly state: OsdState
  readonly host: string
  /** From the widest: `zone a`, `rack r1`. */
  readonly within: readonly string[]
  /** Round of the plan, from 1; undefined when it is in none. */
  readonly round: number | undefined
}

/** OSDs that go together, or stand together. */
export interface SquareGroup {
  readonly id: string
  /** At its edge, short. */
  readonly label: string
  /** In full, with what is in it. */
  readonly says: string
  /** What it stands in; empty where that is not known. */
  readonly place: string
  /** Whether it is a round of the plan. */
  readonly isRound: boolean
  readonly squares: readonly OsdSquare[]
}

export type PictureOrder = 'by-round' | 'by-host'

export const stateWords: Readonly<Record<OsdState, string>> = {
  done: 'done',
  'on-the-way': 'restarting',
  waits: 'waits',
  blocked: 'blocked',
  failed: 'failed',
}

/** In this order everywhere. */
export const osdStates: readonly OsdState[] = ['done', 'on-the-way', 'waits', 'blocked', 'failed']

export function drawSchedule(model: Pick<UpdateViewModel, 'plan' | 'hosts'>, order: PictureOrder): SquareGroup[] {
  const squares = squaresOf(model)
  return order === 'by-host' ? byHost(model, squares) : byRound(model, squares)
}

/** Indexes of groups that stand in another place than the one before; none where no place is known. */
export function placeChanges(groups: readonly SquareGroup[]): ReadonlySet<number> {
  const isPlaced = groups.some(({ place }) => place !== '')
  return new Set(isPlaced ? groups.flatMap(({ place }, at) => (place === groups[at - 1]?.place ? [] : [at])) : [])
}

/** Details of a square. */
export function squareText({ osd, host, within, round, state }: OsdSquare): string {
  const where = host === '' ? '' : ` on ${host}${within.length === 0 ? '' : ` (${within.join(', ')})`}`
  return `osd.${osd}${where}, ${round === undefined ? '' : `round ${round}, `}${stateWords[state]}`
}

type Squares = ReadonlyMap<number, OsdSquare>

function squaresOf({ plan, hosts }: Pick<UpdateViewModel, 'plan' | 'hosts'>): Squares {
  const rounds = new Map((plan?.rounds ?? []).flatMap((ids, at) => ids.map((id) => [id, at + 1] as const)))
  return new Map(
    hosts.flatMap(({ host, within, osds }) =>
      osds.map(([osd, state]) => [osd, { osd, state, host, within, round: rounds.get(osd) }] as const),
    ),
  )
}

function byHost({ hosts }: Pick<UpdateViewModel, 'hosts'>, squares: Squares): SquareGroup[] {
  return hosts.map(({ id, host, within, osds }) => {
    const own = osds.flatMap(([osd]) => squares.get(osd) ?? [])
    const title = host === '' ? 'No host' : host
    const where = within.length === 0 ? title : `${title} in ${within.join(', ')}`
    return {
      id,
      label: title,
      says: `${where}: ${countsText(own)}`,
      place: within.join(', '),
      isRound: false,
      squares: own,
    }
  })
}

/** What was done before the plan was made comes first; what is in no round comes last. */
function byRound({ plan }: Pick<UpdateViewModel, 'plan'>, squares: Squares): SquareGroup[] {
  const rounds = (plan?.rounds ?? []).map((ids, at) =>
    group(`round ${at + 1}`, { label: String(at + 1), title: `Round ${at + 1}` }, idsIn(ids, squares)),
  )
  const others = [...squares.values()].filter(({ round }) => round === undefined).sort((a, b) => a.osd - b.osd)
  const before = others.filter(({ state }) => state === 'done')
  const rest = others.filter(({ state }) => state !== 'done')
  return [
    group('before', { label: 'Done', title: 'Up to date before these rounds were planned' }, before),
    ...rounds,
    group('rest', { label: 'No round', title: 'In no round' }, rest),
  ].filter((each) => each.squares.length > 0)
}

function idsIn(ids: readonly number[], squares: Squares): OsdSquare[] {
  return ids.flatMap((id) => squares.get(id) ?? [])
}

function group(
  id: string,
  { label, title }: { readonly label: string; readonly title: string },
  squares: readonly OsdSquare[],
): SquareGroup {
  return { id, label, says: `${title}: ${countsText(squares)}`, place: '', isRound: id.startsWith('round '), squares }
}

/** `2 done, 1 on the way` */
function countsText(squares: readonly OsdSquare[]): string {
  return osdStates
    .flatMap((state) => {
      const count = squares.filter((square) => square.state === state).length
      return count === 0 ? [] : [`${count} ${state === 'waits' && count > 1 ? 'wait' : stateWords[state]}`]
    })
    .join(', ')
}

/** Where the keyboard is in the picture. */
export interface Cursor {
  readonly group: number
  readonly at: number
}

/** How squares of a group follow each other: groups then stand the other way. */
export type Flow = 'down' | 'right'

const steps: Readonly<Record<Flow, Readonly<Record<string, readonly [groups: number, squares: number]>>>> = {
  down: { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] },
  right: { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] },
}

/** Where a key leads; undefined when it is none that leads anywhere. */
export function moveCursor(
  groups: readonly SquareGroup[],
  from: Cursor,
  { key, flow }: { readonly key: string; readonly flow: Flow },
): Cursor | undefined {
  const last = groups.length - 1
  const place = (wanted: number, at: number): Cursor | undefined => {
    const group = Math.max(0, Math.min(wanted, last))
    const size = groups[group]?.squares.length
    return size === undefined ? undefined : { group, at: Math.max(0, Math.min(at, size - 1)) }
  }
  if (key === 'Home') return place(0, 0)
  if (key === 'End') return place(last, Number.POSITIVE_INFINITY)
  const step = steps[flow][key]
  return step && place(from.group + step[0], from.at + step[1])
}
