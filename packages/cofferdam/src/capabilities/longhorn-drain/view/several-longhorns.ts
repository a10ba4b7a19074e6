import { unknown } from '../../../shared/observed.ts'
import { decideLonghornDrain } from '../domain/decide.ts'
import { noLonghornObjects, parseLonghorn } from '../domain/parse-longhorn.ts'
import type { LonghornView } from './longhorn-view.ts'

/** Of Longhorn in several namespaces: nothing but the problem, and that nothing is known. */
export function viewSeveralLonghorns(why: string, nowMs: number): LonghornView {
  const { settings, ...empty } = parseLonghorn({ ...noLonghornObjects, namespace: '', nowMs })
  const snapshot = { ...empty, settings: { ...settings, policy: unknown(why), inForce: unknown(why), problems: [] } }
  const decision = { ...decideLonghornDrain(snapshot), problems: [{ object: 'longhorn', problem: why }] }
  return { snapshot, decision, decide: () => decision, unknownWhy: why }
}
