import { pacedOsd } from '../pace-osds.ts'
import type { OpenOsd, PaceState } from '../pace-state.ts'
import type { RookOperator, RookPass } from '../rook-pass.ts'
import type { OsdPace, OsdUpdateSnapshot } from '../snapshot.ts'
import { nowMs, updateSnapshot } from './update-fixture.ts'

export const resting: RookPass = { state: 'resting', isUpToDate: true, asked: undefined }
export const passing: RookPass = { ...resting, state: 'passing' }
export const running: RookOperator = { state: 'running', images: ['rook:1'] }

export interface PacedFixture {
  readonly pace?: Partial<PaceState>
  /** By id: all are held, on the wanted image and never touched unless told. */
  readonly osds?: Readonly<Record<number, Partial<OsdPace> & { readonly isPodReady?: boolean }>>
  readonly rook?: RookPass
  readonly operator?: RookOperator
  readonly world?: Parameters<typeof updateSnapshot>[0]
}

export const opened = (osd: number, seconds: number, facts: Partial<OpenOsd> = {}): OpenOsd => {
  return { osd, atMs: nowMs - seconds * 1_000, generation: 1, ...facts }
}

/** Osd 0 and 1 are the round, opened 10 s ago; all six are to be walked. */
export function paced({
  pace,
  osds = {},
  rook = resting,
  operator = running,
  world = {},
}: PacedFixture): OsdUpdateSnapshot {
  const plain = updateSnapshot({ ...world, cluster: { mode: 'pace', ...world.cluster } })
  const state: PaceState = {
    key: '1||',
    pending: [0, 1, 2, 3, 4, 5],
    open: [opened(0, 10), opened(1, 10)],
    rounds: 1,
    ...pace,
  }
  const isOpen = new Set(state.open.map(({ osd }) => osd))
  return {
    ...plain,
    pace: state,
    isWalking: true,
    rook,
    rookOperator: operator,
    osds: plain.osds.map((osd) => {
      const { isPodReady = true, ...facts } = osds[osd.id] ?? {}
      const own: OsdPace = {
        hold: isOpen.has(osd.id) ? 'none' : 'ours',
        isExempt: false,
        isImageWanted: true,
        generation: 1,
        ...facts,
      }
      return pacedOsd({ ...osd, isPodReady, pace: own }, { pace: state, noteMs: undefined, nowMs })
    }),
  }
}
