import type { CephTrouble } from '../stage/ceph-hazards.ts'
import { between, oneOf } from '../story.ts'
import { mendLater, pooled } from './crush-faults.ts'
import { type DeedPorts, type FaultKind, withCeph } from './deed-kind.ts'

function trouble(kind: CephTrouble): (ports: DeedPorts) => void {
  return ({ stage, random, tell, excuses, atHome }) => {
    const forMs = between(random, 10, 150) * 1_000
    tell(`Ceph ${kind} for ${forMs / 1_000} s`)
    excuses.hindered(forMs + 30_000)
    stage.cephHazards.trouble = { kind, untilMs: stage.clock.now() + forMs, rate: oneOf(random, [0.3, 1]) }
    atHome(() => {
      stage.cephHazards.trouble = undefined
    })
  }
}

function lie(answer: 'yes' | 'no'): (ports: DeedPorts) => void {
  return ({ stage, random, tell, atHome }) => {
    tell(`ok-to-stop says ${answer} to everything`)
    const mend = () => stage.ceph?.controls.lieOkToStop(undefined)
    stage.ceph?.controls.lieOkToStop(answer)
    atHome(mend)
    stage.clock.after(between(random, 60, 300) * 1_000, mend)
  }
}

/** Until the operator has read another floor, and what was let go before is back. */
const knownMs = 150_000

/** What Ceph says, or does not. */
export const cephFaults: Readonly<Record<string, FaultKind>> = {
  'Ceph does not answer in time': { row: 'F17', fits: withCeph, apply: trouble('hangs') },
  'answers of Ceph are cut short': { row: 'F17', fits: withCeph, apply: trouble('truncates') },
  'answers of Ceph are garbage': { row: 'F17', fits: withCeph, apply: trouble('garbles') },
  'commands of Ceph fail': { row: 'F17', fits: withCeph, apply: trouble('fails') },
  'the mgr fails over': {
    row: 'F17',
    fits: withCeph,
    apply({ stage, random, tell, excuses }) {
      const ms = between(random, 5, 60) * 1_000
      tell(`no mgr for ${ms / 1_000} s`)
      excuses.hindered(ms + 30_000)
      stage.ceph?.controls.killMgr(ms)
    },
  },
  'Ceph does not answer at all': {
    row: 'F17',
    fits: withCeph,
    apply({ stage, random, tell, excuses, atHome }) {
      const ms = between(random, 10, 120) * 1_000
      tell(`Ceph is silent for ${ms / 1_000} s`)
      excuses.hindered(ms + 30_000)
      stage.ceph?.controls.silence(true)
      const mend = () => stage.ceph?.controls.silence(false)
      stage.clock.after(ms, mend)
      atHome(mend)
    },
  },
  'ok-to-stop says yes to everything': { row: 'F18', fits: withCeph, apply: lie('yes') },
  'ok-to-stop says no to everything': { row: 'F18', fits: withCeph, apply: lie('no') },
  'ok-to-stop counts only last members': {
    row: 'F18',
    fits: withCeph,
    apply({ stage, tell }) {
      tell('ok-to-stop counts a placement group only if its last member is to stop')
      stage.ceph?.controls.tentacleOkToStop(true)
    },
  },
  'recovery stands still': {
    row: 'F20',
    fits: withCeph,
    apply({ stage, random, tell, atHome }) {
      tell('recovery stands still')
      const mend = () => stage.ceph?.controls.setRecoveryRate(5)
      stage.ceph?.controls.setRecoveryRate(0)
      atHome(mend)
      stage.clock.after(between(random, 30, 200) * 1_000, mend)
    },
  },
  'a pool is created': {
    row: 'F19',
    fits: withCeph,
    async apply({ stage, random, tell, number }) {
      const pool = `pool-${number}`
      tell(`somebody creates ${pool}`)
      await stage.ceph?.commands.run({ prefix: 'osd pool create', pool, pg_num: between(random, 1, 17) })
    },
  },
  'a pool wants all its copies to serve': {
    row: 'F19',
    fits: withCeph,
    async apply(ports) {
      const { stage, tell, excuses } = ports
      const { groups, serving } = stage.ceph?.controls.truth() ?? { groups: [], serving: new Set() }
      const most = Math.max(0, ...groups.filter(({ pool }) => pool === pooled).map(({ acting }) => acting.length))
      // What is away already would stop the pool at once, by nobody's decision but this.
      if (serving.size < stage.shape.osds.length || most < 3) return
      const floor = (val: number) =>
        stage.ceph?.commands.run({ prefix: 'osd pool set', pool: pooled, var: 'min_size', val: String(val) })
      tell(`${pooled} gets the floor ${most}`)
      excuses.meddled('storage', knownMs)
      await floor(most)
      mendLater(ports, () => floor(2))
    },
  },
}
