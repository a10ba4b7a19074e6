import type { CephTrouble } from '../stage/ceph-hazards.ts'
import { between, oneOf } from '../story.ts'
import { type DeedPorts, type FaultKind, withCeph } from './deed-kind.ts'

function trouble(kind: CephTrouble): (ports: DeedPorts) => void {
  return ({ stage, random, tell, excuses }) => {
    const forMs = between(random, 10, 150) * 1_000
    tell(`Ceph ${kind} for ${forMs / 1_000} s`)
    excuses.hindered(forMs + 30_000)
    stage.cephHazards.trouble = { kind, untilMs: stage.clock.now() + forMs, rate: oneOf(random, [0.3, 1]) }
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
    apply({ stage, random, tell, excuses }) {
      const ms = between(random, 10, 120) * 1_000
      tell(`Ceph is silent for ${ms / 1_000} s`)
      excuses.hindered(ms + 30_000)
      stage.ceph?.controls.silence(true)
      stage.clock.after(ms, () => stage.ceph?.controls.silence(false))
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
}
