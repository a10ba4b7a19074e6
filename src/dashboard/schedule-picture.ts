import type { OsdState } from './osd-update-board.ts'
import type { UpdateStory } from './osd-update-story.ts'

/** One OSD in the picture. */
export interface OsdSquare {
  readonly osd: number
  readonly state: OsdState
  readonly host: string
  /** From the widest: `zone a`, `rack r1`. */
  readonly within: readonly string[]
  /** Of the plan, from 1; undefined when it is in none. */
  readonly round: number | undefined
}

/** OSDs that go together, or stand together. */
export interface SquareGroup {
  readonly id: string
  /** At its edge, short. */
  readonly label: string
  /** In full, with what is in it. */
  readonly says: string
  /** The widest place it stands in; empty where it is a round. */
  readonly place: string
  readonly squares: readonly OsdSquare[]
}

export type PictureOrder = 'by-round' | 'by-host'

export const stateWords: Readonly<Record<OsdState, string>> = {
  done: 'done',
  'on-the-way': 'on the way',
  waits: 'waits',
  blocked: 'blocked',
  failed: 'failed',
}

/** In this order everywhere. */
export const osdStates: readonly OsdState[] = ['done', 'on-the-way', 'waits', 'blocked', 'failed']

export function drawSchedule(story: Pick<UpdateStory, 'plan' | 'hosts'>, order: PictureOrder): SquareGroup[] {
  const squares = squaresOf(story)
  return order === 'by-host' ? byHost(story, squares) : byRound(story, squares)
}

/** What a square says when one looks closer. */
export function squareText({ osd, host, within, round, state }: OsdSquare): string {
  const where = host === '' ? '' : ` on ${host}${within.length === 0 ? '' : ` (${within.join(', ')})`}`
  return `osd.${osd}${where}, ${round === undefined ? '' : `round ${round}, `}${stateWords[state]}`
}

type Squares = ReadonlyMap<number, OsdSquare>

function squaresOf({ plan, hosts }: Pick<UpdateStory, 'plan' | 'hosts'>): Squares {
  const rounds = new Map((plan?.rounds ?? []).flatMap((ids, at) => ids.map((id) => [id, at + 1] as const)))
  return new Map(
    hosts.flatMap(({ host, within, osds }) =>
      osds.map(([osd, state]) => [osd, { osd, state, host, within, round: rounds.get(osd) }] as const),
    ),
  )
}

function byHost({ hosts }: Pick<UpdateStory, 'hosts'>, squares: Squares): SquareGroup[] {
  return hosts.map(({ id, host, within, osds }) => {
    const own = osds.flatMap(([osd]) => squares.get(osd) ?? [])
    const title = host === '' ? 'No host' : host
    const where = within.length === 0 ? title : `${title} in ${within.join(', ')}`
    return { id, label: title, says: `${where}: ${countsText(own)}`, place: within.join(', '), squares: own }
  })
}

/** What was done before the plan was made comes first; what is in no round comes last. */
function byRound({ plan }: Pick<UpdateStory, 'plan'>, squares: Squares): SquareGroup[] {
  const rounds = (plan?.rounds ?? []).map((ids, at) =>
    group(`round ${at + 1}`, { label: String(at + 1), title: `Round ${at + 1}` }, idsIn(ids, squares)),
  )
  const others = [...squares.values()].filter(({ round }) => round === undefined).sort((a, b) => a.osd - b.osd)
  const before = others.filter(({ state }) => state === 'done')
  const rest = others.filter(({ state }) => state !== 'done')
  return [
    group('before', { label: 'Before', title: 'Up to date before these rounds were planned' }, before),
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
  return { id, label, says: `${title}: ${countsText(squares)}`, place: '', squares }
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

/** Rounds stand side by side and hosts below each other, so the same key means another step. */
export function moveCursor(
  groups: readonly SquareGroup[],
  { group: from, at }: Cursor,
  { key, order }: { readonly key: string; readonly order: PictureOrder },
): Cursor | undefined {
  const last = groups.length - 1
  const within = order === 'by-round' ? ['ArrowUp', 'ArrowDown'] : ['ArrowLeft', 'ArrowRight']
  const across = order === 'by-round' ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown']
  const place = (group: number, position: number): Cursor | undefined => {
    const size = groups[group]?.squares.length
    return size === undefined ? undefined : { group, at: Math.max(0, Math.min(position, size - 1)) }
  }
  if (key === 'Home') return place(0, 0)
  if (key === 'End') return place(last, Number.POSITIVE_INFINITY)
  if (key === within[0]) return place(from, at - 1)
  if (key === within[1]) return place(from, at + 1)
  if (key === across[0]) return place(Math.max(0, from - 1), at)
  if (key === across[1]) return place(Math.min(last, from + 1), at)
  return undefined
}
