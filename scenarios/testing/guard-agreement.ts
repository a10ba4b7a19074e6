import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { disruptionLedgers } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { type AskPorts, askExplain } from './ask-commands.ts'
import { atOneMoment } from './at-one-moment.ts'
import { dryRunEviction } from './longhorn-agreement.ts'

export interface EvictionAgreement {
  /** Where `explain pod` and what becomes of an eviction differ: none is right. */
  readonly disagreements: readonly string[]
  /** Reasons for which evictions were refused: a comparison in which all are free shows little. */
  readonly refusals: readonly string[]
  readonly granted: number
}

/** What `explain` says of these pods, beside what guard and budget together answer to an eviction of each. */
export function compareEvictions(ports: AskPorts, choose: (all: readonly Pod[]) => readonly Pod[]) {
  const kinds = [pods, podDisruptionBudgets, disruptionLedgers]
  return atOneMoment(ports.api, kinds, async (): Promise<EvictionAgreement> => {
    const { items } = await ports.api.list(pods)
    const disagreements: string[] = []
    const refusals: string[] = []
    let granted = 0
    for (const pod of choose(items)) {
      const name = `${pod.metadata.namespace}/${pod.metadata.name}`
      const code = await dryRunEviction(ports.api, pod)
      if (code === 404) continue
      const { answer } = await askExplain(ports, `pod/${name}`)
      if (answer.kind !== 'pod') throw new Error(`pod/${name} is a ${answer.kind}`)
      const { verdict, reason } = answer.pod
      // What a drain leaves where it is, explain calls neither free nor blocked.
      if (verdict === 'stays') continue
      if (answer.mayGo !== (code === 201))
        disagreements.push(`pod/${name}: explain says ${verdict} (${reason}), its eviction is answered with ${code}`)
      if (code === 201) granted += 1
      else refusals.push(reason)
    }
    return { disagreements, refusals, granted }
  })
}
